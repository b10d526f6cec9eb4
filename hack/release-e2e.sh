#!/usr/bin/env bash
# Installs a release on a kind cluster by the commands of docs/install.md, as they stand.
# Usage: hack/release-e2e.sh NAME. A stand-in answers for the hosts that the page names, and the
# nodes pull from it. KEEP=1 keeps the cluster.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
NAME=${1:?usage: hack/release-e2e.sh NAME}
VERSION=v0.1.0
OUT=$CACHE/e2e-install/dist
SITE=$CACHE/e2e-install/site
# The page's plugin is for Linux on amd64, and kind's nodes are of this machine's kind.
export OUT DRY_RUN=1 PLUGIN_PLATFORMS=linux/amd64 PLATFORMS=linux/amd64

finish() {
	[ -z "${STAND_IN_PID:-}" ] || kill "$STAND_IN_PID" 2>/dev/null || true
	[ -n "${KEEP:-}" ] || "$REPO/hack/cluster.sh" down "$NAME"
}

# address of this machine on the network of kind's nodes.
address() { docker network inspect kind -f '{{range .IPAM.Config}}{{println .Gateway}}{{end}}' | grep -m1 -F .; }

# site lays out the files of the hosts that the page names.
site() {
	local github=$SITE/hosts/github.com/pgstorage/pgstorage/releases raw source
	rm -rf "$SITE"
	mkdir -p "$github/download" "$github/latest" "$SITE/home"
	ln -s "$OUT/assets" "$github/download/$VERSION"
	ln -s "$OUT/assets" "$github/latest/download"
	source=$(module_dir github.com/cloudnative-pg/cloudnative-pg "$CNPG_VERSION")
	raw=$SITE/hosts/raw.githubusercontent.com/cloudnative-pg/cloudnative-pg/release-$(cut -d. -f1,2 <<<"${CNPG_VERSION#v}")
	mkdir -p "$raw"
	ln -s "$source/releases" "$raw/releases"
}

stand_in() {
	"$OUT/work/release" stand-in "$(address)" "$SITE" >"$LOGS/stand-in.log" 2>&1 8>&- 9>&- &
	STAND_IN_PID=$!
	until_ok 30 "the stand-in (see $LOGS/stand-in.log)" test -e "$SITE/env"
}

# serve IMAGE REFERENCE: puts an image of Docker into the stand-in's registry.
serve() {
	docker image inspect "$1" >/dev/null 2>&1 || timeout 600 docker pull "$1"
	docker save "$1" -o "$SITE/image.tar"
	there "$OUT/work/release" load "$SITE/image.tar" "$2"
	rm "$SITE/image.tar"
}

# trust has the nodes pull images of ghcr.io from the stand-in.
trust() {
	local node endpoint config=/etc/containerd/config.toml
	endpoint=https://$(there printenv STAND_IN)
	for node in $(kind get nodes --name "$NAME"); do
		docker exec "$node" mkdir -p /etc/containerd/certs.d/ghcr.io
		docker exec -i "$node" cp /dev/stdin /etc/containerd/certs.d/ghcr.io/ca.crt <"$SITE/ca.crt"
		docker exec -i "$node" cp /dev/stdin /etc/containerd/certs.d/ghcr.io/hosts.toml <<-HOSTS
			server = "$endpoint"
			[host."$endpoint"]
			  capabilities = ["pull", "resolve"]
			  ca = "/etc/containerd/certs.d/ghcr.io/ca.crt"
		HOSTS
		docker exec "$node" grep -q config_path "$config" && continue
		docker exec "$node" sh -c "printf '[plugins.\"io.containerd.grpc.v1.cri\".registry]\n  config_path = \"/etc/containerd/certs.d\"\n' >>$config && systemctl restart containerd"
	done
	timeout 100 kubectl wait --for=condition=Ready node --all --timeout=90s
}

# bare removes the CloudNativePG of hack/cluster.sh: the page installs its own.
bare() {
	timeout 180 kubectl delete --wait -f "$SITE/hosts/raw.githubusercontent.com/cloudnative-pg/cloudnative-pg/release-$(cut -d. -f1,2 <<<"${CNPG_VERSION#v}")/releases/cnpg-${CNPG_VERSION#v}.yaml"
}

# there COMMAND...: runs a command with the variables that lead it to the stand-in.
there() { (
	# shellcheck source=/dev/null
	source "$SITE/env"
	"$@"
); }

HELM=$("$REPO/hack/tools.sh" helm)
"$REPO/hack/release.sh" build "$VERSION"
trap finish EXIT
trap 'exit 130' INT TERM
"$REPO/hack/cluster.sh" up "$NAME"
eval "$("$REPO/hack/cluster.sh" env "$NAME")"
cnpg=$("$REPO/hack/images.sh" cnpg)
postgres=$("$REPO/hack/images.sh" postgres)
site
stand_in
serve "$cnpg" "ghcr.io/cloudnative-pg/cloudnative-pg:${CNPG_VERSION#v}"
serve "$postgres" "ghcr.io/cloudnative-pg/postgresql:$POSTGRES_MAJOR"
there "$REPO/hack/release.sh" publish "$VERSION"
trust
bare
PGSTORAGE_RELEASED=ghcr.io/pgstorage/pgstorage:$VERSION@$("$OUT/work/release" digest "$OUT/image")
export PGSTORAGE_RELEASED
cd "$REPO" || exit
go test -c -tags e2einstall -o "$CACHE/e2e-install/page.test" ./test/release
cd "$REPO/test/release" || exit
HOME=$SITE/home PATH=$(dirname "$HELM"):$PATH there "$CACHE/e2e-install/page.test" -test.v -test.timeout 14m
