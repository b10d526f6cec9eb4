#!/usr/bin/env bash
# Plays the program that it is named after; see demo_test.go.
set -euo pipefail
name=${0##*/}
echo "$name $*" >>"$STAND_IN/calls"

# value_of FLAG ARGUMENT...: what follows a flag.
value_of() {
	local flag=$1
	shift
	while [ "$1" != "$flag" ]; do shift; done
	echo "$2"
}

play_go() {
	local folder
	case $1 in
	build)
		folder=$(value_of -o "$@")
		for program in manager agent bench site kubectl-pgstorage; do install -m755 /dev/null "$folder/$program"; done
		;;
	mod)
		mkdir -p "$STAND_IN/module/releases"
		echo "  image: ghcr.io/cloudnative-pg/cloudnative-pg:1.30.0" >"$STAND_IN/module/releases/cnpg-1.30.0.yaml"
		printf '\t"Dir": "%s",\n' "$STAND_IN/module"
		;;
	esac
}

play_docker() {
	case "$1 ${2:-}" in
	"image inspect") exit 1 ;;
	"import "*) cat >/dev/null ;;
	esac
}

play_kind() {
	case "$1 ${2:-}" in
	"create cluster")
		touch "$STAND_IN/nodes"
		echo "a cluster" >"$KUBECONFIG"
		: >"$STAND_IN/applied"
		;;
	"get nodes") [ ! -e "$STAND_IN/nodes" ] || echo pgstorage-demo-control-plane ;;
	esac
}

play_kubectl() {
	case "$*" in
	pgstorage*) echo "ran: $*" ;;
	kustomize*) printf '  image: ghcr.io/pgstorage/pgstorage:v0.1.0\n  - --postgres-image-repository=ghcr.io/other/postgresql\n' ;;
	*" -f -") cat >>"$STAND_IN/applied" ;;
	*jsonpath*benchmark.name*) echo demo-abc ;;
	*jsonpath*phase*) echo Succeeded ;;
	"get pgsc demo -o json") echo '{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}}' ;;
	"get pgb demo-abc -o json") echo '{"status":{"phase":"Succeeded"}}' ;;
	esac
}

case $name in
go | docker | kind | kubectl) "play_$name" "$@" ;;
dpkg-query) echo "install ok installed" ;;
esac
