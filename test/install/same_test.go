package install_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The only ways in which the chart and the kustomization may differ.
var (
	allowedLabels = []string{
		"app.kubernetes.io/instance",   // the release
		"app.kubernetes.io/managed-by", // Helm or kustomize
		"app.kubernetes.io/version",    // the chart's appVersion
		"helm.sh/chart",
	}
	allowedAnnotations = []string{
		"helm.sh/resource-policy", // CRDs outlive the release
	}
	// Helm makes the namespace by --create-namespace.
	allowedObjects = []string{"Namespace /pgstorage-system"}
)

func normalise(all objects) objects {
	for _, key := range allowedObjects {
		delete(all, key)
	}
	for _, object := range all {
		drop(object, allowedLabels, "metadata", "labels")
		drop(object, allowedAnnotations, "metadata", "annotations")
	}
	return all
}

func drop(object *unstructured.Unstructured, names []string, path ...string) {
	for _, name := range names {
		unstructured.RemoveNestedField(object.Object, append(slices.Clone(path), name)...)
	}
	if rest, found, _ := unstructured.NestedMap(object.Object, path...); found && len(rest) == 0 {
		unstructured.RemoveNestedField(object.Object, path...)
	}
}

func TestChartAndKustomizationAreTheSameObjects(t *testing.T) {
	for _, test := range []struct {
		name, dir string
		values    []string
	}{
		{name: "default", dir: root + "/config/default"},
		{
			name:   "with the optional parts",
			dir:    "testdata/optional",
			values: []string{"--set", "metrics.serviceMonitor.enabled=true,networkPolicy.enabled=true"},
		},
		{name: "with the agent", dir: "testdata/agent", values: []string{"--set", "agent.enabled=true"}},
		{name: "on OpenShift", dir: "testdata/openshift", values: []string{"--set", "platform=OpenShift"}},
		{name: "on OpenShift, with the agent", dir: "testdata/openshift-agent", values: []string{"--set", "platform=OpenShift,agent.enabled=true"}},
		{name: "everything", dir: "testdata/agent-optional", values: everything},
	} {
		t.Run(test.name, func(t *testing.T) {
			fromChart := normalise(installed(t, test.values...))
			fromKustomize := normalise(parse(t, kustomize(t, test.dir)))
			for _, difference := range differences("", keysAsMap(fromChart), keysAsMap(fromKustomize)) {
				t.Errorf("chart and kustomization: %s", difference)
			}
			for key, object := range fromChart {
				if other := fromKustomize[key]; other != nil {
					for _, difference := range differences(key, object.Object, other.Object) {
						t.Errorf("chart and kustomization: %s", difference)
					}
				}
			}
		})
	}
}

func keysAsMap(all objects) map[string]any {
	names := map[string]any{}
	for _, key := range all.keys() {
		names[key] = true
	}
	return names
}

func TestEveryObjectIsNamedAndLabelled(t *testing.T) {
	for key, object := range installed(t, everything...) {
		if object.GetKind() != "CustomResourceDefinition" && !strings.HasPrefix(object.GetName(), "pgstorage-") {
			t.Errorf("%s: the name does not begin with pgstorage-", key)
		}
		if object.GetLabels()["app.kubernetes.io/name"] != "pgstorage" {
			t.Errorf("%s: no label app.kubernetes.io/name", key)
		}
	}
}

// The chart holds copies of files: they must be the newest.
func TestCopiesInTheChartAreCurrent(t *testing.T) {
	for copied, origin := range map[string]string{
		"files/alerts.yaml":                               "config/agent/prometheus/alerts.yaml",
		"files/benchmark-alerts.yaml":                     "config/prometheus/alerts/alerts.yaml",
		"files/postgres-alerts.yaml":                      "config/prometheus/alerts/postgres.yaml",
		"files/dashboards/overview.json":                  "config/dashboards/overview.json",
		"files/dashboards/cluster.json":                   "config/dashboards/cluster.json",
		"files/dashboards/benchmarks.json":                "config/dashboards/benchmarks.json",
		"files/dashboards/nodes.json":                     "config/dashboards/nodes.json",
		"files/ceph-alerts.yaml":                          "config/ceph/alerts/alerts.yaml",
		"files/manager-role.yaml":                         "config/rbac/role.yaml",
		"files/agent-role.yaml":                           "config/agent/role.yaml",
		"files/crds/pgstorage.dev_pgnodestorages.yaml":    "config/crd/bases/pgstorage.dev_pgnodestorages.yaml",
		"files/crds/pgstorage.dev_pgstorageprofiles.yaml": "config/crd/bases/pgstorage.dev_pgstorageprofiles.yaml",
		"files/crds/pgstorage.dev_pgstorageclusters.yaml": "config/crd/bases/pgstorage.dev_pgstorageclusters.yaml",
		"files/crds/pgstorage.dev_pgbenchmarks.yaml":      "config/crd/bases/pgstorage.dev_pgbenchmarks.yaml",
	} {
		if readFile(t, "charts/pgstorage", copied) != readFile(t, origin) {
			t.Errorf("charts/pgstorage/%s differs from %s: run make generate", copied, origin)
		}
	}
}
