#!/usr/bin/env bash
# Builds what the cluster needs ahead of time, at low priority.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
"$REPO/hack/rootfs.sh" node
"$REPO/hack/rootfs.sh" postgres
nice "$REPO/hack/kubernetes.sh" control
nice "$REPO/hack/kubernetes.sh" node
