#!/usr/bin/env bash
# The main job, from nothing: a Kubernetes cluster, the operator by Helm, a
# declared Postgres on a StorageClass, and its benchmark. Usage: up|down
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

NAME=pgstorage-demo
DEMO=demo

# watch_until SECONDS TYPE NAME JQ-CONDITION JQ-MESSAGE: waits for an object and
# prints its message whenever it changes.
watch_until() {
	local limit=$1 kind=$2 name=$3 done=$4 message=$5 end=$((SECONDS + $1)) object now last=
	while [ $SECONDS -lt $end ]; do
		object=$(kubectl get "$kind" "$name" -o json 2>/dev/null || echo '{}')
		now=$(jq -r "$message" <<<"$object")
		[ "$now" = "$last" ] || say "    $kind/$name: $now"
		last=$now
		[ "$(jq -r "$done" <<<"$object")" = true ] && return 0
		sleep 1
	done
	kubectl describe "$kind" "$name" >&2 || true
	die "waited ${limit}s for $kind/$name"
}

ready='[.status.conditions[]? | select(.type=="Ready")][0]'

install_operator() {
	local image=$1 repository=$2
	"$("$REPO/hack/tools.sh" helm)" upgrade --install pgstorage "$REPO/charts/pgstorage" \
		--namespace pgstorage-system --create-namespace --wait --timeout 3m \
		--set "image.repository=${image%:*}" --set "image.tag=${image##*:}" --set "postgres.imageRepository=$repository"
}

# sql IMAGE TEXT: psql in the Postgres image, through the -rw Service, as the owner.
sql() {
	local pod=psql-$RANDOM image=$1
	shift
	kubectl run "$pod" --image="$image" --restart=Never \
		--overrides "$(jq -n --arg sql "$*" --arg image "$image" --arg host "$DEMO-rw" --arg secret "$DEMO-app" '{spec:{containers:[{name:"psql",image:$image,
			command:["psql","-v","ON_ERROR_STOP=1","-X","-c",$sql],
			env:[{name:"PGHOST",value:$host},{name:"PGSSLMODE",value:"require"},
				{name:"PGUSER",valueFrom:{secretKeyRef:{name:$secret,key:"username"}}},
				{name:"PGPASSWORD",valueFrom:{secretKeyRef:{name:$secret,key:"password"}}},
				{name:"PGDATABASE",valueFrom:{secretKeyRef:{name:$secret,key:"dbname"}}}]}]}}')" >/dev/null
	kubectl wait pod "$pod" --for=jsonpath='{.status.phase}'=Succeeded --timeout=60s >/dev/null || {
		kubectl logs "$pod" >&2
		die "psql failed"
	}
	kubectl logs "$pod"
	kubectl delete pod "$pod" --wait=false >/dev/null
}

table() { column -t -s $'\t' -N "$1"; }

parameters() {
	kubectl get pgsc "$DEMO" -o json | jq -r '.status.parameters[] | [.name, .value, .source, .reason] | @tsv' |
		table 'PARAMETER,VALUE,SOURCE,REASON'
}

result() {
	kubectl get pgb "$1" -o json | jq -r '.status.durability as $tier | (.spec.pgbench.script // "TPCB") as $script | .status.run.results[] |
		[$script, .clients, .tps, .latencyAverage, .latencyStddev, .latencyP50, .latencyP95, .latencyP99, .failed, $tier] | @tsv' |
		table 'SCRIPT,CLIENTS,TPS,AVG ms,STDDEV ms,P50 ms,P95 ms,P99 ms,FAILED,DURABILITY'
	kubectl get pgb "$1" -o json | jq -r '.status.run.integrity[]? | "integrity: \(.name): \(.result) \(.message // "")"'
}

up() {
	packages jq bsdextrautils
	"$REPO/hack/cluster.sh" up "$NAME"
	eval "$("$REPO/hack/cluster.sh" env "$NAME")"
	local operator postgres benchmark
	operator=$("$REPO/hack/images.sh" operator)
	postgres=$("$REPO/hack/images.sh" postgres)
	"$REPO/hack/cluster.sh" load "$NAME" "$operator" "$postgres"
	logged helm-install install_operator "$operator" "${postgres%:*}"
	say "==> kubectl apply -k config/samples"
	kubectl apply -k "$REPO/config/samples"
	watch_until 300 pgsc "$DEMO" "$ready.status == \"True\" and $ready.observedGeneration == .metadata.generation" "$ready | \"\(.status // \"Unknown\") \(.reason // \"\"): \(.message // \"not looked at yet\")\""
	kubectl get pgsp,pgsc
	say "==> a row through the -rw Service"
	sql "$postgres" "CREATE TABLE IF NOT EXISTS greeting (at timestamptz DEFAULT now(), text text); INSERT INTO greeting (text) VALUES ('written through $DEMO-rw')"
	sql "$postgres" "SELECT at, text FROM greeting ORDER BY at DESC LIMIT 1"
	say "==> parameters, and why"
	parameters
	benchmark=$(kubectl get pgsc "$DEMO" -o jsonpath='{.status.benchmark.name}')
	say "==> benchmark $benchmark"
	watch_until 600 pgb "$benchmark" '.status.phase == "Succeeded" or .status.phase == "Failed"' '"\(.status.phase // "Pending") \(.status.run.percent // 0)% \(.status.run.message // "")"'
	result "$benchmark"
	[ "$(kubectl get pgb "$benchmark" -o jsonpath='{.status.phase}')" = Succeeded ] || die "the benchmark failed"
	say "Ready after ${SECONDS}s. To look around: eval \"\$(hack/cluster.sh env $NAME)\"; to remove it: make demo-down"
}

case ${1:-} in
up) up ;;
down) "$REPO/hack/cluster.sh" down "$NAME" ;;
*) die "usage: hack/demo.sh up|down" ;;
esac
