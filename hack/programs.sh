#!/usr/bin/env bash
# Builds the programs of this tree, all at once, and prints the folder with them.
# Usage: hack/programs.sh
#        hack/programs.sh modules   only downloads the modules that they need
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
command -v go >/dev/null || die "needed: Go, the version in go.mod"

# Another checkout has a folder of its own.
OUT=$CACHE/build/programs-$(printf %s "$REPO" | sha256sum | cut -c1-8)

if [ "${1:-}" = modules ]; then
	logged modules-programs go list -C "$REPO" -deps ./cmd/...
	exit 0
fi
alone "programs-${OUT##*-}"
mkdir -p "$OUT"
logged build-programs env CGO_ENABLED=0 go build -C "$REPO" -buildvcs=false -ldflags '-s -w' -o "$OUT/" ./cmd/...
echo "$OUT"
