#!/usr/bin/env bash
# ShellCheck over every script.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
packages shellcheck
cd "$REPO" || exit
shellcheck -x hack/*.sh hack/lib/*.sh .ci/run
echo "shellcheck: no findings"
