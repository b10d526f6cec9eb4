#!/usr/bin/env bash
# Builds the admission webhooks of CloudNativePG versions, without their controllers, and prints
# the folder that has one program for each version. Usage: hack/cnpg-webhook.sh VERSION...
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

MAIN=$REPO/hack/cnpg-webhook/main.go.txt
FOLDER=$CACHE/cnpg/webhooks-$(cat "$MAIN" "${BASH_SOURCE[0]}" | sha256sum | cut -c1-12)

MODULE=github.com/cloudnative-pg/cloudnative-pg

# pins SOURCE prints flags of go mod edit for what a source requires beyond this repository.
pins() {
	awk 'NR == FNR {have[$1]; next} /^\t[^ ]+ v/ && !($1 in have) {print "-require=" $1 "@" $2}' \
		<(grep -P '^\t\S+ v' "$REPO/go.mod") "$1/go.mod"
}

# modern FILE... has webhooks named their type as controller-runtime wants it now. Before 1.29
# they do not.
modern() {
	local file
	for file; do
		grep -qF 'NewWebhookManagedBy(mgr).For(' "$file" || continue
		sed -i -E 's/NewWebhookManagedBy\(mgr\)\.For\((&apiv1\.[A-Za-z]+\{\})\)/NewWebhookManagedBy(mgr, \1)/
			s/\bWith(Validator|Defaulter)\(/WithCustom\1(/' "$file"
	done
}

# build VERSION OUT: the program is added to a copy of the source, because Go builds the modules
# of its cache only as they are. It has this repository's modules, which are compiled already.
build() {
	local source work flags
	source=$(module_dir "$MODULE" "$1")
	work=$(mktemp -d)
	cp -r "$source/." "$work"
	chmod -R u+w "$work"
	cp "$REPO/go.mod" "$work"
	sort -u "$REPO/go.sum" "$source/go.sum" >"$work/go.sum"
	mapfile -t flags < <(pins "$source")
	(cd "$work" && go mod edit -module="$MODULE" -droprequire="$MODULE" "${flags[@]}")
	modern "$work"/internal/webhook/v1/*.go
	install -D -m644 "$MAIN" "$work/cmd/pgstorage-webhook/main.go"
	CGO_ENABLED=0 go build -C "$work" -mod=mod -buildvcs=false -ldflags '-s -w' -o "$2" ./cmd/pgstorage-webhook
	rm -rf "$work"
}

[ $# -gt 0 ] || die "usage: hack/cnpg-webhook.sh VERSION..."
command -v go >/dev/null || die "needed: Go, the version in go.mod"
for version in "$@"; do cached "build-cnpg-webhook-$version" "$FOLDER/$version" build "$version"; done
echo "$FOLDER"
