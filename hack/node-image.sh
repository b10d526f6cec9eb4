#!/usr/bin/env bash
# The image of a kind node, for where kind's own cannot be pulled: Debian, the
# programs of hack/kubernetes.sh and kind's own node files, with the images of
# the control plane in its containerd. Prints the image's name.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

# The last number changes with this file.
IMAGE=pgstorage.local/node:$KUBERNETES_VERSION-3
eval "$("$REPO/hack/docker.sh" env)"

alone node-image
if docker image inspect "$IMAGE" >/dev/null 2>&1; then
	echo "$IMAGE"
	exit 0
fi

CONTROL=$("$REPO/hack/kubernetes.sh" control)
PROGRAMS=$("$REPO/hack/kubernetes.sh" node)
RUNC=$("$REPO/hack/kubernetes.sh" runc)
ROOTFS=$("$REPO/hack/rootfs.sh" node)
rm -rf "$CACHE"/node-image.???? # of a run that was interrupted
WORK=$(mktemp -d "$CACHE/node-image.XXXX")
trap 'rm -rf "$WORK"' EXIT

# program_image NAME TAG FILE: an image that holds one static program.
program_image() {
	mkdir -p "$WORK/$1/usr/local/bin"
	cp "$3" "$WORK/$1/usr/local/bin/$1"
	import_image "$1" "$2"
}
import_image() {
	tar -C "$WORK/$1" --owner=0 --group=0 -c . |
		docker import --change "ENTRYPOINT [\"/usr/local/bin/$1\"]" - "registry.k8s.io/$2"
}

# kube-proxy runs iptables, so its image holds that with every extension.
kube_proxy_root() {
	local d=$WORK/kube-proxy lib n
	mkdir -p "$d"/{usr/sbin,usr/lib/x86_64-linux-gnu,usr/lib64,tmp,run,etc}
	ln -s usr/lib "$d/lib"
	ln -s usr/lib64 "$d/lib64"
	cp -a "$ROOTFS/usr/lib/x86_64-linux-gnu/xtables" "$d/usr/lib/x86_64-linux-gnu/"
	cp "$ROOTFS"/usr/sbin/{xtables-nft-multi,nft,conntrack} "$d/usr/sbin/"
	chroot "$ROOTFS" sh -c 'ldd /usr/sbin/xtables-nft-multi /usr/sbin/nft /usr/sbin/conntrack /usr/lib/x86_64-linux-gnu/xtables/*.so' |
		grep -oE '/[^ ]*\.so[^ ]* \(' | tr -d ' (' | sort -u |
		while read -r lib; do [ -e "$d$lib" ] || cp -L "$ROOTFS$lib" "$d$lib"; done
	for n in ip{,6}tables{,-save,-restore}; do ln -s xtables-nft-multi "$d/usr/sbin/$n"; done
}

control_plane_images() {
	local c source
	kube_proxy_root
	program_image kube-proxy "kube-proxy:$KUBERNETES_VERSION" "$PROGRAMS/kube-proxy"
	program_image kube-apiserver "kube-apiserver:$KUBERNETES_VERSION" "$CONTROL/kube-apiserver"
	for c in kube-controller-manager kube-scheduler; do
		program_image $c "$c:$KUBERNETES_VERSION" "$PROGRAMS/$c"
	done
	program_image etcd "etcd:$ETCD_IMAGE_TAG" "$CONTROL/etcd"
	program_image coredns "coredns/coredns:$COREDNS_VERSION" "$PROGRAMS/coredns"
	source=$(module_dir k8s.io/kubernetes "$KUBERNETES_VERSION")
	gcc -Os -s -static -DVERSION="$PAUSE_VERSION" -o "$WORK/pause.bin" "$source/build/pause/linux/pause.c"
	program_image pause "pause:$PAUSE_VERSION" "$WORK/pause.bin"
	docker images --format '{{.Repository}}:{{.Tag}}' | grep '^registry.k8s.io/' | xargs docker save -o "$WORK/images.tar"
}

# node_root lays kind's own files and the programs over Debian.
node_root() {
	local n=$WORK/node files unit
	cp -a "$ROOTFS" "$n"
	files=$(module_dir sigs.k8s.io/kind "$KIND_VERSION")/images/base/files
	cp -r --no-preserve=mode "$files/etc/." "$n/etc/"
	cp -r --no-preserve=mode "$files/kind" "$n/"
	cp -r --no-preserve=mode "$files/usr/." "$n/usr/"
	chmod 0755 "$n"/usr/local/bin/* "$n/kind" "$n/kind/bin" "$n"/kind/bin/*
	install -m755 -t "$n/usr/local/bin" "$PROGRAMS"/{containerd,containerd-shim-runc-v2,ctr}
	install -m755 -t "$n/usr/local/sbin" "$RUNC/runc"
	install -D -m755 -t "$n/opt/cni/bin" "$PROGRAMS"/{host-local,loopback,ptp,portmap}
	install -m755 -t "$n/usr/bin" "$PROGRAMS"/{kubelet,kubeadm} "$CONTROL/kubectl"
	mkdir -p "$n"/{etc/kubernetes/manifests,kind/manifests,etc/cni/net.d}
	printf %s "$KUBERNETES_VERSION" >"$n/kind/version"
	echo ReadKMsg=no >>"$n/etc/systemd/journald.conf"
	for unit in sysinit.target.wants/systemd-tmpfiles-setup.service 'multi-user.target.wants/*' 'local-fs.target.wants/*' 'basic.target.wants/*' 'sockets.target.wants/*udev*' 'sockets.target.wants/*initctl*'; do
		# shellcheck disable=SC2086
		rm -f "$n"/lib/systemd/system/$unit
	done
	rm -f "$n"/etc/systemd/system/*.wants/*
	chroot "$n" systemctl -q enable kubelet containerd undo-mount-hacks
	chroot "$n" systemctl -q mask systemd-binfmt
	rm -rf "$n"/etc/{machine-id,hostname,resolv.conf}
	"$PROGRAMS/ctr" oci spec |
		jq '.hooks.createContainer += [{"path":"/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' >"$n/etc/containerd/cri-base.json"
	sed -i "s#/pause:[0-9.]*\"#/pause:$PAUSE_VERSION\"#" "$n/etc/containerd/config.toml"
	# hack/cluster.sh makes the StorageClass; kind wants a manifest here.
	printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: local-path-storage}\n' >"$n/kind/manifests/default-storage.yaml"
}

# preload imports the control plane's images into the node's own containerd.
preload() {
	local n=$WORK/node run=$RUN/preload pid
	rm -rf "$run"
	mkdir -p "$run"
	cat >"$run/config.toml" <<-CONFIG
		version = 3
		root = "$n/var/lib/containerd"
		state = "$run/state"
		disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.nri.v1.nri"]
		[grpc]
		address = "$run/c.sock"
	CONFIG
	"$PROGRAMS/containerd" --config "$run/config.toml" >"$LOGS/preload-containerd.log" 2>&1 8>&- &
	pid=$!
	until_ok 30 "containerd for the node image" "$PROGRAMS/ctr" -a "$run/c.sock" version
	timeout 300 "$PROGRAMS/ctr" -a "$run/c.sock" -n k8s.io images import --all-platforms --no-unpack --digests "$WORK/images.tar"
	kill "$pid"
	wait "$pid" || true
	rm -rf "$run"
}

build() {
	control_plane_images
	node_root
	preload
	tar -C "$WORK/node" --numeric-owner -c . |
		docker import --change 'ENV container=docker' --change 'STOPSIGNAL SIGRTMIN+3' \
			--change 'ENTRYPOINT ["/usr/local/bin/entrypoint","/sbin/init"]' - "$IMAGE"
}

packages gcc libc6-dev jq
logged build-node-image build
echo "$IMAGE"
