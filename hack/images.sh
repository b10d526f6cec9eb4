#!/usr/bin/env bash
# Images that a cluster needs beside its nodes'. Usage: hack/images.sh NAME,
# which prints the image:
#   operator   ours, from this tree
#   cnpg       CloudNativePG
#   postgres   PostgreSQL for CloudNativePG
#   local-path, helper   the StorageClass
#   zerofs, s3   ZeroFS, and the S3 server that it is tested with
#   ceph-csi   as Rook's settings, KEY=IMAGE for each: the driver and its sidecars, of which
#              no registry of packages has the source. Nothing where they cannot be had
# A published image is only named: the nodes pull it themselves.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
packages curl ca-certificates
eval "$("$REPO/hack/docker.sh" env)"

# obtainable IMAGE: does its registry answer, and hand out this image? One that answers but refuses
# the image (a mirror, a rate limit, a login) would leave pods in ImagePullBackOff.
obtainable() { published "${1%%/*}" && timeout 30 docker manifest inspect "$1" >/dev/null 2>&1; }

exists() { docker image inspect "$1" >/dev/null 2>&1; }

# import NAME ROOT CHANGE...: makes an image of a folder.
import() {
	local image=$1 root=$2 changes=() c
	shift 2
	for c in "$@"; do changes+=(--change "$c"); done
	tar -C "$root" --numeric-owner -c . | docker import "${changes[@]}" - "$image" >/dev/null
}

# static_image IMAGE FOLDER CHANGE...: a folder with certificates and /tmp added.
static_image() {
	local root=$2
	mkdir -p "$root/etc/ssl/certs" "$root/tmp"
	chmod 1777 "$root/tmp"
	cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
	chown -R 0:0 "$root"
	import "$1" "$root" "${@:3}"
}

# operator: its tag is its contents, so that a new build is a new image.
operator() {
	local out=$CACHE/build/operator tag programs
	programs=$("$REPO/hack/programs.sh")
	alone operator-image
	rm -rf "$out"
	mkdir -p "$out"
	cp "$programs"/{manager,agent,bench,site} "$out/"
	tag=$(cat "$out"/manager "$out"/agent "$out"/bench "$out"/site | sha256sum | cut -c1-12)
	local image=pgstorage.local/pgstorage:$tag
	exists "$image" || logged image-operator static_image "$image" "$out" 'ENTRYPOINT ["/manager"]' 'USER 65532:65532'
	echo "$image"
}

cnpg() {
	local image=ghcr.io/cloudnative-pg/cloudnative-pg:${CNPG_VERSION#v} local=pgstorage.local/cloudnative-pg:${CNPG_VERSION#v} root
	if exists "$local"; then echo "$local"; return; fi
	if obtainable "$image"; then echo "$image"; return; fi
	root=$("$REPO/hack/kubernetes.sh" cnpg)
	logged image-cnpg static_image "$local" "$root" 'ENTRYPOINT ["/manager"]' 'USER 65532:65532'
	echo "$local"
}

postgres() {
	local image=ghcr.io/cloudnative-pg/postgresql:$POSTGRES_MAJOR local=pgstorage.local/postgresql:$POSTGRES_MAJOR root
	if exists "$local"; then echo "$local"; return; fi
	if obtainable "$image"; then echo "$image"; return; fi
	root=$("$REPO/hack/rootfs.sh" postgres)
	logged image-postgres import "$local" "$root" 'USER 26' \
		"ENV PATH=/usr/lib/postgresql/$POSTGRES_MAJOR/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" 'ENV LANG=C.UTF-8'
	echo "$local"
}

local_path() {
	local image=pgstorage.local/local-path-provisioner:$LOCAL_PATH_VERSION root
	if exists "$image"; then echo "$image"; return; fi
	root=$(mktemp -d)
	install -D -m755 "$("$REPO/hack/kubernetes.sh" node)/local-path-provisioner" "$root/local-path-provisioner"
	logged image-local-path static_image "$image" "$root" 'ENTRYPOINT ["/local-path-provisioner"]'
	rm -rf "$root"
	echo "$image"
}

helper() {
	local image=pgstorage.local/helper:1 root
	if exists "$image"; then echo "$image"; return; fi
	packages busybox-static
	root=$(mktemp -d)
	install -D -m755 /bin/busybox "$root/bin/busybox"
	for c in sh mkdir rm chmod; do ln -s busybox "$root/bin/$c"; done
	logged image-helper static_image "$image" "$root" 'ENV PATH=/bin'
	rm -rf "$root"
	echo "$image"
}

# zerofs is the one program with the C library that it is linked to.
zerofs() {
	local image=pgstorage.local/zerofs:$ZEROFS_VERSION program root
	if exists "$image"; then echo "$image"; return; fi
	program=$("$REPO/hack/zerofs.sh")
	root=$(mktemp -d)
	install -D -m755 "$program" "$root/usr/bin/zerofs"
	ldd "$program" | grep -oE '/[^ ]+' | while read -r library; do install -D -m755 "$library" "$root$library"; done
	logged image-zerofs static_image "$image" "$root" 'ENV PATH=/usr/bin' 'ENTRYPOINT ["/usr/bin/zerofs"]'
	rm -rf "$root"
	echo "$image"
}

s3() {
	local program image root
	program=$("$REPO/hack/tools.sh" versitygw)
	image=pgstorage.local/versitygw:$(sha256sum <"$program" | cut -c1-12)
	if exists "$image"; then echo "$image"; return; fi
	root=$(mktemp -d)
	install -D -m755 "$program" "$root/versitygw"
	logged image-s3 static_image "$image" "$root" 'ENTRYPOINT ["/versitygw"]'
	rm -rf "$root"
	echo "$image"
}

# ceph_csi pulls the images that Rook's manifest names.
ceph_csi() {
	local image key settings=() list
	list=$(module_dir github.com/rook/rook "$ROOK_VERSION")/deploy/examples/images.txt
	while read -r image; do
		case $image in
		*/cephcsi:*) key=CEPH ;;
		*/csi-node-driver-registrar:*) key=REGISTRAR ;;
		*) key=${image##*/csi-} key=${key%:*} key=${key^^} ;;
		esac
		obtainable "$image" || return 0
		timeout 900 docker pull -q "$image" </dev/null >/dev/null
		settings+=("ROOK_CSI_${key}_IMAGE=$image")
	done < <(grep -oE '[^ ]+/(cephcsi|csi-(attacher|node-driver-registrar|provisioner|resizer|snapshotter)):[^ ]+' "$list")
	echo "${settings[@]}"
}

case ${1:-} in
ceph-csi) ceph_csi ;;
operator | cnpg | postgres | helper | zerofs | s3) "$1" ;;
local-path) local_path ;;
*) die "usage: hack/images.sh operator|cnpg|postgres|local-path|helper|zerofs|s3|ceph-csi" ;;
esac
