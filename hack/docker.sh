#!/usr/bin/env bash
# A Docker to run kind on: the one that answers, else one of our own, unpacked
# beside the system from Debian's packages. Usage:
#   hack/docker.sh start   starts it where needed
#   hack/docker.sh env     prints the variables to reach it (for eval)
#   hack/docker.sh stop    ends ours, and what it left on the network
#   hack/docker.sh unpack  only brings the programs, where they will be needed
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

# The last number changes with what is unpacked.
DOCKER=$CACHE/docker/$DOCKER_DEBIAN-1
DATA=$CACHE/docker/data
SOCKET=$RUN/docker.sock
PIDFILE=$RUN/docker.pid
BRIDGE=pgst0
BRIDGE_NET=172.29.1
KIND_POOL=172.31.0.0/16
POLICY=$RUN/forward-policy

ours() { [ -S "$SOCKET" ] && DOCKER_HOST=unix://$SOCKET timeout 10 "$DOCKER/usr/bin/docker" info >/dev/null 2>&1; }
theirs() { command -v docker >/dev/null && timeout 10 docker info >/dev/null 2>&1; }

environment() {
	if [ -S "$SOCKET" ] && [ -n "$(our_daemon)" ]; then
		echo "export DOCKER_HOST=unix://$SOCKET"
		echo "export PATH=$DOCKER/usr/sbin:$DOCKER/usr/bin:\$PATH"
	fi
}

# unpack takes Docker of a newer Debian: it needs nothing newer of the system.
unpack() { unpack_debian "$1" "$DOCKER_DEBIAN" download docker.io docker-cli containerd tini; }

# our_daemon prints the process of our dockerd, whether it answers or not.
our_daemon() { pgrep -f "^dockerd .*--pidfile $PIDFILE " || true; }

prepare() {
	if theirs || ours; then return 0; fi
	packages iptables iproute2 ca-certificates procps util-linux
	cached unpack-docker "$DOCKER" unpack
}

start() {
	if theirs || ours; then return 0; fi
	[ "$(id -u)" = 0 ] || die "no Docker answers; start one, or run this as root to have one built"
	prepare
	alone docker
	ours && return 0
	forget_dead
	daemon
}

# forget_dead removes what a daemon that did not end well left behind. While its
# containerd or a container lives, a new daemon needs that folder to end them.
forget_dead() {
	end_daemon
	rm -f "$PIDFILE" "$SOCKET"
	pgrep -f "$RUN/exec/containerd" >/dev/null || remove_exec
}

remove_exec() {
	local mount
	while read -r mount; do umount -l "$mount" || true; done < <(awk -v d="$RUN/exec/" 'index($2, d) == 1 {print $2}' /proc/mounts)
	rm -rf "$RUN/exec"
}

end_daemon() {
	local pid
	pid=$(our_daemon)
	[ -n "$pid" ] || return 0
	kill "$pid" || true
	until_ok 60 "dockerd, process $pid, to end" test ! -d "/proc/$pid"
}

daemon() {
	# That Debian's runc wants a newer C library, so it is the one we build.
	PATH=$("$REPO/hack/kubernetes.sh" runc):$DOCKER/usr/sbin:$DOCKER/usr/bin:$PATH
	export PATH
	# Docker drops what it does not forward; without it that must not stay.
	[ -e "$POLICY" ] || iptables -S FORWARD | awk '$1 == "-P" {print $3}' >"$POLICY"
	# A bridge of our own: without one dockerd would take docker0 for its own.
	ip link show "$BRIDGE" >/dev/null 2>&1 || ip link add "$BRIDGE" type bridge
	ip addr replace "$BRIDGE_NET.1/24" dev "$BRIDGE"
	ip link set "$BRIDGE" up
	say "==> dockerd"
	setsid nohup dockerd --data-root "$DATA" --exec-root "$RUN/exec" --pidfile "$PIDFILE" -H "unix://$SOCKET" \
		--bridge="$BRIDGE" --default-address-pool "base=$KIND_POOL,size=24" \
		--userland-proxy-path "$DOCKER/usr/sbin/docker-proxy" >"$LOGS/dockerd.log" 2>&1 </dev/null 8>&- 9>&- &
	until_ok 60 "dockerd (see $LOGS/dockerd.log)" ours
	say "ok  dockerd"
}

stop() {
	alone docker
	ip link show "$BRIDGE" >/dev/null 2>&1 || [ -n "$(our_daemon)" ] || return 0
	if ours; then
		eval "$(environment)"
		docker ps -aq | timeout 120 xargs -r docker rm -f -v >/dev/null
		docker network rm kind >/dev/null 2>&1 || true
	fi
	end_daemon
	pkill -f "^containerd --config $RUN/exec/" || true
	until_ok 30 "containerd to end" bash -c "! pgrep -f '^containerd --config $RUN/exec/'"
	rm -f "$PIDFILE" "$SOCKET"
	remove_exec
	! mountpoint -q "$DATA" || umount "$DATA"
	clear_network
	say "ok  stopped our Docker"
}

# clear_network removes our bridges and the rules that dockerd made.
clear_network() {
	local link
	for link in $(ip -o link show type bridge 2>/dev/null | sed -nE "s/^[0-9]+: (br-[0-9a-f]{12}|$BRIDGE):.*/\\1/p"); do
		if [ "$link" = "$BRIDGE" ] || ip -4 addr show "$link" | grep -q 'inet 172\.31\.'; then
			ip link del "$link" || true
		fi
	done
	clear_rules
	other_docker || clear_chains
}

# clear_rules deletes the rules that name our bridges or their networks.
clear_rules() { delete_rules "^-A .*($BRIDGE|$BRIDGE_NET\.|172\.31\.)"; }

# delete_rules PATTERN: of the tables that Docker writes to.
delete_rules() {
	local table rule
	for table in filter nat; do
		iptables-save -t "$table" 2>/dev/null | { grep -E -- "$1" || true; } |
			while read -r rule; do
				# shellcheck disable=SC2086 # a rule is many words
				iptables -t "$table" -D ${rule#-A } 2>/dev/null || true
			done
	done
}

# other_docker: does another dockerd use this network's tables?
other_docker() {
	local pid
	for pid in $(pgrep -x dockerd); do
		[ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ] || return 0
	done
	return 1
}

# clear_chains removes Docker's own chains and gives forwarding its policy back.
clear_chains() {
	local table chain
	delete_rules '^-A .* -j DOCKER'
	for table in filter nat; do
		for chain in $(iptables-save -t "$table" 2>/dev/null | sed -nE 's/^:(DOCKER[^ ]*) .*/\1/p'); do
			iptables -t "$table" -F "$chain" 2>/dev/null || true
			iptables -t "$table" -X "$chain" 2>/dev/null || true
		done
	done
	if [ -s "$POLICY" ]; then
		iptables -P FORWARD "$(cat "$POLICY")"
		rm -f "$POLICY"
	fi
}

case ${1:-} in
start) start ;;
env) environment ;;
stop) stop ;;
unpack) prepare ;;
*) die "usage: hack/docker.sh start|env|stop|unpack" ;;
esac
