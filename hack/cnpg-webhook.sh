#!/usr/bin/env bash
# Builds the admission webhooks of CloudNativePG versions, without their controllers, and prints
# the folder that has one program for each version. Usage: hack/cnpg-webhook.sh VERSION...
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

MAIN=$REPO/hack/cnpg-webhook/main.go.txt
FOLDER=$CACHE/cnpg/webhooks-$(sha256sum <"$MAIN" | cut -c1-12)

MODULE=github.com/cloudnative-pg/cloudnative-pg

# framework FOLDER prints the minor version of controller-runtime that a source needs.
framework() { sed -nE 's#.*sigs.k8s.io/controller-runtime (v0\.[0-9]+)\..*#\1#p' "$1/go.mod"; }

# build VERSION OUT: the program is added to a copy of the source, because Go builds the modules
# of its cache only as they are. A version with this repository's framework has its modules too,
# which are compiled already.
build() {
	local source work
	source=$(module_dir "$MODULE" "$1")
	work=$(mktemp -d)
	cp -r "$source/." "$work"
	chmod -R u+w "$work"
	if [ "$(framework "$source")" = "$(framework "$REPO")" ]; then
		cp "$REPO/go.mod" "$REPO/go.sum" "$work"
		(cd "$work" && go mod edit -module="$MODULE" -droprequire="$MODULE")
	fi
	install -D -m644 "$MAIN" "$work/cmd/pgstorage-webhook/main.go"
	CGO_ENABLED=0 go build -C "$work" -mod=mod -buildvcs=false -ldflags '-s -w' -o "$2" ./cmd/pgstorage-webhook
	rm -rf "$work"
}

[ $# -gt 0 ] || die "usage: hack/cnpg-webhook.sh VERSION..."
command -v go >/dev/null || die "needed: Go, the version in go.mod"
for version in "$@"; do cached "build-cnpg-webhook-$version" "$FOLDER/$version" build "$version"; done
echo "$FOLDER"
