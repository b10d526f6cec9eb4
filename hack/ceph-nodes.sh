#!/usr/bin/env bash
# Disks and faults for the nodes of a kind cluster on which Rook runs Ceph. Each node has
# one loop device of the host, as a static PersistentVolume of the StorageClass
# loop-block. Needs root. Usage:
#   hack/ceph-nodes.sh up CLUSTER            makes disks and volumes
#   hack/ceph-nodes.sh device CLUSTER NODE   prints the path of a node's disk
#   hack/ceph-nodes.sh stop CLUSTER NODE     ends a node at once, as a power cut
#   hack/ceph-nodes.sh start CLUSTER NODE    starts it again
#   hack/ceph-nodes.sh down CLUSTER          removes the disks, after the cluster
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

CLUSTER=${2:?usage: hack/ceph-nodes.sh up|device|stop|start|down CLUSTER}
NODE=${3:-}
DIR=$CACHE/ceph-nodes/$CLUSTER
# Ceph's labels are at several offsets of a device, so each run has new files.
DISK_SIZE=6G
VOLUME_SIZE=5Gi

reach() { eval "$("$REPO/hack/cluster.sh" env "$CLUSTER")"; }

nodes() { kubectl get nodes -o name | sed 's#^node/##' | sort; }

# prepare_node gives a node what a machine with udev has: device nodes for loop devices,
# of which kubelet puts one over each block volume of a pod, and udev's records, without
# which ceph-volume takes no device.
prepare_node() {
	# shellcheck disable=SC2016 # the node's own variables
	docker exec "$1" sh -ec '
		for i in $(seq 0 63); do [ -b "/dev/loop$i" ] || mknod -m 660 "/dev/loop$i" b 7 "$i"; done
		mkdir -p /run/udev/data
		for device in 253:0 254:0 $(seq -f 7:%.0f 0 63); do
			printf "I:1\nG:systemd\nQ:systemd\nV:1\n" >"/run/udev/data/b$device"
		done' </dev/null
}

volume() {
	cat <<-VOLUME
		apiVersion: v1
		kind: PersistentVolume
		metadata: {name: disk-$1}
		spec:
		  storageClassName: loop-block
		  capacity: {storage: $VOLUME_SIZE}
		  accessModes: [ReadWriteOnce]
		  persistentVolumeReclaimPolicy: Retain
		  volumeMode: Block
		  local: {path: $2}
		  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [$1]}]}]}}
	VOLUME
}

class() {
	cat <<-CLASS
		apiVersion: storage.k8s.io/v1
		kind: StorageClass
		metadata: {name: loop-block}
		provisioner: kubernetes.io/no-provisioner
		volumeBindingMode: WaitForFirstConsumer
	CLASS
}

up() {
	[ "$(id -u)" = 0 ] || die "needed: root, for loop devices"
	local node
	reach
	mkdir -p "$DIR"
	class | kubectl apply -f - >/dev/null
	for node in $(nodes); do
		truncate -s "$DISK_SIZE" "$DIR/$node.img"
		losetup -f --show "$DIR/$node.img" >"$DIR/$node.device"
		prepare_node "$node"
		volume "$node" "$(cat "$DIR/$node.device")" | kubectl apply -f - >/dev/null
	done
}

# loops_over TEXT prints the loop devices whose backing file has this text in its name.
loops_over() {
	local file
	for file in /sys/block/loop*/loop/backing_file; do
		[ -e "$file" ] || continue
		if grep -qF -- "$1" "$file"; then echo "/dev/$(cut -d/ -f4 <<<"$file")"; fi
	done
}

release() {
	local device
	for device in $(loops_over "$1"); do losetup -d "$device" || true; done
}

device() { cat "$DIR/$NODE.device"; }

stop() {
	reach
	timeout 60 docker kill "$NODE" >/dev/null
}

ready() { kubectl get node "$NODE" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' | grep -qx True; }

start() {
	reach
	timeout 60 docker start "$NODE" >/dev/null
	prepare_node "$NODE"
	"$REPO/hack/cluster.sh" network "$CLUSTER"
	until_ok 180 "node $NODE to be Ready" ready
}

# down ends what kubelet and the stand-in for images have left over the disks, too.
down() {
	local file
	for file in "$DIR"/*.device; do
		[ -e "$file" ] || continue
		release "/disk-$(basename "$file" .device)/"
	done
	release /fuse/pgdata
	release "$DIR/"
	rm -rf "$DIR"
}

needs_node() { [ -s "$DIR/$NODE.device" ] || die "$CLUSTER has no node \"$NODE\" with a disk of this script"; }

case $1 in
up) up ;;
device | stop | start)
	needs_node
	"$1"
	;;
down) down ;;
*) die "usage: hack/ceph-nodes.sh up|device|stop|start|down CLUSTER [NODE]" ;;
esac
