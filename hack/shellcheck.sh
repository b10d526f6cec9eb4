#!/usr/bin/env bash
# ShellCheck over every script.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
packages shellcheck
cd "$REPO" || exit
shellcheck -x hack/*.sh hack/hooks/* hack/lib/*.sh hack/vm/init hack/vm/initrd hack/zfs-node/run hack/rook/root/usr/local/*/* .ci/run
echo "shellcheck: no findings"
