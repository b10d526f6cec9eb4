#!/usr/bin/env bash
# Nodes with real ZFS for a kind cluster of hack/cluster.sh: virtual machines of
# hack/vm.sh on kind's bridge, each with containerd, kubelet and a blank disk for a
# pool. NODE is zfs1 or zfs2. Needs root. Usage:
#   hack/zfs-node.sh up CLUSTER NODE IMAGE...  makes one with these images, until Ready
#   hack/zfs-node.sh cut CLUSTER NODE      cuts its power: what no disk has flushed is lost
#   hack/zfs-node.sh boot CLUSTER NODE     starts it again with its disks
#   hack/zfs-node.sh replace CLUSTER NODE  puts a new machine with blank disks in its place
#   hack/zfs-node.sh status CLUSTER NODE   is it running, and what did it say last?
#   hack/zfs-node.sh down CLUSTER [NODE]   removes it, or all, with their disks
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

USAGE="usage: hack/zfs-node.sh up|cut|boot|replace|status|down CLUSTER NODE"
CLUSTER=${2:?$USAGE}
NODE=${3:-}
IMAGES=("${@:4}")
CONTROL=$CLUSTER-control-plane
MACHINES=$CACHE/zfs-node/$CLUSTER
DIR=$MACHINES/$NODE
NUMBER=${NODE#zfs}
TAP=pgstzfs$NUMBER
SOCKET=$RUN/$CLUSTER.$NODE
MEMORY=${PGSTORAGE_ZFS_NODE_MEMORY:-4096}
PROCESSORS=${PGSTORAGE_ZFS_NODE_PROCESSORS:-2}
# A processor that QEMU emulates, where its default lacks instructions.
CPU=${PGSTORAGE_ZFS_NODE_CPU:-}
POOL_SIZE=16G
# Serials of disks of NVMe, with one letter each: A is blank, and X has a file system.
NVME=${PGSTORAGE_ZFS_NODE_NVME:-}
PAUSE_IMAGE=registry.k8s.io/pause:$PAUSE_VERSION
PROXY_IMAGE=registry.k8s.io/kube-proxy:$KUBERNETES_VERSION

reach() { eval "$("$REPO/hack/cluster.sh" env "$CLUSTER")"; }

# store FOLDER: a containerd content store with the images, unpacked, so that the
# machine need not do it under emulation.
store() {
	local programs run=$RUN/zfs-node-store pid status=0
	programs=$("$REPO/hack/kubernetes.sh" node)
	rm -rf "$run"
	mkdir -p "$run" "$1"
	cat >"$run/config.toml" <<-CONFIG
		version = 3
		root = "$1"
		state = "$run/state"
		disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.nri.v1.nri"]
		[grpc]
		address = "$run/c.sock"
	CONFIG
	docker save -o "$run/images.tar" "$PAUSE_IMAGE" "$PROXY_IMAGE" "${IMAGES[@]}"
	"$programs/containerd" --config "$run/config.toml" 8>&- 9>&- &
	pid=$!
	until_ok 30 "containerd for the node's images" "$programs/ctr" -a "$run/c.sock" version
	timeout 300 "$programs/ctr" -a "$run/c.sock" -n k8s.io images import --all-platforms --digests "$run/images.tar" || status=$?
	kill "$pid"
	wait "$pid" || true
	rm -rf "$run"
	return "$status"
}

# node_disk FILE: programs and images on a file system.
node_disk() {
	local tree=$1.tree programs
	programs=$("$REPO/hack/kubernetes.sh" node)
	rm -rf "$tree"
	mkdir -p "$tree"/{bin,cni,kubelet,containerd,pods}
	install -m755 -t "$tree/bin" "$programs"/{containerd,containerd-shim-runc-v2,ctr,kubelet} "$("$REPO/hack/kubernetes.sh" runc)/runc"
	install -m755 -t "$tree/cni" "$programs"/{host-local,loopback,ptp,portmap}
	store "$tree/containerd"
	truncate -s 12G "$1"
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 -d "$tree" "$1"
	rm -rf "$tree"
}

# image_disk prints the disk for these images, made where there is none.
image_disk() {
	local key disk
	key=$( { docker image inspect -f '{{.Id}}' "$PAUSE_IMAGE" "$PROXY_IMAGE" "${IMAGES[@]}"; printf '%s\n' "${IMAGES[@]}"; declare -f store node_disk; } | sha256sum | cut -c1-12)
	disk=$CACHE/zfs-node/disk-$key.img
	# The operator's image is another one after each change: one disk is kept.
	find "$CACHE/zfs-node" -maxdepth 1 -name 'disk-*' ! -name "disk-$key.img*" -exec rm -rf {} +
	cached zfs-node-disk "$disk" node_disk
	echo "$disk"
}

control() { docker exec -i "$CONTROL" "$@" </dev/null; }

# addresses of kind's network: the nodes are at the end of the control plane's /24.
addresses() {
	local subnet
	subnet=$(docker network inspect kind -f '{{range .IPAM.Config}}{{println .Subnet}}{{end}}' | grep -m1 -F .)
	PREFIX=${subnet#*/}
	GATEWAY=$(docker network inspect kind -f '{{range .IPAM.Config}}{{println .Gateway}}{{end}}' | grep -m1 -F . || true)
	CONTROL_IP=$(docker inspect "$CONTROL" -f '{{.NetworkSettings.Networks.kind.IPAddress}}')
	[ -n "$GATEWAY" ] || GATEWAY=${CONTROL_IP%.*}.1
	NODE_IP=${CONTROL_IP%.*}.$((249 + NUMBER))
	BRIDGE=br-$(docker network inspect kind -f '{{.Id}}' | cut -c1-12)
	# Straight to the pods of each node: connection tracking drops what only passes one way.
	ROUTES=$(kubectl get nodes -o json | jq -r --arg me "$NODE" '.items[] | select(.metadata.name != $me and .spec.podCIDR) |
		"\(.spec.podCIDR)=\(.status.addresses[] | select(.type == "InternalIP") | .address)"' | tr '\n' ' ')
	PODS=$(kubectl -n kube-system get configmap kubeadm-config -o jsonpath='{.data.ClusterConfiguration}' | sed -n 's/^ *podSubnet: *//p')
}

# credentials of a kubelet, as kubeadm gives them.
credentials() {
	control kubeadm kubeconfig user --org system:nodes --client-name "system:node:$NODE" 2>/dev/null |
		sed -E "s#server: .*#server: https://$CONTROL_IP:6443#" >"$1/kubelet.conf"
	control cat /etc/kubernetes/pki/ca.crt >"$1/ca.crt"
	grep -q client-key-data "$1/kubelet.conf"
}

# payload is what hack/vm/init unpacks and runs.
payload() {
	local work=$DIR/payload
	rm -rf "$work"
	mkdir -p "$work"
	cp "$REPO/hack/zfs-node/run" "$work/run"
	chmod 755 "$work/run"
	credentials "$work"
	: >"$work/args"
	printf '%s\0' "NODE_NAME=$NODE" "NODE_IP=$NODE_IP" "PREFIX=$PREFIX" "GATEWAY=$GATEWAY" "CONTROL_NAME=$CONTROL" \
		"CONTROL_IP=$CONTROL_IP" "PODS=$PODS" "ROUTES=$ROUTES" "PAUSE_IMAGE=$PAUSE_IMAGE" \
		"CLUSTER_DNS=$(kubectl -n kube-system get service kube-dns -o jsonpath='{.spec.clusterIP}')" \
		"NODE_LABELS=pgstorage.dev/pool=tank" "HOST_ID=$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')" >"$work/env"
	tar -C "$work" -cf "$DIR/payload.img" .
	truncate -s %512 "$DIR/payload.img"
}

interface() {
	ip link show "$TAP" >/dev/null 2>&1 || ip tuntap add dev "$TAP" mode tap
	ip link set "$TAP" master "$BRIDGE"
	ip link set "$TAP" up
}

# alive: by its arguments, because the number may be another process's by now.
alive() { [ -s "$1" ] && grep -qaF "$DIR/" "/proc/$(cat "$1")/cmdline" 2>/dev/null; }

drive() { printf -- '-drive if=none,id=%s,%s -device virtio-blk-pci,drive=%s,serial=%s,werror=report,rerror=report ' "$1" "$2" "$1" "$1"; }

# nvme prints the disks of NVMe. Nothing cuts their power.
nvme() {
	local serial
	for serial in $NVME; do
		printf -- '-drive if=none,id=nvme%s,format=raw,cache=unsafe,discard=unmap,file=%s -device nvme,drive=nvme%s,serial=%s ' "$serial" "$DIR/nvme-$serial.img" "$serial" "$serial"
	done
}

# nvme_disks makes them anew, all sparse.
nvme_disks() {
	local serial
	rm -f "$DIR"/nvme-*.img
	for serial in $NVME; do
		truncate -s 100G "$DIR/nvme-$serial.img"
		[ "$serial" != X ] || mkfs.ext4 -q -E lazy_itable_init=1,lazy_journal_init=1,nodiscard "$DIR/nvme-$serial.img"
	done
}

# power starts the pool's disk, whose unflushed writes live in nbdkit alone, and
# the machine. Both outlive this script. The machine computes its checksums (csum=off): another one
# dropped packets whose checksum a network card was to complete.
power() {
	local image acceleration=(-accel "tcg,thread=multi")
	alive "$DIR/qemu.pid" && return 0
	image=$("$REPO/hack/vm.sh" image)
	[ -z "$CPU" ] || acceleration+=(-cpu "$CPU")
	[ "$("$REPO/hack/vm.sh" probe)" != kvm ] || acceleration=(-accel kvm -cpu host)
	rm -f "$SOCKET" "$DIR/nbdkit.pid"
	# In the foreground it would end with this script.
	TMPDIR=$DIR nbdkit --pidfile "$DIR/nbdkit.pid" -U "$SOCKET" --filter=cache file "$DIR/tank.img" cache=writeback cache-min-block-size=4K </dev/null 8>&- 9>&-
	until_ok 20 "nbdkit" test -s "$DIR/nbdkit.pid"
	# shellcheck disable=SC2046 # drive and nvme print words
	TMPDIR=$DIR setsid nohup nice -n 5 qemu-system-x86_64 "${acceleration[@]}" -smp "$PROCESSORS" -m "$MEMORY" \
		-nodefaults -no-user-config -display none -serial "file:$DIR/console.log" -no-reboot \
		-kernel "$image/vmlinuz" -initrd "$image/initrd.gz" \
		-append "console=ttyS0 panic=-1 quiet loglevel=3 mitigations=off norandmaps no_timer_check net.ifnames=0" \
		-netdev "tap,id=net,ifname=$TAP,script=no,downscript=no" -device virtio-net-pci,netdev=net,csum=off,romfile=,mac=52:54:00:70:67:0"$NUMBER" \
		-device virtio-rng-pci \
		$(drive root "format=raw,snapshot=on,cache=unsafe,file=$image/root.img") \
		$(drive payload "format=raw,readonly=on,cache=unsafe,file=$DIR/payload.img") \
		$(drive node "format=raw,cache=unsafe,discard=unmap,file=$DIR/node.img") \
		$(drive tank "driver=nbd,server.type=unix,server.path=$SOCKET,discard=unmap,cache=writeback") $(nvme) \
		>"$DIR/qemu.log" 2>&1 </dev/null 8>&- 9>&- &
	echo $! >"$DIR/qemu.pid"
}

kill_now() {
	local file
	for file in "$DIR/nbdkit.pid" "$DIR/qemu.pid"; do
		if alive "$file"; then
			kill -9 "$(cat "$file")" || true
			until_ok 20 "process $(cat "$file") to end" bash -c "! kill -0 $(cat "$file")"
		fi
		rm -f "$file"
	done
}

# cut_power halts the machine first, so that it does not see its disk die.
cut_power() {
	alive "$DIR/qemu.pid" || die "the machine of $CLUSTER does not run"
	kill -STOP "$(cat "$DIR/qemu.pid")"
	kill_now
}

is_ready() { kubectl get node "$NODE" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null | grep -qx True; }

has_network() { [ -n "$(kubectl get node "$NODE" -o jsonpath='{.spec.podCIDR}' 2>/dev/null)" ]; }

# routes to the machine's pods, for the containers that are nodes. A machine that ran before this one
# sends to its pods by the control plane, and has the answers directly. Connection tracking there sees
# half of each connection, so kube-proxy would drop it as invalid.
routes() {
	local other cidr between=(FORWARD -s "$PODS" -d "$PODS" -j ACCEPT)
	control iptables -C "${between[@]}" 2>/dev/null || control iptables -I "${between[@]}"
	cidr=$(kubectl get node "$NODE" -o jsonpath='{.spec.podCIDR}')
	for other in $(kind get nodes --name "$CLUSTER" 2>/dev/null); do
		docker exec "$other" ip route replace "$cidr" via "$NODE_IP" </dev/null
	done
}

await() {
	until_ok 180 "node $NODE to register, see $DIR/console.log" has_network
	routes
	until_ok 180 "node $NODE to be Ready, see $DIR/console.log" is_ready
}

# anew starts a machine with blank disks, as a node that the cluster does not know yet.
anew() {
	kill_now
	addresses
	kubectl delete node "$NODE" --ignore-not-found >/dev/null
	cp --sparse=always "$(cat "$DIR/disk")" "$DIR/node.img"
	rm -f "$DIR/tank.img"
	truncate -s "$POOL_SIZE" "$DIR/tank.img"
	nvme_disks
	payload
	interface
	power
	logged "zfs-node-ready-$CLUSTER-$NODE" await
}

up() {
	[ "$(id -u)" = 0 ] || die "needed: root, for a network interface and disks"
	alone "zfs-node-$CLUSTER"
	packages iproute2 e2fsprogs jq
	reach
	mkdir -p "$DIR"
	image_disk >"$DIR/disk"
	anew
}

replace() {
	alone "zfs-node-$CLUSTER"
	reach
	anew
}

boot() {
	alone "zfs-node-$CLUSTER"
	reach
	addresses
	interface
	mv "$DIR/console.log" "$DIR/console.before.log"
	power
}

down() {
	alone "zfs-node-$CLUSTER"
	kill_now
	! ip link show "$TAP" >/dev/null 2>&1 || ip link del "$TAP"
	rm -rf "$DIR"
	rm -f "$SOCKET"
}

down_all() {
	local machine
	for machine in "$MACHINES"/zfs*/; do
		[ ! -d "$machine" ] || "$0" down "$CLUSTER" "$(basename "$machine")"
	done
}

status() {
	if alive "$DIR/qemu.pid"; then echo "running, process $(cat "$DIR/qemu.pid")"; else echo "not running"; fi
	tail -n 20 "$DIR/console.log" 2>/dev/null || true
}

[[ $NODE == zfs[12] || $1:$NODE == down: ]] || die "$USAGE"
case $1 in
up) up ;;
cut) cut_power ;;
boot) boot ;;
replace) replace ;;
status) status ;;
down) if [ -n "$NODE" ]; then down; else down_all; fi ;;
*) die "$USAGE" ;;
esac
