#!/usr/bin/env bash
# Checks the language of documentation, comments and messages with Vale.
# Usage: hack/prose.sh [-update|-counts|-list PART]
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
vale=$("$REPO/hack/tools.sh" vale)
cd "$REPO" || exit
go run ./hack/prose -vale "$vale" "$@"
