#!/usr/bin/env bash
# Makes what a cluster needs ahead of it: what waits for the network beside what
# needs the processors. Whatever it makes is found ready by the other scripts.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
packages curl ca-certificates

# Source of the programs that are compiled last, so that nothing waits for it.
modules() {
	local source
	source=$(module_dir github.com/cloudnative-pg/cloudnative-pg "$CNPG_VERSION")
	nice go list -C "$source" -deps ./cmd/manager >/dev/null
}

# machines of the levels vm and ceph. Only root can make them; the levels say so to others.
machines() {
	if [ "$(id -u)" = 0 ]; then
		nice "$REPO/hack/vm.sh" image
		nice "$REPO/hack/vm.sh" ceph-image
	fi
}

# downloads are Debian's packages and modules.
downloads() {
	"$REPO/hack/docker.sh" unpack
	"$REPO/hack/rootfs.sh" node
	if [ ! -e "$CACHE/cnpg/$CNPG_VERSION" ]; then logged modules-cnpg modules; fi
	"$REPO/hack/rootfs.sh" postgres
	machines
}

compile() {
	local what
	for what in control node kind runc cnpg; do "$REPO/hack/kubernetes.sh" "$what"; done
}

# linters of make lint, which waits for this build where it needs it before.
linters() {
	nice "$REPO/hack/tools.sh" golangci-lint
	nice "$REPO/hack/tools.sh" vale
}

# servers of the levels zerofs and vm.
servers() {
	"$REPO/hack/tools.sh" versitygw
	"$REPO/hack/zerofs.sh"
}

if published registry-1.docker.io && published ghcr.io; then
	linters
	"$REPO/hack/kubernetes.sh" kind
	servers
	machines
	exit 0
fi
packages debootstrap gcc libc6-dev pkg-config
set -m
downloads &
pid=$!
set +m
trap 'kill -- "-$pid" 2>/dev/null; exit 130' INT TERM
linters
compile
servers
wait "$pid"
