#!/usr/bin/env bash
# Regenerates everything that is generated: deep copies, apply configurations,
# CRDs, the roles of manager and agent, the chart's copies of these and of the
# alerts, the apply configurations of CloudNativePG, which publishes none, and the
# schema of its Cluster.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tool() { "$("hack/tools.sh" "$1")" "${@:2}"; }

rm -rf api/v1alpha1/applyconfiguration
tool controller-gen object applyconfiguration crd paths=./api/... output:crd:dir=config/crd/bases
go run ./hack/quantities config/crd/bases/*.yaml
tool controller-gen rbac:roleName=pgstorage-manager paths='{./controllers/pgbenchmark,./controllers/pgscheduledbenchmark,./controllers/pgstoragecluster,./controllers/pgstorageprofile,./internal/operator/profile/...}' output:rbac:dir=config/rbac
tool controller-gen rbac:roleName=pgstorage-agent paths=./controllers/pgnodestorage output:rbac:dir=config/agent

out=internal/operator/extapply/cnpg
rm -rf "$out" && mkdir -p "$out"
tool applyconfiguration-gen --output-dir "$out" --output-pkg "github.com/pgstorage/pgstorage/$out" \
	--go-header-file /dev/null \
	--external-applyconfigurations k8s.io/api/core/v1.TypedLocalObjectReference:k8s.io/client-go/applyconfigurations/core/v1 \
	github.com/cloudnative-pg/cloudnative-pg/api/v1 \
	github.com/cloudnative-pg/machinery/pkg/api \
	github.com/cloudnative-pg/barman-cloud/pkg/api >/dev/null
# Its lookup by kind does not compile for packages without a group version, and
# nothing here uses it.
rm -f "$out/utils.go"

# What spec.cnpg.spec is checked with.
go run ./internal/operator/component/cnpg/hatch/derive internal/operator/component/cnpg/hatch/clusterspec.json

# The Grafana dashboards, and the reference of all metrics.
go run ./hack/dashboards config/dashboards
go run ./hack/metrics >docs/metrics.md

# What has been tested: the tables of maturity and of faults.
go run ./hack/maturity .

if [ -d charts/pgstorage ]; then
	rm -rf charts/pgstorage/files/crds && mkdir -p charts/pgstorage/files/crds
	cp config/crd/bases/*.yaml charts/pgstorage/files/crds/
	cp config/rbac/role.yaml charts/pgstorage/files/manager-role.yaml
	cp config/agent/role.yaml charts/pgstorage/files/agent-role.yaml
	cp config/agent/prometheus/alerts.yaml charts/pgstorage/files/alerts.yaml
	cp config/prometheus/alerts/alerts.yaml charts/pgstorage/files/benchmark-alerts.yaml
	cp config/prometheus/alerts/postgres.yaml charts/pgstorage/files/postgres-alerts.yaml
	cp config/ceph/alerts/alerts.yaml charts/pgstorage/files/ceph-alerts.yaml
	mkdir -p charts/pgstorage/files/dashboards
	cp config/dashboards/*.json charts/pgstorage/files/dashboards/
fi
go mod tidy
