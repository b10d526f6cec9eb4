#!/usr/bin/env bash
# Builds the documentation site with MkDocs, whose packages are pinned by hash.
# Usage: hack/site.sh [FOLDER]
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

lock=$REPO/hack/site/requirements.txt
environment() { python_environment "$lock" "$1"; }

venv=$(python_folder site "$lock")
cached site-packages "$venv" environment

cd "$REPO" || exit
# By python -m, because scripts of an environment do not survive its move into the cache.
NO_MKDOCS_2_WARNING=1 "$venv/bin/python" -m mkdocs build --strict --quiet --site-dir "$(realpath -m "${1:-dist/site}")"
