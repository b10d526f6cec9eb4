#!/usr/bin/env bash
# The real OpenEBS zfs-localpv, built from Go modules where its images cannot be
# pulled: the driver, kubernetes-csi's external-provisioner and external-snapshotter,
# and a registrar of ours (hack/zfs-node/registrar). Usage:
#   hack/zfs-localpv.sh image   makes the image that holds all of them, prints its name
#   hack/zfs-localpv.sh apply   installs CRDs, controllers and node plugin on the
#                               cluster that kubectl reaches; the image must be there
# ZFS_LOCALPV_SOURCE names a checkout of zfs-localpv 2.0.0 or newer, of which module proxies
# have none. Its driver and CRDs are used then, and its capacity is tracked.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

ZFS_LOCALPV_VERSION=v1.9.3
SOURCE=${ZFS_LOCALPV_SOURCE:-}
[ -z "$SOURCE" ] || ZFS_LOCALPV_VERSION=v2-$(find "$SOURCE"/{cmd,pkg,go.mod} -type f | sort | xargs cat | sha256sum | cut -c1-8)
PROVISIONER_VERSION=v5.3.0
# v8.7.0 uses the libraries of Kubernetes 1.37, newer than our cluster.
SNAPSHOTTER_VERSION=v8.6.0
SNAPSHOT_CLIENT=github.com/kubernetes-csi/external-snapshotter/client/v8
HERE=$REPO/hack/zfs-node
REGISTRAR_KEY=$(cat "$HERE"/registrar/* | sha256sum | cut -c1-8)
DRIVER=$CACHE/zfs-localpv/driver-$ZFS_LOCALPV_VERSION
PROVISIONER=$CACHE/zfs-localpv/provisioner-$PROVISIONER_VERSION
SNAPSHOTTER=$CACHE/zfs-localpv/snapshotter-$SNAPSHOTTER_VERSION
REGISTRAR=$CACHE/zfs-localpv/registrar-$REGISTRAR_KEY
IMAGE=pgstorage.local/zfs-localpv:$ZFS_LOCALPV_VERSION-$PROVISIONER_VERSION-$SNAPSHOTTER_VERSION-$REGISTRAR_KEY
export CGO_ENABLED=0

# source_of MODULE VERSION DIR: a copy that go build can be run in, with the
# module's own replace lines and sums.
source_of() {
	cp -r --no-preserve=mode "$(module_dir "$1" "$2")" "$3"
}

# zfs_localpv prints the folder of its source.
zfs_localpv() {
	if [ -n "$SOURCE" ]; then echo "$SOURCE"; else module_dir github.com/openebs/zfs-localpv "$ZFS_LOCALPV_VERSION"; fi
}

driver() {
	local work v=github.com/openebs/zfs-localpv/pkg/version
	work=$(mktemp -d)
	cp -r --no-preserve=mode "$(zfs_localpv)" "$work/source"
	mkdir -p "$1"
	# Without its version the driver answers "missing driver version".
	go build -C "$work/source" -mod=mod -buildvcs=false \
		-ldflags "-s -w -X $v.Version=${ZFS_LOCALPV_VERSION#v} -X $v.GitCommit=module" -o "$1/zfs-driver" ./cmd
	rm -rf "$work"
}

provisioner() {
	local work
	work=$(mktemp -d)
	source_of github.com/kubernetes-csi/external-provisioner/v5 "$PROVISIONER_VERSION" "$work/source"
	mkdir -p "$1"
	go build -C "$work/source" -mod=mod -buildvcs=false \
		-ldflags "-s -w -X main.version=$PROVISIONER_VERSION" -o "$1/csi-provisioner" ./cmd/csi-provisioner
	rm -rf "$work"
}

snapshotter() {
	local work
	work=$(mktemp -d)
	source_of github.com/kubernetes-csi/external-snapshotter/v8 "$SNAPSHOTTER_VERSION" "$work/source"
	# go.mod replaces the client by this folder, which the module zip lacks.
	source_of "$SNAPSHOT_CLIENT" "$SNAPSHOTTER_VERSION" "$work/source/client"
	mkdir -p "$1"
	go build -C "$work/source" -mod=mod -buildvcs=false \
		-ldflags "-s -w -X main.version=$SNAPSHOTTER_VERSION" -o "$1/" ./cmd/snapshot-controller ./cmd/csi-snapshotter
	rm -rf "$work"
}

registrar() {
	mkdir -p "$1"
	go build -C "$HERE/registrar" -buildvcs=false -ldflags "-s -w" -o "$1/registrar" .
}

# root of the image: the driver calls mount, umount and, by chroot, the host's zfs.
root() {
	local n
	mkdir -p "$1"/{bin,usr/local/bin,etc/ssl/certs,tmp,sbin,home/keys,var/lib/kubelet,plugin,host,dev,proc,sys}
	install -m755 /bin/busybox "$1/bin/busybox"
	for n in sh mount umount chroot cat ls rm mkdir; do ln -s busybox "$1/bin/$n"; done
	install -m755 -t "$1/usr/local/bin" "$DRIVER/zfs-driver" "$PROVISIONER/csi-provisioner" \
		"$SNAPSHOTTER/snapshot-controller" "$SNAPSHOTTER/csi-snapshotter" "$REGISTRAR/registrar"
	cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
}

make_image() {
	local work
	work=$(mktemp -d)
	root "$work"
	tar -C "$work" --owner=0 --group=0 -c . |
		docker import --change 'ENV PATH=/usr/local/bin:/sbin:/bin' --change 'ENTRYPOINT ["/usr/local/bin/zfs-driver"]' - "$IMAGE" >/dev/null
	rm -rf "$work"
}

image() {
	eval "$("$REPO/hack/docker.sh" env)"
	packages busybox-static ca-certificates
	cached build-zfs-localpv "$DRIVER" driver
	cached build-csi-provisioner "$PROVISIONER" provisioner
	cached build-csi-snapshotter "$SNAPSHOTTER" snapshotter
	cached build-registrar "$REGISTRAR" registrar
	docker image inspect "$IMAGE" >/dev/null 2>&1 || logged image-zfs-localpv make_image
	echo "$IMAGE"
}

manifest() {
	local capacity=()
	[ -z "$SOURCE" ] || capacity=(-e 's#storageCapacity: false#storageCapacity: true#' -e 's#^( *)- --feature-gates=Topology=true#&\n\1- --enable-capacity#')
	sed -E -e "s#ZFS_LOCALPV_IMAGE#$IMAGE#" "${capacity[@]}" "$HERE/driver.yaml"
}

apply() {
	local crd yamls snapshots
	yamls=$(zfs_localpv)/deploy/yamls
	for crd in zfsvolume zfssnapshot zfsbackup zfsrestore zfsnode; do
		kubectl apply --server-side --force-conflicts -f "$yamls/$crd-crd.yaml" >/dev/null
	done
	# internal/testing/apiserver installs these CRDs at the version in go.mod too.
	snapshots=$(module_dir "$SNAPSHOT_CLIENT" "$(cd "$REPO" && go list -m -f '{{.Version}}' "$SNAPSHOT_CLIENT")")/config/crd
	for crd in volumesnapshotclasses volumesnapshotcontents volumesnapshots; do
		kubectl apply --server-side --force-conflicts -f "$snapshots/snapshot.storage.k8s.io_$crd.yaml" >/dev/null
	done
	manifest | kubectl apply --server-side --force-conflicts -f - >/dev/null
}

case ${1:-} in
image) image ;;
apply) apply ;;
*) die "usage: hack/zfs-localpv.sh image|apply" ;;
esac
