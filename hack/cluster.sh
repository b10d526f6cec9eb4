#!/usr/bin/env bash
# A kind cluster with CloudNativePG and a StorageClass. Usage:
#   hack/cluster.sh up NAME [--workers N] [--beside SET]
#       makes it, or finishes what was interrupted; meanwhile it prepares a SET of
#       hack/prefetch.sh
#   hack/cluster.sh env NAME    prints the variables to reach it (for eval)
#   hack/cluster.sh load NAME IMAGE...   brings images onto its nodes
#   hack/cluster.sh network NAME   restores its routes after a node was started again
#   hack/cluster.sh down NAME   removes it, and our Docker with the last one
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

NAME=${2:?usage: hack/cluster.sh up|env|load|network|down NAME}
KUBECONFIG=$RUN/$NAME.kubeconfig
export KUBECONFIG
POD_NET=10.244.0.0/16
WORKERS=0
BESIDE=
# What is copied out of this cluster's nodes.
BIN=$RUN/$NAME.bin

# tools adds Docker, kind and kubectl to the PATH. kind is the pinned one where the
# nodes are built here, because their image holds files of it.
tools() {
	local programs
	eval "$("$REPO/hack/docker.sh" env)"
	if ! published registry-1.docker.io || ! command -v kind >/dev/null; then
		programs=$("$REPO/hack/kubernetes.sh" kind)
		PATH=$programs:$PATH
	fi
	PATH=$PATH:$BIN
	export PATH
}

# kubectl_of_node copies kubectl out of a node where this machine has none.
kubectl_of_node() {
	command -v kubectl >/dev/null && return 0
	mkdir -p "$BIN"
	docker cp "$(node_names | head -n1):/usr/bin/kubectl" "$BIN/kubectl.part" >/dev/null
	mv "$BIN/kubectl.part" "$BIN/kubectl"
}

environment() {
	tools
	kubectl_of_node
	echo "export KUBECONFIG=$KUBECONFIG PATH=$PATH"
	"$REPO/hack/docker.sh" env
}

# kind_config OWN-NODE-IMAGE: what nodes built here need is said only for them. Their etcd does not
# wait for the disk, which databases under test use; a cluster does not outlive its machine.
kind_config() {
	local i
	cat <<-CONFIG
		kind: Cluster
		apiVersion: kind.x-k8s.io/v1alpha4
		nodes:
		- role: control-plane
	CONFIG
	for ((i = 0; i < WORKERS; i++)); do echo "- role: worker"; done
	[ -z "$1" ] || cat <<-CONFIG
		networking: {disableDefaultCNI: true, podSubnet: $POD_NET}
		kubeadmConfigPatches:
		- |
		  kind: KubeletConfiguration
		  failCgroupV1: false
		- |
		  kind: ClusterConfiguration
		  etcd: {local: {extraArgs: [{name: unsafe-no-fsync, value: "true"}]}}
		containerdConfigPatches:
		- |-
		  [plugins."io.containerd.grpc.v1.cri"]
		    restrict_oom_score_adj = true
	CONFIG
}

create() {
	local image=$1 config=$RUN/$NAME.kind.yaml
	kind_config "$image" >"$config"
	timeout 600 kind create cluster --name "$NAME" ${image:+--image "$image"} --config "$config" --retain
}

node_names() { timeout 20 kind get nodes --name "$NAME" 2>/dev/null; }

api_answers() { kubectl get --raw /readyz --request-timeout=5s >/dev/null 2>&1; }

# running: is there a whole cluster? Its containers may have been stopped. kind
# writes the kubeconfig last, so one that was interrupted has none.
running() {
	local nodes i
	nodes=$(node_names)
	[ -n "$nodes" ] && [ -s "$KUBECONFIG" ] || return 1
	kubectl_of_node || return 1
	api_answers && return 0
	say "the cluster is there but does not answer; starting its nodes, waiting 90s"
	# shellcheck disable=SC2086 # one word a node
	timeout 60 docker start $nodes >/dev/null || return 1
	for ((i = 0; i < 60; i++)); do
		api_answers && return 0
		sleep 1.5
	done
	return 1
}

node_networks() {
	kubectl get nodes --request-timeout=10s \
		-o jsonpath='{range .items[*]}{.metadata.name} {.status.addresses[?(@.type=="InternalIP")].address} {.spec.podCIDR}{"\n"}{end}'
}

# all_networks: has every node been given its pod network?
all_networks() { node_networks | awk 'NF < 3 {missing = 1} END {exit missing || NR == 0}'; }

# network does what kind's own CNI would, on nodes that are built without it. It
# is also run again, because a restart of a node's container takes its routes.
network() {
	local networks node ip cidr other
	until_ok 60 "pod networks of the nodes" all_networks
	networks=$(node_networks)
	while read -r node _ cidr; do
		docker exec -i "$node" sh -c 'cat >/etc/cni/net.d/10-pgstorage.conflist' <<-CONFLIST
			{"cniVersion":"1.0.0","name":"pgstorage","plugins":[{"type":"ptp","mtu":1500,"ipam":{"type":"host-local","dataDir":"/run/cni-ipam-state","routes":[{"dst":"0.0.0.0/0"}],"ranges":[[{"subnet":"$cidr"}]]}},{"type":"portmap","capabilities":{"portMappings":true}}]}
		CONFLIST
		docker exec "$node" sh -c "iptables -t nat -C POSTROUTING -s $POD_NET ! -d $POD_NET -j MASQUERADE 2>/dev/null || iptables -t nat -A POSTROUTING -s $POD_NET ! -d $POD_NET -j MASQUERADE" </dev/null
		while read -r other ip cidr; do
			[ "$other" = "$node" ] || docker exec "$node" ip route replace "$cidr" via "$ip" </dev/null
		done <<<"$networks"
	done <<<"$networks"
}

# on_every_node IMAGE: is it there already?
on_every_node() {
	local node
	for node in $(node_names); do
		docker exec "$node" ctr -n k8s.io images ls -q 2>/dev/null | grep -xF -e "$1" -e "docker.io/$1" >/dev/null || return 1
	done
}

# load brings images of ours onto the nodes, all at once because they share files; others
# are pulled by the nodes.
load() {
	local image missing=()
	for image in "$@"; do
		case $image in pgstorage.local/*) ;; *) continue ;; esac
		on_every_node "$image" || missing+=("$image")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	logged "load-$(tr '/:' '--' <<<"${missing[0]}")" timeout 600 kind load docker-image --name "$NAME" "${missing[@]}"
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
	local image postgres manifest
	image=$("$REPO/hack/images.sh" cnpg)
	postgres=$("$REPO/hack/images.sh" postgres)
	load "$image" "$postgres"
	manifest=$(module_dir github.com/cloudnative-pg/cloudnative-pg "$CNPG_VERSION")/releases/cnpg-${CNPG_VERSION#v}.yaml
	sed -E "s#ghcr.io/cloudnative-pg/cloudnative-pg:[^ \"]+#$image#; s#imagePullPolicy: Always#imagePullPolicy: IfNotPresent#" "$manifest" |
		kubectl apply --server-side --force-conflicts -f - >/dev/null
	timeout 320 kubectl -n cnpg-system rollout status deployment/cnpg-controller-manager --timeout=300s
}

# prepare what nodes need now, and what pods need while the nodes start. Whatever
# needs the latter waits for it, or makes it itself.
prepare() {
	"$REPO/hack/prefetch.sh" nodes
	detail "what the nodes need is prepared after ${SECONDS}s"
	set -m # a process group, to end it whole
	# shellcheck disable=SC2086 # at most one word
	"$REPO/hack/prefetch.sh" pods $BESIDE 8>&- &
	BESIDE_PID=$!
	set +m
	trap 'kill -- "-$BESIDE_PID" 2>/dev/null || true' EXIT
}

up() {
	alone "cluster-$NAME"
	packages curl ca-certificates
	local image=
	# Asked here, once for all scripts that this one calls.
	published registry-1.docker.io || true
	published ghcr.io || true
	prepare
	"$REPO/hack/docker.sh" start
	tools
	published registry-1.docker.io || image=$("$REPO/hack/node-image.sh")
	if ! running; then
		timeout 120 kind delete cluster --name "$NAME" >/dev/null 2>&1 || true
		rm -f "$KUBECONFIG"
		logged "create-$NAME" create "$image"
		kubectl_of_node
	fi
	[ -z "$image" ] || logged "network-$NAME" network
	logged "nodes-$NAME" timeout 200 kubectl wait --for=condition=Ready node --all --timeout=180s
	logged "system-$NAME" timeout 200 kubectl -n kube-system wait --for=condition=Ready pod --all --timeout=180s
	storage_class
	logged "cloudnative-pg-$NAME" cloudnative_pg
	wait "$BESIDE_PID" || die "what was prepared beside the cluster failed; its log is in $LOGS"
	say "cluster $NAME is up after ${SECONDS}s"
}

# containers of kind clusters: of one by its name, or of all. It fails when
# Docker does not answer, which is not the same as having none.
containers() { timeout 30 docker ps -aq --filter "label=io.x-k8s.kind.cluster${1:+=$1}"; }

down() {
	alone "cluster-$NAME"
	local reach mine rest=
	reach=$("$REPO/hack/docker.sh" env)
	eval "$reach"
	if mine=$(containers "$NAME" 2>/dev/null); then
		# shellcheck disable=SC2086 # one word a container
		[ -z "$mine" ] || timeout 120 docker rm -f -v $mine >/dev/null
		rest=$(containers)
	elif [ -n "$reach" ]; then
		die "our Docker does not answer; hack/docker.sh stop ends it with every cluster on it"
	fi
	[ -n "$rest" ] || "$REPO/hack/docker.sh" stop
	rm -rf "$KUBECONFIG" "$RUN/$NAME.kind.yaml" "$BIN"
	say "cluster $NAME is gone"
}

case $1 in
up)
	set -- "${@:3}"
	while [ $# -gt 0 ]; do
		case $1 in
		--workers) WORKERS=${2:?--workers needs a number} ;;
		--beside) BESIDE=${2:?--beside needs a set of hack/prefetch.sh} ;;
		*) die "unknown option $1" ;;
		esac
		shift 2
	done
	up
	;;
env) environment ;;
load)
	tools
	load "${@:3}"
	;;
network)
	tools
	network
	;;
down) down ;;
*) die "usage: hack/cluster.sh up|env|load|network|down NAME" ;;
esac
