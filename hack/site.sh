#!/usr/bin/env bash
# Builds the documentation site with MkDocs, whose packages are pinned by hash.
# Usage: hack/site.sh [FOLDER]
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

lock=$REPO/hack/site/requirements.txt
python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3-venv
version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "the site needs Python 3.11 or newer; python3 is $version"

environment() {
	python3 -m venv "$1"
	# Only wheels: building a package would run its code.
	"$1/bin/python" -m pip install --quiet --require-hashes --no-deps --only-binary :all: -r "$lock"
}

venv=$CACHE/site/$version-$(sha256sum "$lock" | cut -c1-16)
cached site-packages "$venv" environment

cd "$REPO" || exit
# By python -m, because scripts of an environment do not survive its move into the cache.
NO_MKDOCS_2_WARNING=1 "$venv/bin/python" -m mkdocs build --strict --quiet --site-dir "$(realpath -m "${1:-dist/site}")"
