#!/usr/bin/env bash
# A Docker to run kind on: the one that answers, else one of our own, unpacked
# beside the system from Debian's packages. Usage:
#   hack/docker.sh start   starts it where needed
#   hack/docker.sh env     prints the variables to reach it (for eval)
#   hack/docker.sh stop    ends ours, and what it left on the network
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

# The last number changes with what is unpacked.
DOCKER=$CACHE/docker/$DOCKER_DEBIAN-1
DATA=$CACHE/docker/data
SOCKET=$RUN/docker.sock
PIDFILE=$RUN/docker.pid
BRIDGE=pgst0
BRIDGE_NET=172.29.1
KIND_POOL=172.31.0.0/16

ours() { [ -S "$SOCKET" ] && DOCKER_HOST=unix://$SOCKET timeout 10 "$DOCKER/usr/bin/docker" info >/dev/null 2>&1; }
theirs() { command -v docker >/dev/null && timeout 10 docker info >/dev/null 2>&1; }

environment() {
	if ours; then
		echo "export DOCKER_HOST=unix://$SOCKET"
		echo "export PATH=$DOCKER/usr/sbin:$DOCKER/usr/bin:\$PATH"
	fi
}

# unpack takes Docker of a newer Debian: it needs nothing newer of the system.
unpack() {
	local state=$1.apt d options
	rm -rf "$state"
	mkdir -p "$1" "$state/lists/partial" "$state/cache/archives/partial" "$state/debs"
	: >"$state/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) $DOCKER_DEBIAN main" >"$state/sources"
	options=(-q -o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache"
		-o "Dir::Etc::sourcelist=$state/sources" -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root)
	timeout 300 apt-get "${options[@]}" update
	(cd "$state/debs" && timeout 300 apt-get "${options[@]}" download docker.io docker-cli containerd tini)
	for d in "$state"/debs/*.deb; do dpkg -x "$d" "$1"; done
	rm -rf "$state"
}

start() {
	if theirs || ours; then return 0; fi
	[ "$(id -u)" = 0 ] || die "no Docker answers; start one, or run this as root to have one built"
	packages iptables iproute2 ca-certificates procps
	cached unpack-docker "$DOCKER" unpack
	forget_dead
	daemon
}

# forget_dead removes what a daemon that did not end well left behind.
forget_dead() {
	local pid
	pid=$(cat "$PIDFILE" 2>/dev/null || true)
	if [ -n "$pid" ] && grep -qs dockerd "/proc/$pid/comm"; then
		kill "$pid" || true
		until_ok 30 "the old dockerd to end" test ! -d "/proc/$pid"
	fi
	rm -rf "$PIDFILE" "$SOCKET" "$RUN/exec"
	pid=$(pgrep -f "containerd --config $RUN/exec" || true)
	[ -z "$pid" ] || kill $pid || true
}

daemon() {
	# That Debian's runc wants a newer C library, so it is the one we build.
	PATH=$("$REPO/hack/kubernetes.sh" node):$DOCKER/usr/sbin:$DOCKER/usr/bin:$PATH
	export PATH
	# A bridge of our own: without one dockerd would take docker0 for its own.
	ip link show "$BRIDGE" >/dev/null 2>&1 || ip link add "$BRIDGE" type bridge
	ip addr replace "$BRIDGE_NET.1/24" dev "$BRIDGE"
	ip link set "$BRIDGE" up
	say "==> dockerd"
	setsid nohup dockerd --data-root "$DATA" --exec-root "$RUN/exec" --pidfile "$PIDFILE" -H "unix://$SOCKET" \
		--bridge="$BRIDGE" --default-address-pool "base=$KIND_POOL,size=24" \
		--userland-proxy-path "$DOCKER/usr/sbin/docker-proxy" >"$LOGS/dockerd.log" 2>&1 </dev/null 9>&- &
	until_ok 60 "dockerd (see $LOGS/dockerd.log)" ours
	say "ok  dockerd"
}

stop() {
	[ -e "$PIDFILE" ] || return 0
	local pid
	pid=$(cat "$PIDFILE")
	if ours; then
		eval "$(environment)"
		docker ps -q | xargs -r docker rm -f >/dev/null
		docker network rm kind >/dev/null 2>&1 || true
	fi
	if grep -qs dockerd "/proc/$pid/comm"; then
		kill "$pid"
		until_ok 60 "dockerd to end" test ! -d "/proc/$pid"
	fi
	rm -rf "$PIDFILE" "$SOCKET" "$RUN/exec"
	clear_network
	say "ok  stopped our Docker"
}

# clear_network removes our bridges and the rules that name them or their nets.
clear_network() {
	local table rule link
	for link in $(ip -o link show type bridge 2>/dev/null | sed -nE 's/^[0-9]+: (br-[0-9a-f]{12}|pgst0):.*/\1/p'); do
		if [ "$link" = "$BRIDGE" ] || ip -4 addr show "$link" | grep -q 'inet 172\.31\.'; then
			ip link del "$link" || true
		fi
	done
	for table in filter nat; do
		iptables-save -t "$table" 2>/dev/null | grep -E "^-A .*($BRIDGE|$BRIDGE_NET\.|172\.31\.)" | sed 's/^-A/-D/' |
			while read -r rule; do
				# shellcheck disable=SC2086
				iptables -t "$table" $rule 2>/dev/null || true
			done || true
	done
}

case ${1:-} in
start) start ;;
env) environment ;;
stop) stop ;;
*) die "usage: hack/docker.sh start|env|stop" ;;
esac
