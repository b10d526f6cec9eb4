#!/usr/bin/env bash
# Builds Kubernetes, etcd and what a node runs from their Go modules, each once
# per version, and prints the folder. Usage: hack/kubernetes.sh WHAT
#   control   kube-apiserver, etcd, kubectl
#   node      what a kind node and its own pods run
#   kind      kind itself
#   runc      for a Docker of our own
#   cnpg      the image root of CloudNativePG
#   cnpg-modules   only downloads its modules
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

CONTROL=$CACHE/kubernetes/$KUBERNETES_VERSION-etcd-$ETCD_VERSION
NODE=$CACHE/kubernetes/$KUBERNETES_VERSION-node-$CONTAINERD_VERSION-$CNI_VERSION-$COREDNS_VERSION-$LOCAL_PATH_VERSION
KIND=$CACHE/kubernetes/kind-$KIND_VERSION
RUNC=$CACHE/kubernetes/runc-$RUNC_VERSION
CNPG=$CACHE/cnpg/$CNPG_VERSION
# The same flags everywhere: what programs have in common, the standard library
# first, is compiled once.
export CGO_ENABLED=0 GOFLAGS="$GOFLAGS -buildvcs=false"

# wrapper DIR MODULE VERSION: a module that requires another one whose go.mod has
# replace lines, which `go install` refuses. FILE of more lines is optional.
wrapper() {
	mkdir -p "$1"
	{
		printf 'module pgstorage.dev/build\n\ngo 1.26\n\nrequire %s %s\n' "$2" "$3"
		[ -z "${4:-}" ] || cat "$4"
	} >"$1/go.mod"
}

# shared_client prints requirements of the client that Kubernetes itself has, so that
# it is compiled once for all programs.
shared_client() {
	printf 'require k8s.io/%s %s\n' api "$KUBERNETES_STAGING_VERSION" apimachinery "$KUBERNETES_STAGING_VERSION" client-go "$KUBERNETES_STAGING_VERSION"
}

# build_in DIR OUT PACKAGE...: builds packages of a wrapper's module.
build_in() {
	local dir=$1 out=$2 p
	shift 2
	mkdir -p "$out"
	{
		printf '//go:build tools\n\npackage build\n\nimport (\n'
		for p in "$@"; do printf '\t_ "%s"\n' "$p"; done
		printf ')\n'
	} >"$dir/tools.go"
	(cd "$dir" && go build -mod=mod -ldflags "-s -w ${LDFLAGS:-}" -o "$out/" "$@")
}

kubernetes_wrapper() {
	local dir=$1 source
	source=$(module_dir k8s.io/kubernetes "$KUBERNETES_VERSION")
	{
		echo 'replace ('
		sed -nE "s#^[[:space:]]*(k8s.io/[a-z0-9-]+) => \./staging.*#\t\1 => \1 $KUBERNETES_STAGING_VERSION#p" "$source/go.mod"
		echo ')'
	} >"$dir.replace"
	wrapper "$dir" k8s.io/kubernetes "$KUBERNETES_VERSION" "$dir.replace"
}

# kubernetes OUT COMMAND...: builds commands of Kubernetes with their version.
kubernetes() {
	local out=$1 work minor v=k8s.io/component-base/version
	shift
	work=$(mktemp -d)
	minor=$(cut -d. -f2 <<<"$KUBERNETES_VERSION")
	kubernetes_wrapper "$work/kubernetes"
	LDFLAGS="-X $v.gitVersion=$KUBERNETES_VERSION -X $v.gitMajor=1 -X $v.gitMinor=$minor" \
		build_in "$work/kubernetes" "$out" "${@/#/k8s.io/kubernetes/cmd/}"
	rm -rf "$work"
}

control() {
	local work
	kubernetes "$1" kube-apiserver kubectl
	work=$(mktemp -d)
	wrapper "$work" go.etcd.io/etcd/server/v3 "$ETCD_VERSION"
	build_in "$work" "$1" go.etcd.io/etcd/server/v3
	# Go names the program after the module's last folder, without its version.
	mv "$1/server" "$1/etcd"
	rm -rf "$work"
}

# coredns has the plugins of kubeadm's Corefile alone: those of the clouds are 560
# packages more, and no test asks them.
coredns() {
	local work plugin module=github.com/coredns/coredns
	work=$(mktemp -d)
	wrapper "$work" "$module" "$COREDNS_VERSION" <(shared_client)
	mkdir "$work/coredns"
	{
		printf 'package main\n\nimport (\n\t"%s/coremain"\n' "$module"
		for plugin in errors health ready kubernetes metrics forward cache loop reload loadbalance; do
			printf '\t_ "%s/plugin/%s"\n' "$module" "$plugin"
		done
		printf ')\n\nfunc main() { coremain.Run() }\n'
	} >"$work/coredns/main.go"
	(cd "$work" && go build -mod=mod -ldflags "-s -w" -o "$1/" ./coredns)
	rm -rf "$work"
}

install_go() { GOBIN=$1 go install -ldflags "-s -w" "${@:2}"; }

node() {
	local work
	kubernetes "$1" kubelet kubeadm kube-controller-manager kube-scheduler kube-proxy
	coredns "$1"
	work=$(mktemp -d)
	wrapper "$work" github.com/rancher/local-path-provisioner "$LOCAL_PATH_VERSION" <(shared_client)
	build_in "$work" "$1" github.com/rancher/local-path-provisioner
	rm -rf "$work"
	local p=github.com/containernetworking/plugins/plugins
	install_go "$1" "$p/ipam/host-local@$CNI_VERSION" "$p/main/loopback@$CNI_VERSION" "$p/main/ptp@$CNI_VERSION" "$p/meta/portmap@$CNI_VERSION"
	p=github.com/containerd/containerd/v2/cmd
	install_go "$1" -tags "no_aufs no_zfs no_btrfs no_devmapper" \
		"$p/containerd@$CONTAINERD_VERSION" "$p/containerd-shim-runc-v2@$CONTAINERD_VERSION" "$p/ctr@$CONTAINERD_VERSION"
}

kind() { install_go "$1" "sigs.k8s.io/kind@$KIND_VERSION"; }

# runc must have seccomp, so it is the one program that needs a C library; the
# headers are unpacked beside the system.
runc() {
	local lib
	lib=$(mktemp -d)
	(cd "$lib" && timeout 120 apt-get -qq download libseccomp-dev libseccomp2 && for d in ./*.deb; do dpkg -x "$d" root; done)
	PKG_CONFIG_SYSROOT_DIR=$lib/root PKG_CONFIG_PATH=$lib/root/usr/lib/x86_64-linux-gnu/pkgconfig \
		CGO_LDFLAGS="-L$lib/root/usr/lib/x86_64-linux-gnu" CGO_ENABLED=1 GOBIN=$1 \
		go install -tags "seccomp netgo osusergo" -ldflags "-s -w -linkmode external -extldflags -static" \
		"github.com/opencontainers/runc@$RUNC_VERSION"
	rm -rf "$lib"
}

# cnpg_build FLAG...: CloudNativePG with the modules of this repository, which requires it. So it
# is compiled once for the image, the programs and the tests.
cnpg_build() {
	local work
	work=$(mktemp -d)
	cp "$REPO/go.mod" "$REPO/go.sum" "$work"
	go "$1" -C "$work" -mod=mod "${@:2}" github.com/cloudnative-pg/cloudnative-pg/cmd/manager
	rm -rf "$work"
}

cnpg_modules() { cnpg_build list -deps; }

# CloudNativePG's own image has the program under both names.
cnpg() {
	mkdir -p "$1/operator"
	cnpg_build build -o "$1/operator/manager_amd64" \
		-ldflags "-s -w -X github.com/cloudnative-pg/cloudnative-pg/pkg/versions.buildVersion=${CNPG_VERSION#v}"
	ln -s operator/manager_amd64 "$1/manager"
}

command -v go >/dev/null || die "needed: Go, the version in go.mod"
case ${1:-} in
control)
	cached build-kubernetes-control "$CONTROL" control
	echo "$CONTROL"
	;;
node)
	cached build-kubernetes-node "$NODE" node
	echo "$NODE"
	;;
kind)
	cached build-kind "$KIND" kind
	echo "$KIND"
	;;
runc)
	packages gcc libc6-dev pkg-config
	cached build-runc "$RUNC" runc
	echo "$RUNC"
	;;
cnpg)
	cached build-cnpg "$CNPG" cnpg
	echo "$CNPG"
	;;
cnpg-modules) [ -e "$CNPG" ] || logged modules-cnpg cnpg_modules ;;
*) die "usage: hack/kubernetes.sh control|node|kind|runc|cnpg|cnpg-modules" ;;
esac
