package verification

import (
	"reflect"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/restorecheck"
)

func shop() *v1alpha1.PgStorageCluster {
	return &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "uid"},
		Spec: v1alpha1.PgStorageClusterSpec{
			Postgres: v1alpha1.PostgresSpec{Database: "app", Owner: "app"},
			Backup: &v1alpha1.BackupSpec{
				ObjectStore: v1alpha1.BackupObjectStore{Name: "lake", Archive: "2"},
				Verify:      &v1alpha1.BackupVerifySpec{Query: "SELECT '$(PGPASSWORD)' <> $$x$$"},
			},
		},
	}
}

// running is a Cluster with everything that its database has, and a restored one must not.
func running() *cnpgv1.Cluster {
	return &cnpgv1.Cluster{
		Spec: cnpgv1.ClusterSpec{
			Instances:            3,
			ImageName:            "declared",
			StorageConfiguration: cnpgv1.StorageConfiguration{StorageClass: new("zfs"), Size: "5Gi"},
			WalStorage:           &cnpgv1.StorageConfiguration{StorageClass: new("zfs-wal"), Size: "2Gi"},
			Affinity:             cnpgv1.AffinityConfiguration{NodeSelector: map[string]string{"pool": "a"}},
			Plugins:              []cnpgv1.PluginConfiguration{{Name: "barman-cloud.cloudnative-pg.io", IsWALArchiver: new(true)}},
			Managed:              &cnpgv1.ManagedConfiguration{Roles: []cnpgv1.RoleConfiguration{{Name: "more"}}},
			ReplicaCluster:       &cnpgv1.ReplicaClusterConfiguration{Source: "elsewhere"},
			SuperuserSecret:      &cnpgv1.LocalObjectReference{Name: "keys"},
			PostgresConfiguration: cnpgv1.PostgresConfiguration{
				Parameters: map[string]string{"shared_buffers": "64GB", "archive_mode": "on"}, AdditionalLibraries: []string{"timescaledb"},
				Synchronous: &cnpgv1.SynchronousReplicaConfiguration{Number: 2},
			},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Gi")}},
		},
		Status: cnpgv1.ClusterStatus{Image: "postgres:17.6"},
	}
}

// The restored database is on the same storage and nodes, and writes into no archive.
func TestRestoredCluster(t *testing.T) {
	o, err := Cluster(shop(), running())
	if err != nil {
		t.Fatal(err)
	}
	spec, _, _ := unstructured.NestedMap(o.Content.Object, "spec")
	for _, field := range []string{"plugins", "managed", "replica", "superuserSecret", "backup"} {
		if _, found := spec[field]; found {
			t.Errorf("it has the field %s: %v", field, spec[field])
		}
	}
	for path, want := range map[string]string{
		"imageName": "postgres:17.6", "storage.storageClass": "zfs", "storage.size": "5Gi", "walStorage.storageClass": "zfs-wal",
		"affinity.nodeSelector.pool": "a", "resources.limits.memory": "1Gi", "bootstrap.recovery.source": "origin", "bootstrap.recovery.owner": "app",
	} {
		if got, _, err := unstructured.NestedString(spec, strings.Split(path, ".")...); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", path, got, err, want)
		}
	}
	if spec["instances"] != int64(1) || spec["enableSuperuserAccess"] != true {
		t.Errorf("instances %v, enableSuperuserAccess %v", spec["instances"], spec["enableSuperuserAccess"])
	}
	all, _, _ := unstructured.NestedSlice(spec, "externalClusters")
	if got, _, _ := unstructured.NestedString(all[0].(map[string]any), "plugin", "parameters", "serverName"); got != "shop.2" { //nolint:forcetypeassert // we wrote it
		t.Errorf("it is restored from %q", got)
	}
}

// A restored subscription has the slot of the database, and takes it if it runs.
func TestRestoredSubscriptionsDoNotRun(t *testing.T) {
	parameters := map[string]any{"max_logical_replication_workers": "0"}
	for name, tc := range map[string]struct {
		libraries []string
		want      map[string]any
	}{
		"with libraries":    {[]string{"timescaledb"}, map[string]any{"parameters": parameters, "shared_preload_libraries": []any{"timescaledb"}}},
		"without libraries": {nil, map[string]any{"parameters": parameters}},
	} {
		source := running()
		source.Spec.PostgresConfiguration.AdditionalLibraries = tc.libraries
		o, err := Cluster(shop(), source)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := unstructured.NestedMap(o.Content.Object, "spec", "postgresql"); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: postgresql %v, want %v", name, got, tc.want)
		}
	}
}

// What a tenant writes reaches the program as it stands. Kubernetes expands none of it.
func TestQueryIsNotExpanded(t *testing.T) {
	o, err := Job(JobInputs{CR: shop(), Image: "postgres:17.6", ProgramImage: "pgstorage", System: "42", Seconds: 60})
	if err != nil {
		t.Fatal(err)
	}
	containers, _, _ := unstructured.NestedSlice(o.Content.Object, "spec", "template", "spec", "containers")
	environment, _, _ := unstructured.NestedSlice(containers[0].(map[string]any), "env") //nolint:forcetypeassert // we wrote it
	for _, e := range environment {
		variable := e.(map[string]any) //nolint:forcetypeassert // we wrote it
		if variable["name"] != restorecheck.EnvSpec {
			continue
		}
		text, _ := variable["value"].(string)
		if !strings.Contains(text, "$$(PGPASSWORD)") || strings.Contains(text, " $$x$$\"") {
			t.Errorf("a $ is not doubled in %s", text)
		}
		s, err := restorecheck.Parse(strings.ReplaceAll(text, "$$", "$"))
		if err != nil || s.Query != shop().Spec.Backup.Verify.Query || s.System != "42" {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if token, _, _ := unstructured.NestedBool(o.Content.Object, "spec", "template", "spec", "automountServiceAccountToken"); token {
		t.Error("the pod has a token")
	}
}
