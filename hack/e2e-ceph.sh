#!/usr/bin/env bash
# End-to-end tests of the profile CephRBD: a kind cluster of three nodes, the real Rook and
# the real Ceph on loop devices, and the operator as the chart installs it. A virtual machine
# joins as a node whose kernel maps images. Needs root and 16 GB of memory.
# Usage: hack/e2e-ceph.sh NAME [TEST]
# TEST is TestCephRBD, or TestZvols, whose OSDs are on zvols of the machine.
# KEEP=1 keeps the cluster; PGSTORAGE_CEPH_REPORT=docs/faults/cephrbd.md adds the runs to
# that page. PGSTORAGE_CEPH_CSI names images of ceph-csi as Rook's settings
# (ROOK_CSI_CEPH_IMAGE=... ROOK_CSI_PROVISIONER_IMAGE=...), where the published ones cannot be
# had. Without any the test of ceph-csi is skipped.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
NAME=${1:?usage: hack/e2e-ceph.sh NAME [TEST]}
TEST=${2:-TestCephRBD}
# Rook's image and Ceph's come from this machine's Docker, and so do all others.
export PGSTORAGE_PUBLISHED_ghcr_io=no PGSTORAGE_PUBLISHED_registry_1_docker_io=no

down() {
	"$REPO/hack/zfs-node.sh" down "$NAME"
	"$REPO/hack/cluster.sh" down "$NAME"
	"$REPO/hack/ceph-nodes.sh" down "$NAME"
}
finish() { [ -n "${KEEP:-}" ] || down; }
trap finish EXIT
trap 'exit 130' INT TERM

# The tests begin with blank disks, so what an earlier run has kept goes first.
if [ -e "$RUN/$NAME.kubeconfig" ] || [ -e "$CACHE/ceph-nodes/$NAME" ]; then down; fi
"$REPO/hack/rook.sh" build
"$REPO/hack/vm.sh" image >/dev/null
"$REPO/hack/cluster.sh" up "$NAME" --workers 2 --beside programs
eval "$("$REPO/hack/cluster.sh" env "$NAME")"
PGSTORAGE_IMAGE=$("$REPO/hack/images.sh" operator)
postgres=$("$REPO/hack/images.sh" postgres)
PGSTORAGE_POSTGRES_REPOSITORY=${postgres%:*}
PGSTORAGE_CEPH_CSI=${PGSTORAGE_CEPH_CSI-$("$REPO/hack/images.sh" ceph-csi)}
# shellcheck disable=SC2086 # a setting is a word
csi_images=$(printf '%s\n' $PGSTORAGE_CEPH_CSI | sed 's/^[^=]*=//' | tr '\n' ' ')
PGSTORAGE_MACHINE_IMAGES="$postgres $("$REPO/hack/images.sh" cnpg) $csi_images"
PGSTORAGE_ZFS_NODE_MEMORY=3072
zvols=()
if [ "$TEST" = TestZvols ]; then
	# OSDs, ZFS and Postgres on one machine. Ceph's erasure codes end on
	# QEMU's default processor, by an illegal instruction.
	PGSTORAGE_ZFS_NODE_MEMORY=8192
	export PGSTORAGE_ZFS_NODE_CPU=Nehalem
	zvols=("$("$REPO/hack/zfs-localpv.sh" image)")
fi
images=$("$REPO/hack/rook.sh" images)
PGSTORAGE_CEPH_IMAGE=${images% *}
PGSTORAGE_CEPH_CLUSTER=$NAME
HELM=$("$REPO/hack/tools.sh" helm)
export PGSTORAGE_CEPH_CSI PGSTORAGE_MACHINE_IMAGES PGSTORAGE_ZFS_NODE_MEMORY PGSTORAGE_IMAGE PGSTORAGE_POSTGRES_REPOSITORY PGSTORAGE_CEPH_IMAGE PGSTORAGE_CEPH_CLUSTER HELM
# shellcheck disable=SC2086 # names of images are words
"$REPO/hack/cluster.sh" load "$NAME" "$PGSTORAGE_CEPH_IMAGE" "${images#* }" "$PGSTORAGE_IMAGE" "${zvols[@]}" $csi_images
kubectl taint nodes --all node-role.kubernetes.io/control-plane- >/dev/null 2>&1 || true
if [ "$TEST" = TestZvols ]; then
	# shellcheck disable=SC2086 # names of images are words
	"$REPO/hack/zfs-node.sh" up "$NAME" zfs1 $PGSTORAGE_MACHINE_IMAGES $images "$PGSTORAGE_IMAGE" "${zvols[@]}"
	"$REPO/hack/zfs-localpv.sh" apply
else
	"$REPO/hack/ceph-nodes.sh" up "$NAME"
fi
"$REPO/hack/rook.sh" apply
cd "$REPO" || exit
go test -tags e2eceph -count=1 -v -timeout 75m -run "^$TEST\$" ./test/e2eceph/...
