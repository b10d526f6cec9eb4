#!/usr/bin/env bash
# Builds the admission webhooks of CloudNativePG versions, without their controllers, and prints
# the folder that has one program for each version. Usage: hack/cnpg-webhook.sh VERSION...
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

MAIN=$REPO/hack/cnpg-webhook/main.go.txt
FOLDER=$CACHE/cnpg/webhooks-$(sha256sum <"$MAIN" | cut -c1-12)

source_of() { module_dir github.com/cloudnative-pg/cloudnative-pg "$1"; }

# framework FOLDER prints the minor version of controller-runtime that a source needs.
framework() { sed -nE 's#.*sigs.k8s.io/controller-runtime (v0\.[0-9]+)\..*#\1#p' "$1/go.mod"; }

# build VERSION OUT: the program is added to a copy of the source, because Go builds the modules
# of its cache only as they are. A version with the framework of the newest one has its modules
# too: they are compiled already, as those of CloudNativePG itself.
build() {
	local source newest work
	source=$(source_of "$1")
	newest=$(source_of "$CNPG_VERSION")
	work=$(mktemp -d)
	cp -r "$source/." "$work"
	chmod -R u+w "$work"
	if [ "$(framework "$source")" = "$(framework "$newest")" ]; then
		install -m644 "$newest/go.mod" "$newest/go.sum" "$work/"
	fi
	install -D -m644 "$MAIN" "$work/cmd/pgstorage-webhook/main.go"
	CGO_ENABLED=0 go build -C "$work" -buildvcs=false -ldflags '-s -w' -o "$2" ./cmd/pgstorage-webhook
	rm -rf "$work"
}

economical
[ $# -gt 0 ] || die "usage: hack/cnpg-webhook.sh VERSION..."
command -v go >/dev/null || die "needed: Go, the version in go.mod"
for version in "$@"; do cached "build-cnpg-webhook-$version" "$FOLDER/$version" build "$version"; done
echo "$FOLDER"
