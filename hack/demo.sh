#!/usr/bin/env bash
# The main job, from nothing: a Kubernetes cluster, the operator, a declared
# Postgres on a StorageClass, its benchmark and the report. It can be run again.
# Usage: hack/demo.sh up|down
#        hack/demo.sh env   prints the variables to reach it (for eval)
export PGSTORAGE_BRIEF=${PGSTORAGE_BRIEF-yes}
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

NAME=pgstorage-demo
DEMO=demo
PAGE=$CACHE/demo/report.html

# expected says first how long it takes, by what this machine reaches and has.
expected() {
	if published registry-1.docker.io && published ghcr.io; then
		say "This takes about 4 minutes: images are pulled, and the programs of this tree are compiled."
	elif [ -e "$CACHE/cnpg/$CNPG_VERSION" ]; then
		say "This takes about 5 minutes: no container registry answers, but most is compiled already."
	else
		say "This takes about 17 minutes on 2 CPUs: no container registry answers, so all is compiled from source. The next time takes 5."
	fi
}

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

# install_operator IMAGE REPOSITORY applies what the chart holds too, without Helm
# to compile where it cannot be downloaded.
install_operator() {
	kubectl kustomize "$REPO/config/default" |
		sed -E "s#ghcr.io/pgstorage/pgstorage:[^ \"]+#$1#; s#(--postgres-image-repository=).*#\1$2#" |
		kubectl apply --server-side --force-conflicts -f - >/dev/null
	timeout 200 kubectl -n pgstorage-system rollout status deployment/pgstorage-manager --timeout=180s
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

# database applies the samples and writes a row.
database() {
	say "==> kubectl apply -k config/samples"
	kubectl apply -k "$REPO/config/samples"
	watch_until 300 pgsc "$DEMO" "$ready.status == \"True\" and $ready.observedGeneration == .metadata.generation" "$ready | \"\(.status // \"Unknown\") \(.reason // \"\"): \(.message // \"not looked at yet\")\""
	say "==> a row through the -rw Service"
	sql "$1" "CREATE TABLE IF NOT EXISTS greeting (at timestamptz DEFAULT now(), text text); INSERT INTO greeting (text) VALUES ('written through $DEMO-rw')"
	sql "$1" "SELECT at, text FROM greeting ORDER BY at DESC LIMIT 1"
}

# measured waits for the benchmark that the database declares, and shows its result.
measured() {
	say "==> benchmark $1"
	watch_until 600 pgb "$1" '.status.phase == "Succeeded" or .status.phase == "Failed"' '"\(.status.phase // "Pending") \(.status.run.percent // 0)% \(.status.run.message // "")"'
	kubectl pgstorage bench result "$1"
	[ "$(kubectl get pgb "$1" -o jsonpath='{.status.phase}')" = Succeeded ] || die "the benchmark failed; to have it run again: kubectl delete pgb $1, then make demo"
	mkdir -p "${PAGE%/*}"
	kubectl pgstorage report "$1" -o html -f "$PAGE"
}

# next_steps prints commands that work as they stand, in the shell that runs the first.
next_steps() {
	cat <<-NEXT

		The report of the benchmark is one page for a browser: $PAGE

		For kubectl and its plugin in this shell:
		  eval "\$($REPO/hack/demo.sh env)"
		Then try:
		  kubectl pgstorage explain $DEMO
		      every setting of Postgres, with its source and its reason
		  kubectl pgstorage bench start $DEMO --clients 1,8 --duration 15s --repeats 3 --follow
		      a benchmark with repeats, and so with an interval
		  kubectl pgstorage doctor
		      what this Kubernetes cluster has of what other profiles need
		To remove it all: make demo-down
	NEXT
}

# environment has the plugin too.
environment() {
	"$REPO/hack/cluster.sh" env "$NAME"
	echo "export PATH=$("$REPO/hack/programs.sh"):\$PATH"
}

up() {
	local operator postgres benchmark
	packages curl ca-certificates jq
	expected
	"$REPO/hack/cluster.sh" up "$NAME" --beside programs
	eval "$(environment)"
	operator=$("$REPO/hack/images.sh" operator)
	postgres=$("$REPO/hack/images.sh" postgres)
	"$REPO/hack/cluster.sh" load "$NAME" "$operator" "$postgres"
	logged install-operator install_operator "$operator" "${postgres%:*}"
	database "$postgres"
	benchmark=$(kubectl get pgsc "$DEMO" -o jsonpath='{.status.benchmark.name}')
	measured "$benchmark"
	say "==> kubectl pgstorage status $DEMO"
	kubectl pgstorage status "$DEMO"
	next_steps
	say "Ready after $((SECONDS / 60)) min $((SECONDS % 60)) s."
}

case ${1:-} in
up) up ;;
env) environment ;;
down) "$REPO/hack/cluster.sh" down "$NAME" ;;
*) die "usage: hack/demo.sh up|down|env" ;;
esac
