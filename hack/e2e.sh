#!/usr/bin/env bash
# End-to-end tests on a kind cluster of their own. Usage: hack/e2e.sh NAME
# KEEP=1 keeps the cluster; SHORT=-short omits long tests; BARMAN=1 installs the Barman Cloud
# plugin; SLOW_DISK=10ms gives the node a disk whose reads take that much longer; ARGS
# are further arguments of go test, as -run TestS3NBD; what people look at is kept in
# the folder e2e of PGSTORAGE_ARTEFACTS.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
NAME=${1:?usage: hack/e2e.sh NAME}
PGSTORAGE_ARTEFACTS=${PGSTORAGE_ARTEFACTS:-$CACHE/artefacts}

# build_plugin FOLDER: the kubectl plugin, as make plugin builds it.
build_plugin() { make -C "$REPO" plugin && mkdir -p "$1" && cp --remove-destination "$REPO/bin/kubectl-pgstorage" "$1/"; }
# Before the traps below: a logged step has its own.
logged plugin build_plugin "$CACHE/e2e"
PGSTORAGE_PLUGIN=$CACHE/e2e/kubectl-pgstorage

finish() {
	[ ! -d "$PGSTORAGE_ARTEFACTS/e2e" ] || say "what the tests keep for people is in $PGSTORAGE_ARTEFACTS/e2e"
	[ -z "${KEEP:-}" ] || return 0
	[ -z "${SLOW_DISK:-}" ] || "$REPO/hack/slow-disk.sh" down "$NAME-control-plane" || true
	"$REPO/hack/cluster.sh" down "$NAME"
}
trap finish EXIT
trap 'exit 130' INT TERM

# shellcheck disable=SC2086 # words
"$REPO/hack/cluster.sh" up "$NAME" ${WORKERS:+--workers $WORKERS}
eval "$("$REPO/hack/cluster.sh" env "$NAME")"
PGSTORAGE_IMAGE=$("$REPO/hack/images.sh" operator)
postgres=$("$REPO/hack/images.sh" postgres)
PGSTORAGE_POSTGRES_REPOSITORY=${postgres%:*}
PGSTORAGE_ZEROFS_IMAGE=$("$REPO/hack/images.sh" zerofs)
PGSTORAGE_S3_IMAGE=$("$REPO/hack/images.sh" s3)
HELM=$("$REPO/hack/tools.sh" helm)
PROMETHEUS=$("$REPO/hack/tools.sh" prometheus)
# Only sites that are apart need it.
PGSTORAGE_TOXIPROXY=${PGSTORAGE_SITE_DELAY:+$("$REPO/hack/tools.sh" toxiproxy)}
export PGSTORAGE_TOXIPROXY PROMETHEUS PGSTORAGE_PLUGIN PGSTORAGE_ARTEFACTS PGSTORAGE_IMAGE PGSTORAGE_POSTGRES_REPOSITORY PGSTORAGE_ZEROFS_IMAGE PGSTORAGE_S3_IMAGE HELM
"$REPO/hack/cluster.sh" load "$NAME" "$PGSTORAGE_IMAGE" "$postgres" "$PGSTORAGE_ZEROFS_IMAGE" "$PGSTORAGE_S3_IMAGE"
if [ -n "${BARMAN:-}" ]; then
	# shellcheck disable=SC2046 # one word an image
	"$REPO/hack/cluster.sh" load "$NAME" $("$REPO/hack/barman.sh" images)
	"$REPO/hack/barman.sh" apply
fi
[ -z "${SLOW_DISK:-}" ] || "$REPO/hack/slow-disk.sh" up "$NAME-control-plane" "$SLOW_DISK"
export PGSTORAGE_SLOW_DISK=${SLOW_DISK:-}
cd "$REPO" || exit
# shellcheck disable=SC2086 # words
go test -tags e2e -count=1 -v -timeout 75m ${SHORT:-} ${ARGS:--skip ^(TestEphemeralFigures|TestThreeSites|TestTutorialOfSites|TestSiteDistance|TestSiteFaults|TestReadPoolFaults|TestDeadPoolInMemory|TestQuorumAcrossZones|TestBackupCost|TestProtection|TestTutorialOfBackups|TestTmpfsVDisk)$} ./test/e2e/...
