#!/usr/bin/env bash
# Regenerates into a copy of the tree and compares, so that a person's own
# changes are neither needed committed nor touched.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# tar reads the list itself: xargs splits a list above 128 KiB, and the reader
# stops at the end of the first archive, without the rest of the files.
git -C "$REPO" ls-files -z --cached --others --exclude-standard |
	tar -c -C "$REPO" --null --verbatim-files-from --no-recursion --ignore-failed-read -T - 2>/dev/null | tar -x -C "$copy"
logged generate "$copy/hack/generate.sh"
status=0
for path in api config charts internal/operator/extapply internal/operator/component/cnpg/hatch README.md docs/metrics.md docs/maturity.md docs/faults/README.md go.mod go.sum; do
	diff -r "$REPO/$path" "$copy/$path" >&2 || status=1
done
[ $status = 0 ] || die "generated files differ from what make generate makes; run it and commit"
unformatted=$(cd "$REPO" && git ls-files -z '*.go' | xargs -0 gofmt -l)
[ -z "$unformatted" ] || die "not formatted: $unformatted; run make fmt"
echo "generated files are up to date"
