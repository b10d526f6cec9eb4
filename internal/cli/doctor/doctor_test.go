package doctor

import (
	"encoding/json"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/config/rbac"
	"github.com/pgstorage/pgstorage/docs/runbooks"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/runbook"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/snapshots"
)

func book(t *testing.T) *runbook.Book {
	t.Helper()
	b, err := runbook.Open(runbooks.Pages)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func named(namespace, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}
}

func node(name string, ready corev1.ConditionStatus) corev1.Node {
	n := corev1.Node{ObjectMeta: named("", name, map[string]string{"pgstorage.dev/pool": "tank"})}
	n.Status.NodeInfo.KernelVersion = "6.1.0"
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	return n
}

func pod(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}}
}

// healthy returns the facts of a cluster on ZFS without any fault.
func healthy(t *testing.T) Facts {
	t.Helper()
	schemas, err := admit.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	s := snapshots.Cluster(t, "testdata/zfs.yaml")
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(rbac.ManagerRole, role); err != nil {
		t.Fatal(err)
	}
	f := Facts{
		PluginVersion: "v1", KubernetesVersion: "v1.36.3", ExpectedCRDs: schemas.Definitions(), InstalledCRDs: map[string]*apiextensionsv1.CustomResourceDefinition{},
		APIs:     &observed.ForeignAPIs{CNPGInstalled: true, ZFSLocalPV: true, PodMonitors: true, VolumeSnapshots: true, ObjectStores: true},
		Managers: []appsv1.Deployment{{ObjectMeta: named("pgstorage-system", "pgstorage-manager", nil), Spec: appsv1.DeploymentSpec{Template: pod("pgstorage:v1")}, Status: appsv1.DeploymentStatus{AvailableReplicas: 1}}},
		Agents: []appsv1.DaemonSet{{
			ObjectMeta: named("pgstorage-system", "pgstorage-agent", nil), Spec: appsv1.DaemonSetSpec{Template: pod("pgstorage:v1")},
			Status: appsv1.DaemonSetStatus{NumberReady: 1, DesiredNumberScheduled: 1},
		}},
		Namespaces:   []corev1.Namespace{{ObjectMeta: named("", "pgstorage-system", map[string]string{enforceLabel: "privileged"})}},
		ExpectedRole: role, Role: role.DeepCopy(),
		Profiles: []v1alpha1.PgStorageProfile{*s.Profile.Profile}, Storages: s.Profile.Storages, Clusters: []v1alpha1.PgStorageCluster{*s.Cluster},
		Nodes:       []corev1.Node{node("node-1", corev1.ConditionTrue)},
		CSINodes:    []storagev1.CSINode{{ObjectMeta: named("", "node-1", nil), Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "zfs.csi.openebs.io"}}}}},
		Drivers:     []storagev1.CSIDriver{{ObjectMeta: named("", "zfs.csi.openebs.io", nil)}},
		Permissions: []Permission{{Verb: "create", Group: "pgstorage.dev", Resource: "pgstorageclusters", Namespace: "prod", For: "to create databases", Allowed: true}},
	}
	for _, crd := range f.ExpectedCRDs {
		found := crd.DeepCopy()
		found.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
		f.InstalledCRDs[crd.Name] = found
	}
	return f
}

// trouble returns the facts of a cluster with many faults.
func trouble(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	s := snapshots.Cluster(t, "testdata/trouble.yaml")
	f.KubernetesVersion = "v1.29.4-eks"
	delete(f.InstalledCRDs, "pgbenchmarks.pgstorage.dev")
	f.InstalledCRDs["pgnodestorages.pgstorage.dev"].Status.Conditions = nil
	f.InstalledCRDs["pgstorageclusters.pgstorage.dev"].Spec.Versions[0].Schema.OpenAPIV3Schema.Description = "of another version"
	f.APIs = &observed.ForeignAPIs{CNPGInstalled: true, CNPGMissingForBenchmarks: []string{"databaseroles.postgresql.cnpg.io"}}
	f.Managers[0].Status.AvailableReplicas = 0
	f.Managers = append(f.Managers, *f.Managers[0].DeepCopy())
	f.Managers[1].Namespace = "elsewhere"
	f.Role.Rules = slices.DeleteFunc(f.Role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "zfsnodes") })
	f.Agents[0].Status.NumberReady, f.Agents[0].Status.DesiredNumberScheduled = 1, 3
	f.Namespaces[0].Labels[enforceLabel] = "restricted"
	f.Profiles, f.Storages, f.Clusters = []v1alpha1.PgStorageProfile{*s.Profile.Profile}, s.Profile.Storages, []v1alpha1.PgStorageCluster{*s.Cluster}
	lonely := *s.Profile.Profile.DeepCopy()
	lonely.Name, lonely.Spec.NodeSelector, lonely.Status = "lonely", map[string]string{"b": "2", "a": "1"}, v1alpha1.PgStorageProfileStatus{}
	f.Profiles = append(f.Profiles, lonely)
	f.Nodes = []corev1.Node{node("node-2", corev1.ConditionFalse), node("node-1", corev1.ConditionTrue)}
	f.Drivers = nil
	f.Permissions[0].Allowed = false
	f.Unread = []snapshot.Unread{{What: "Secrets", Why: "forbidden"}}
	return f
}

// empty returns the facts of a cluster before any installation.
func empty(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	return Facts{PluginVersion: "v1", KubernetesVersion: "v1.36.3", ExpectedCRDs: f.ExpectedCRDs, ExpectedRole: f.ExpectedRole, APIs: &observed.ForeignAPIs{}}
}

// blind returns the facts that a user without permissions can read.
func blind(t *testing.T) Facts {
	t.Helper()
	f := empty(t)
	f.APIs = nil
	for _, crd := range f.ExpectedCRDs {
		f.Unread = append(f.Unread, snapshot.Unread{What: "CustomResourceDefinition " + crd.Name, Why: "forbidden"})
	}
	for _, what := range []string{"Deployments of all namespaces", "DaemonSets of all namespaces", "ClusterRole pgstorage-manager", "PgStorageProfiles", "Nodes", "CSINodes", "CSIDrivers", "CSIStorageCapacities of all namespaces", "PersistentVolumes"} {
		f.Unread = append(f.Unread, snapshot.Unread{What: what, Why: "forbidden"})
	}
	return f
}

func TestFailuresHaveRemedyAndLink(t *testing.T) {
	for name, tc := range map[string]struct {
		facts    Facts
		failures int
	}{
		"healthy": {healthy(t), 0}, "trouble": {trouble(t), 14}, "empty": {empty(t), 8}, "blind": {blind(t), 0},
	} {
		t.Run(name, func(t *testing.T) {
			findings := Check(tc.facts, book(t))
			golden.Text(t, "testdata/"+name+".golden.txt", Text(findings, view.Style{}))
			if n := Failures(findings); n != tc.failures {
				t.Errorf("%d failures, want %d", n, tc.failures)
			}
			for _, f := range findings {
				if f.Level == Failure && (f.Remedy == "" || f.Link == "") {
					t.Errorf("no remedy or link: %+v", f)
				}
			}
		})
	}
}

func TestFindingsAsJSON(t *testing.T) {
	raw, err := json.MarshalIndent(Check(empty(t), book(t)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "testdata/empty.golden.json", string(raw)+"\n")
}

func TestLackingReturnsMissingPermissions(t *testing.T) {
	wanted := []rbacv1.PolicyRule{
		{APIGroups: []string{"a"}, Resources: []string{"x", "y"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"z"}, Verbs: []string{"get"}, ResourceNames: []string{"one", "two"}},
	}
	for _, tc := range []struct {
		name string
		have []rbacv1.PolicyRule
		want []string
	}{
		{"the same", wanted, nil},
		{"nothing", nil, []string{"get x.a", "list x.a", "get y.a", "list y.a", "get z"}},
		{"all", []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}, nil},
		{"one name", []rbacv1.PolicyRule{wanted[0], {APIGroups: []string{""}, Resources: []string{"z"}, Verbs: []string{"get"}, ResourceNames: []string{"one"}}}, []string{"get z"}},
		{"names where all are needed", []rbacv1.PolicyRule{{APIGroups: []string{"a"}, Resources: []string{"x", "y"}, Verbs: []string{"get", "list"}, ResourceNames: []string{"one"}}, wanted[1]}, []string{"get x.a", "list x.a", "get y.a", "list y.a"}},
	} {
		if got := lacking(wanted, tc.have); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
