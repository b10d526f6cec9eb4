#!/usr/bin/env bash
# A kind cluster with CloudNativePG and a StorageClass. Usage:
#   hack/cluster.sh up NAME     makes it, or finishes what was interrupted
#   hack/cluster.sh env NAME    prints the variables to reach it (for eval)
#   hack/cluster.sh load NAME IMAGE...   brings images onto its nodes
#   hack/cluster.sh down NAME   removes it, and our Docker with the last one
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

NAME=${2:?usage: hack/cluster.sh up|env|load|down NAME}
KUBECONFIG=$RUN/$NAME.kubeconfig
export KUBECONFIG
POD_NET=10.244.0.0/16

tools() {
	eval "$("$REPO/hack/docker.sh" env)"
	PATH=$("$REPO/hack/kubernetes.sh" control):$PATH
	command -v kind >/dev/null || PATH=$("$REPO/hack/kubernetes.sh" node):$PATH
	export PATH
}

environment() {
	tools
	echo "export KUBECONFIG=$KUBECONFIG PATH=$PATH"
	"$REPO/hack/docker.sh" env
}

# prefetch overlaps what needs the network with what needs the processors.
prefetch() {
	published registry.k8s.io && published ghcr.io && return 0
	"$REPO/hack/rootfs.sh" node >/dev/null &
	local rootfs=$!
	"$REPO/hack/kubernetes.sh" control >/dev/null
	"$REPO/hack/kubernetes.sh" node >/dev/null
	wait "$rootfs"
}

kind_config() {
	cat <<-CONFIG
		kind: Cluster
		apiVersion: kind.x-k8s.io/v1alpha4
		nodes:
		- role: control-plane
	CONFIG
	[ -z "$1" ] || cat <<-CONFIG
		networking: {disableDefaultCNI: true, podSubnet: $POD_NET}
		kubeadmConfigPatches:
		- |
		  kind: KubeletConfiguration
		  failCgroupV1: false
		containerdConfigPatches:
		- |-
		  [plugins."io.containerd.grpc.v1.cri"]
		    restrict_oom_score_adj = true
	CONFIG
}

create() {
	local image=$1 config=$RUN/$NAME.kind.yaml
	kind_config "$image" >"$config"
	timeout 400 kind create cluster --name "$NAME" ${image:+--image "$image"} --config "$config" --retain
}

running() { kind get clusters 2>/dev/null | grep -qx "$NAME" && kubectl get --raw /readyz >/dev/null 2>&1; }

# network does what kind's own CNI would, on nodes that are built without it.
network() {
	local node ip cidr
	until_ok 60 "pod networks of the nodes" bash -c "kubectl get nodes -o jsonpath='{.items[*].spec.podCIDR}' | grep -q /"
	kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.status.addresses[0].address} {.spec.podCIDR}{"\n"}{end}' |
		while read -r node ip cidr; do
			docker exec -i "$node" sh -c 'cat >/etc/cni/net.d/10-pgstorage.conflist' <<-CONFLIST
				{"cniVersion":"1.0.0","name":"pgstorage","plugins":[{"type":"ptp","mtu":1500,"ipam":{"type":"host-local","dataDir":"/run/cni-ipam-state","routes":[{"dst":"0.0.0.0/0"}],"ranges":[[{"subnet":"$cidr"}]]}},{"type":"portmap","capabilities":{"portMappings":true}}]}
			CONFLIST
			docker exec "$node" sh -c "iptables -t nat -C POSTROUTING -s $POD_NET ! -d $POD_NET -j MASQUERADE 2>/dev/null || iptables -t nat -A POSTROUTING -s $POD_NET ! -d $POD_NET -j MASQUERADE" </dev/null
		done
}

load() {
	local image
	for image in "$@"; do
		docker exec "$NAME-control-plane" ctr -n k8s.io images ls -q 2>/dev/null | grep -qxF "$image" && continue
		docker exec "$NAME-control-plane" ctr -n k8s.io images ls -q 2>/dev/null | grep -qxF "docker.io/$image" && continue
		logged "load-$(tr '/:' '--' <<<"$image")" timeout 300 kind load docker-image --name "$NAME" "$image"
	done
}

storage_class() {
	kubectl get storageclass standard >/dev/null 2>&1 && return 0
	local provisioner helper
	provisioner=$("$REPO/hack/images.sh" local-path)
	helper=$("$REPO/hack/images.sh" helper)
	load "$provisioner" "$helper"
	sed "s#LOCAL_PATH_IMAGE#$provisioner#; s#HELPER_IMAGE#$helper#" "$REPO/hack/kind/local-path.yaml" | kubectl apply --server-side -f - >/dev/null
}

cloudnative_pg() {
	local image manifest
	image=$("$REPO/hack/images.sh" cnpg)
	load "$image" "$("$REPO/hack/images.sh" postgres)"
	manifest=$(module_dir github.com/cloudnative-pg/cloudnative-pg "$CNPG_VERSION")/releases/cnpg-${CNPG_VERSION#v}.yaml
	sed -E "s#ghcr.io/cloudnative-pg/cloudnative-pg:[^ \"]+#$image#; s#imagePullPolicy: Always#imagePullPolicy: IfNotPresent#" "$manifest" |
		kubectl apply --server-side --force-conflicts -f - >/dev/null
	timeout 200 kubectl -n cnpg-system rollout status deployment/cnpg-controller-manager --timeout=180s
}

up() {
	prefetch
	"$REPO/hack/docker.sh" start
	tools
	local image=
	published registry.k8s.io || image=$("$REPO/hack/node-image.sh")
	if ! running; then
		kind delete cluster --name "$NAME" >/dev/null 2>&1 || true
		logged "create-$NAME" create "$image"
	fi
	[ -z "$image" ] || logged "network-$NAME" network
	logged "nodes-$NAME" timeout 200 kubectl wait --for=condition=Ready node --all --timeout=180s
	logged "system-$NAME" timeout 200 kubectl -n kube-system wait --for=condition=Ready pod --all --timeout=180s
	storage_class
	logged "cloudnative-pg-$NAME" cloudnative_pg
	say "cluster $NAME is up after ${SECONDS}s"
}

down() {
	if [ -S "$RUN/docker.sock" ] || command -v docker >/dev/null; then
		tools
		timeout 120 kind delete cluster --name "$NAME" >/dev/null 2>&1 || true
		[ -n "$(kind get clusters 2>/dev/null)" ] || "$REPO/hack/docker.sh" stop
	fi
	rm -f "$KUBECONFIG" "$RUN/$NAME.kind.yaml"
	say "cluster $NAME is gone"
}

case $1 in
up) up ;;
env) environment ;;
load) tools && load "${@:3}" ;;
down) down ;;
*) die "usage: hack/cluster.sh up|env|load|down NAME" ;;
esac
