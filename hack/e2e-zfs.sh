#!/usr/bin/env bash
# End-to-end tests of profiles with pools: a kind cluster of its own, virtual
# machines with real ZFS as its nodes, the real zfs-localpv, and the operator and
# the agent as the chart installs them. Needs root. Usage: hack/e2e-zfs.sh NAME [TEST]
#   TEST is TestJourney, of ZFSLocalPV on a node, TestTwoNodes, TestBranches,
#   TestTutorialOfBranches, TestTutorialOfZFS, TestTutorialOfS3NBD, TestBranchFaults,
#   TestSnapshotBackups, TestMemory, or TestS3NBD, or more of them with | between
# BARMAN=1 installs the Barman Cloud plugin.
# KEEP=1 keeps the cluster and the machines, to look at; STEPS="blank|pool fills" runs only
# steps with such names.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
NAME=${1:?usage: hack/e2e-zfs.sh NAME [TEST]}
TEST=${2:-TestJourney}
NODES=(zfs1)
if [ "$TEST" = TestTwoNodes ]; then
	NODES=(zfs1 zfs2)
	# Four emulated processors on two real ones wait for each other.
	export PGSTORAGE_ZFS_NODE_PROCESSORS=1
fi
# The tutorial begins with a blank disk, and one that is not.
[ "$TEST" != TestTutorialOfZFS ] || export PGSTORAGE_ZFS_NODE_NVME="A X"
# The machine's images come from this machine's Docker, and its pods are routed
# by hand: kind's own node image and network would not fit.
export PGSTORAGE_PUBLISHED_ghcr_io=no PGSTORAGE_PUBLISHED_registry_1_docker_io=no

# The tutorial of branches migrates one by psql, as a reader does.
[[ $TEST != *TestTutorialOfBranches* ]] || packages postgresql-client

# The tutorial of S3NBD creates buckets and users.
if [[ $TEST == *TestTutorialOfS3NBD* ]]; then
	aws=$("$REPO/hack/aws.sh")
	versitygw=$("$REPO/hack/tools.sh" versitygw)
	PATH=$aws:${versitygw%/*}:$PATH
	export PATH
fi

# Before the traps below: a logged step has its own.
logged plugin make -C "$REPO" plugin
PGSTORAGE_PLUGIN=$REPO/bin/kubectl-pgstorage

# pin a deployment of CloudNativePG to the node that is not emulated: on another one it answers too
# late. It starts again for that.
pin() {
	kubectl -n cnpg-system patch deployment "$1" -p '{"spec":{"template":{"spec":{"nodeSelector":{"node-role.kubernetes.io/control-plane":""}}}}}' >/dev/null
	timeout 320 kubectl -n cnpg-system rollout status "deployment/$1" --timeout=300s >/dev/null
}

down() {
	"$REPO/hack/zfs-node.sh" down "$NAME"
	"$REPO/hack/cluster.sh" down "$NAME"
}
finish() { [ -n "${KEEP:-}" ] || down; }
trap finish EXIT
trap 'exit 130' INT TERM

# The tests begin with a blank disk, so what an earlier run has kept goes first.
[ ! -e "$RUN/$NAME.kubeconfig" ] || down
"$REPO/hack/vm.sh" image >/dev/null
"$REPO/hack/cluster.sh" up "$NAME"
eval "$("$REPO/hack/cluster.sh" env "$NAME")"
PGSTORAGE_IMAGE=$("$REPO/hack/images.sh" operator)
postgres=$("$REPO/hack/images.sh" postgres)
cnpg=$("$REPO/hack/images.sh" cnpg)
driver=$("$REPO/hack/zfs-localpv.sh" image)
PGSTORAGE_ZFS_LOCALPV=${driver#*:v}
PGSTORAGE_ZFS_LOCALPV=${PGSTORAGE_ZFS_LOCALPV%%-*}
# Only what these tests use: ZeroFS alone takes ten minutes to compile.
zerofs=() store=()
PGSTORAGE_ZEROFS_IMAGE='' PGSTORAGE_ZEROFS_NEXT_IMAGE='' PGSTORAGE_S3_IMAGE=''
if [[ $TEST == *S3NBD* ]]; then
	PGSTORAGE_ZEROFS_IMAGE=$("$REPO/hack/images.sh" zerofs)
	# The same image by another name, for a profile that changes its image.
	PGSTORAGE_ZEROFS_NEXT_IMAGE=$PGSTORAGE_ZEROFS_IMAGE-next
	docker tag "$PGSTORAGE_ZEROFS_IMAGE" "$PGSTORAGE_ZEROFS_NEXT_IMAGE"
	zerofs=("$PGSTORAGE_ZEROFS_IMAGE" "$PGSTORAGE_ZEROFS_NEXT_IMAGE")
fi
if [[ $TEST == *S3NBD* || $TEST == *TestSnapshotBackups* ]]; then
	PGSTORAGE_S3_IMAGE=$("$REPO/hack/images.sh" s3)
	store=("$PGSTORAGE_S3_IMAGE")
fi
PGSTORAGE_POSTGRES_REPOSITORY=${postgres%:*}
PGSTORAGE_ZFS_CLUSTER=$NAME
HELM=$("$REPO/hack/tools.sh" helm)
PGSTORAGE_VM_ACCELERATOR=$("$REPO/hack/vm.sh" probe)
export PGSTORAGE_ZFS_LOCALPV PGSTORAGE_VM_ACCELERATOR PGSTORAGE_PLUGIN PGSTORAGE_IMAGE PGSTORAGE_POSTGRES_REPOSITORY PGSTORAGE_ZEROFS_IMAGE PGSTORAGE_ZEROFS_NEXT_IMAGE PGSTORAGE_S3_IMAGE PGSTORAGE_ZFS_CLUSTER HELM
barman=()
if [ -n "${BARMAN:-}" ]; then
	# On its own, because bash ignores failures inside of <<<.
	images=$("$REPO/hack/barman.sh" images)
	read -ra barman <<<"$images"
fi
"$REPO/hack/cluster.sh" load "$NAME" "$PGSTORAGE_IMAGE" "$postgres" "$driver" "${store[@]}" "${barman[@]}"
for node in "${NODES[@]}"; do
	"$REPO/hack/zfs-node.sh" up "$NAME" "$node" "$PGSTORAGE_IMAGE" "$postgres" "$cnpg" "$driver" "${zerofs[@]}" "${barman[@]}"
done
"$REPO/hack/zfs-localpv.sh" apply
# CloudNativePG looks for the CRDs of VolumeSnapshots when it starts, and never again.
pin cnpg-controller-manager
if [ -n "${BARMAN:-}" ]; then
	"$REPO/hack/barman.sh" apply
	pin barman-cloud
fi
cd "$REPO" || exit
go test -tags e2ezfs -count=1 -v -timeout 150m -run "^($TEST)\$${STEPS:+/($STEPS)}" ./test/e2ezfs/...
