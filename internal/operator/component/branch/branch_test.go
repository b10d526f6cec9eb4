package branch

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

func masked() *v1alpha1.PgStorageBranch {
	b := &v1alpha1.PgStorageBranch{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "pr-1", UID: "uid", CreationTimestamp: metav1.NewTime(time.Unix(0, 0))}}
	b.Spec.Masking = &v1alpha1.BranchMasking{ConfigMap: v1alpha1.MaskingConfigMap{Name: "mask", Key: "mask.sql"}}
	return b
}

// The SQL runs once, as a whole or not at all, as the owner, and without a token.
func TestMaskingJob(t *testing.T) {
	cr := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Name: "pr-1"}, Spec: v1alpha1.PgStorageClusterSpec{Postgres: v1alpha1.PostgresSpec{Database: "app", Owner: "shopkeeper"}}}
	o, err := Masking(MaskingInputs{Branch: masked(), Cluster: cr, Image: "postgres:17", SQL: "SELECT 1"})
	if err != nil {
		t.Fatal(err)
	}
	spec := func(path ...string) any {
		v, _, _ := unstructured.NestedFieldNoCopy(o.Content.Object, append([]string{"spec"}, path...)...)
		return v
	}
	job := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Content.Object, job); err != nil {
		t.Fatal(err)
	}
	tried := job.Spec.PodFailurePolicy.Rules[1]
	if tried.Action != batchv1.PodFailurePolicyActionFailJob || tried.OnExitCodes.Operator != batchv1.PodFailurePolicyOnExitCodesOpNotIn || !slices.Equal(tried.OnExitCodes.Values, []int32{2}) {
		t.Errorf("SQL that fails can run again: %+v", tried)
	}
	if *job.Spec.BackoffLimit == 0 || job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("a connection that is refused ends the Job: %+v", job.Spec)
	}
	if spec("template", "spec", "automountServiceAccountToken") != false {
		t.Error("the pod has a token")
	}
	container := spec("template", "spec", "containers").([]any)[0].(map[string]any) //nolint:forcetypeassert // we wrote it
	command := map[any]bool{}
	for _, word := range container["command"].([]any) { //nolint:forcetypeassert // we wrote it
		command[word] = true
	}
	if !command["--single-transaction"] || !command["--set=ON_ERROR_STOP=1"] || !command["--file=/pgstorage/sql/mask.sql"] {
		t.Errorf("command %v", container["command"])
	}
	secrets := 0
	for _, v := range container["env"].([]any) { //nolint:forcetypeassert // we wrote it
		e := v.(map[string]any) //nolint:forcetypeassert // we wrote it
		if e["name"] == "PGUSER" && e["value"] != "shopkeeper" {
			t.Errorf("it runs as %v", e["value"])
		}
		if name, found, _ := unstructured.NestedString(e, "valueFrom", "secretKeyRef", "name"); found {
			secrets++
			if name != "pr-1-app" {
				t.Errorf("it has Secret %s", name)
			}
		}
	}
	if secrets != 1 {
		t.Errorf("it has %d Secrets", secrets)
	}
}

func TestNamesOfBranches(t *testing.T) {
	b := masked()
	data := DataSnapshot(b, "zfs", "shop-2", "then")
	data.UID = "first"
	wal := WALSnapshot(b, "zfs", data)
	if *wal.Spec.Source.PersistentVolumeClaimName != "shop-2-wal" {
		t.Errorf("WAL of %s", *wal.Spec.Source.PersistentVolumeClaimName)
	}
	data.UID = "taken again"
	if again := WALSnapshot(b, "zfs", data); again.Name == wal.Name {
		t.Error("older WAL is taken for that of newer data")
	}
	long := "a-name-that-is-as-long-as-a-name-of-a-branch-may-b"
	if name := naming.BranchMasking(long, "uid", "SELECT 1"); len(name) > 63 {
		t.Errorf("%s has %d characters", name, len(name))
	}
}

func TestExpirationOfBranches(t *testing.T) {
	b := masked()
	if Expiration(b) != nil {
		t.Error("it expires without ttl")
	}
	b.Spec.TTL = "1h30m"
	if at := Expiration(b); at == nil || at.Unix() != 5400 {
		t.Errorf("it expires at %v", at)
	}
	b.Spec.Promote = true
	if Expiration(b) != nil {
		t.Error("a promoted branch expires")
	}
}
