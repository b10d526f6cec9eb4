#!/usr/bin/env bash
# End-to-end tests on a kind cluster of their own. Usage: hack/e2e.sh NAME
# KEEP=1 keeps the cluster.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
NAME=${1:?usage: hack/e2e.sh NAME}

finish() {
	[ -n "${KEEP:-}" ] || "$REPO/hack/cluster.sh" down "$NAME"
}
trap finish EXIT
trap 'exit 130' INT TERM

"$REPO/hack/cluster.sh" up "$NAME"
eval "$("$REPO/hack/cluster.sh" env "$NAME")"
PGSTORAGE_IMAGE=$("$REPO/hack/images.sh" operator)
postgres=$("$REPO/hack/images.sh" postgres)
PGSTORAGE_POSTGRES_REPOSITORY=${postgres%:*}
HELM=$("$REPO/hack/tools.sh" helm)
export PGSTORAGE_IMAGE PGSTORAGE_POSTGRES_REPOSITORY HELM
"$REPO/hack/cluster.sh" load "$NAME" "$PGSTORAGE_IMAGE" "$postgres"
cd "$REPO" || exit
go test -tags e2e -count=1 -v -timeout 40m ./test/e2e/...
