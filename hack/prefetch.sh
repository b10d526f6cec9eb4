#!/usr/bin/env bash
# Prepares what others need ahead of it: downloads beside compilers. Whatever it
# makes is found ready by the other scripts. Usage:
#   hack/prefetch.sh SET...        prepares
#   hack/prefetch.sh list SET...   prints the steps instead
# Sets, in an order that makes sense:
#   nodes      what kind and its nodes need
#   pods       CloudNativePG and Postgres
#   programs   those of this tree
#   servers, machines   of the levels zerofs and e2e, and vm
#   cluster    nodes pods
#   demo       cluster programs
#   all        cluster servers machines; the level lint builds its own at once
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

# steps SET prints the steps of a set, one a line: its lane and a script of this
# folder with its arguments. A pull is by the nodes themselves, when they need it.
steps() {
	case $1 in
	nodes)
		if published registry-1.docker.io; then
			echo "pull kindest/node"
			command -v kind >/dev/null || echo "compile kubernetes.sh kind"
			return
		fi
		printf '%s\n' "download docker.sh unpack" "download rootfs.sh node" \
			"compile kubernetes.sh control" "compile kubernetes.sh node" "compile kubernetes.sh runc" "compile kubernetes.sh kind"
		;;
	pods)
		if published ghcr.io; then
			printf '%s\n' "pull cloudnative-pg" "pull postgresql"
			return
		fi
		printf '%s\n' "download kubernetes.sh cnpg-modules" "download rootfs.sh postgres" "compile kubernetes.sh cnpg"
		;;
	programs) printf '%s\n' "download programs.sh modules" "compile programs.sh" ;;
	servers)
		printf '%s\n' "compile tools.sh versitygw" "compile zerofs.sh"
		# Only root can make its root file system.
		published ghcr.io || [ "$(id -u)" != 0 ] || echo "compile barman.sh build"
		;;
	# Only root can make them; their levels say so to others.
	machines) [ "$(id -u)" != 0 ] || echo "download vm.sh image" ;;
	cluster) steps nodes && steps pods ;;
	demo) steps cluster && steps programs ;;
	all) steps cluster && steps servers && steps machines ;;
	*) die "usage: hack/prefetch.sh [list] nodes|pods|programs|servers|machines|cluster|demo|all ..." ;;
	esac
}

# lane NAME: runs its steps, one after the other. They have the priority of the levels, which
# wait for them.
lane() {
	local step
	while read -r step; do
		# shellcheck disable=SC2086 # words
		"$REPO"/hack/$step </dev/null
	done < <(sed -n "s/^$1 //p" <<<"$PLAN")
}

list=
if [ "${1:-}" = list ]; then
	list=yes
	shift
fi
[ -n "$list" ] || packages curl ca-certificates
PLAN=$(for set in "${@:-}"; do steps "$set"; done)
if [ -n "$list" ]; then
	echo "$PLAN"
	exit 0
fi
# All at once, for all scripts: each call refreshes the lists, and two at once fail.
if grep -q 'rootfs.sh\|vm.sh' <<<"$PLAN"; then
	packages debootstrap gcc libc6-dev pkg-config iptables iproute2 ca-certificates procps util-linux busybox-static jq
fi
set -m
lane download >/dev/null &
pid=$!
set +m
trap 'kill -- "-$pid" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
lane compile >/dev/null
wait "$pid"
