#!/usr/bin/env bash
# Builds the admission webhooks of CloudNativePG versions, without their controllers, and prints
# the folder that has one program for each version. Usage: hack/cnpg-webhook.sh VERSION...
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

MAIN=$REPO/hack/cnpg-webhook/main.go.txt
FOLDER=$CACHE/cnpg/webhooks-$(sha256sum <"$MAIN" | cut -c1-12)

# build VERSION OUT: an overlay adds the program to the module, whose source is read-only.
build() {
	local source overlay
	source=$(module_dir github.com/cloudnative-pg/cloudnative-pg "$1")
	overlay=$(mktemp)
	printf '{"Replace": {"%s": "%s"}}\n' "$source/cmd/pgstorage-webhook/main.go" "$MAIN" >"$overlay"
	CGO_ENABLED=0 nice go build -C "$source" -overlay "$overlay" -buildvcs=false -ldflags '-s -w' -o "$2" ./cmd/pgstorage-webhook
	rm -f "$overlay"
}

[ $# -gt 0 ] || die "usage: hack/cnpg-webhook.sh VERSION..."
command -v go >/dev/null || die "needed: Go, the version in go.mod"
for version in "$@"; do cached "build-cnpg-webhook-$version" "$FOLDER/$version" build "$version"; done
echo "$FOLDER"
