#!/usr/bin/env bash
# The real Rook, built from Go modules, and the real Ceph of Debian's packages, without
# any CSI driver. Needs root. Usage:
#   hack/rook.sh build    builds Rook and Ceph's root file system, once for each version
#   hack/rook.sh images   makes the images, and prints Ceph's and then Rook's
#   hack/rook.sh apply    installs Rook on the cluster that kubectl reaches; the images
#                         must be there
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

HERE=$REPO/hack/rook
MODULE=github.com/rook/rook
PROGRAM=$CACHE/rook/program-$ROOK_VERSION-1
export CGO_ENABLED=0

program() {
	local work
	work=$(mktemp -d)
	cp -r --no-preserve=mode "$(module_dir "$MODULE" "$ROOK_VERSION")" "$work/source"
	# Rook's go.mod replaces this module by a folder that its archive does not have.
	cp -r --no-preserve=mode "$(module_dir "$MODULE/pkg/apis" "$ROOK_APIS_VERSION")" "$work/source/pkg/apis"
	mkdir -p "$1"
	go build -C "$work/source" -mod=mod -buildvcs=false \
		-ldflags "-s -w -X $MODULE/pkg/version.Version=$ROOK_VERSION" -o "$1/rook" ./cmd/rook
	rm -rf "$work"
}

# overlay ROOT: what Rook's own image adds to Ceph's, and what Debian's packages lack.
overlay() {
	local source
	source=$(module_dir "$MODULE" "$ROOK_VERSION")
	install -m755 -t "$1/usr/local/bin" "$PROGRAM/rook" "$source"/images/ceph/{toolbox.sh,set-ceph-debug-level} "$HERE"/root/usr/local/bin/*
	install -m755 -t "$1/usr/local/sbin" "$HERE"/root/usr/local/sbin/*
	install -D -m644 -t "$1/etc/rook-external" "$source/deploy/examples/create-external-cluster-resources.py"
	cp -r --no-preserve=mode "$source/deploy/examples/monitoring" "$1/etc/ceph-monitoring"
}

# import IMAGE ROOT CHANGE...
import() {
	local image=$1 root=$2 changes=() c
	shift 2
	for c in 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' 'ENV LC_ALL=C.UTF-8' "$@"; do
		changes+=(--change "$c")
	done
	tar -C "$root" --numeric-owner -c . | docker import "${changes[@]}" - "$image" >/dev/null
}

# make_images: both have the same files. Rook starts Ceph's programs by their names, and
# its own by the entry point.
make_images() {
	local root=$CACHE/rook/root.part
	rm -rf "$root"
	# Links, because only files are added.
	cp -al "$CEPH_ROOT" "$root"
	overlay "$root"
	import "$CEPH_IMAGE" "$root"
	import "$ROOK_IMAGE" "$root" 'ENTRYPOINT ["/usr/local/bin/rook"]' 'USER 2016'
	rm -rf "$root"
}

# A profile wants a version in the tag of Ceph's image, and a number behind it at most.
KEY=$( { printf '%s\n' "$ROOK_VERSION" "$CEPH_VERSION" "$CEPH_DEBIAN"; find "$HERE/root" -type f | sort | xargs cat; declare -f overlay import make_images; } | sha256sum | cut -c1-7)
CEPH_IMAGE=pgstorage.local/ceph:v$CEPH_VERSION-$((16#$KEY))
ROOK_IMAGE=pgstorage.local/rook:$ROOK_VERSION-$((16#$KEY))

build() {
	command -v go >/dev/null || die "needed: Go, the version in go.mod"
	# One mostly downloads and the other compiles.
	set -m
	"$REPO/hack/rootfs.sh" ceph >/dev/null &
	pid=$!
	set +m
	trap 'kill -- "-$pid" 2>/dev/null || true' EXIT
	cached build-rook "$PROGRAM" program
	wait "$pid"
	trap - EXIT
	CEPH_ROOT=$("$REPO/hack/rootfs.sh" ceph)
}

images() {
	build
	eval "$("$REPO/hack/docker.sh" env)"
	docker image inspect "$CEPH_IMAGE" "$ROOK_IMAGE" >/dev/null 2>&1 || logged images-rook make_images
	echo "$CEPH_IMAGE $ROOK_IMAGE"
}

# operator prints Rook's own manifest with our image, loop devices as disks and without
# CSI drivers, which no registry of packages has. It runs on the node that tests do not
# stop.
operator() {
	sed -E "s#docker.io/rook/ceph:$ROOK_VERSION#$ROOK_IMAGE#
		s#(ROOK_CEPH_ALLOW_LOOP_DEVICES): \"false\"#\1: \"true\"#
		s#(ROOK_USE_CSI_OPERATOR): \"true\"#\1: \"false\"#
		s#(ROOK_CSI_DISABLE_DRIVER): \"false\"#\1: \"true\"#
		s#^( *)serviceAccountName: rook-ceph-system\$#&\n\1nodeSelector: {node-role.kubernetes.io/control-plane: \"\"}#" "$1"
}

apply() {
	local examples
	examples=$(module_dir "$MODULE" "$ROOK_VERSION")/deploy/examples
	kubectl apply --server-side --force-conflicts -f "$examples/crds.yaml" >/dev/null
	kubectl apply --server-side --force-conflicts -f "$examples/common.yaml" >/dev/null
	kubectl apply --server-side --force-conflicts -f "$HERE/config.yaml" >/dev/null
	operator "$examples/operator.yaml" | kubectl apply --server-side --force-conflicts -f - >/dev/null
	timeout 200 kubectl -n rook-ceph rollout status deployment/rook-ceph-operator --timeout=180s
}

case ${1:-} in
build) build ;;
images) images ;;
apply) logged rook-apply apply ;;
*) die "usage: hack/rook.sh build|images|apply" ;;
esac
