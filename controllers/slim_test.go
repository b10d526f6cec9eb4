package controllers

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// megabyte is more than any text of an object is kept of.
var megabyte = strings.Repeat("x", 1<<20)

// hostile metadata, as large as an object may be.
func hostile() metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Namespace: "shop", Name: "db", UID: "uid", ResourceVersion: "7", Generation: 3,
		Labels:        map[string]string{naming.LabelManagedBy: naming.ManagedBy, naming.LabelCluster: "db"},
		Annotations:   map[string]string{naming.AnnotationIntent: "hash", "cnpg.io/fencedInstances": `["db-1"]`, "big": megabyte[:250000], naming.AnnotationAsked: megabyte[:5000], naming.AnnotationTooLarge: "1"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: megabyte}},
	}
	for i := range 5000 {
		m.Labels["l"+strconv.Itoa(i)] = "x"
		m.Labels["pgstorage.dev/z"+strconv.Itoa(i)] = "x"
		m.Finalizers = append(m.Finalizers, "example.com/"+strconv.Itoa(i))
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{Name: strconv.Itoa(i), UID: "other"})
	}
	m.Finalizers = append(m.Finalizers, naming.ClusterFinalizer)
	m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{Name: "owner", UID: "owner", Controller: new(true)})
	return m
}

func slimmed[T client.Object](t *testing.T, transform func(any) (any, error), o T) T {
	t.Helper()
	got, err := transform(o)
	if err != nil {
		t.Fatal(err)
	}
	return got.(T)
}

func TestHostileMetadataIsNotCached(t *testing.T) {
	for name, o := range map[string]client.Object{
		"PgStorageCluster":     slimmed(t, slimOwn, &v1alpha1.PgStorageCluster{ObjectMeta: hostile()}),
		"PgBenchmark":          slimmed(t, slimOwn, &v1alpha1.PgBenchmark{ObjectMeta: hostile()}),
		"PgScheduledBenchmark": slimmed(t, slimOwn, &v1alpha1.PgScheduledBenchmark{ObjectMeta: hostile()}),
		"PgStorageBranch":      slimmed(t, slimOwn, &v1alpha1.PgStorageBranch{ObjectMeta: hostile()}),
		"Cluster":              slimmed(t, slimOthers, &cnpgv1.Cluster{ObjectMeta: hostile()}),
		"Job":                  slimmed(t, slimOthers, &batchv1.Job{ObjectMeta: hostile()}),
	} {
		if n := size(o); n > 16<<10 {
			t.Errorf("%s: %d bytes of metadata are kept", name, n)
		}
		labels, annotations := o.GetLabels(), o.GetAnnotations()
		if labels[naming.LabelManagedBy] != naming.ManagedBy || labels[naming.LabelCluster] != "db" || len(labels) > maxEntries {
			t.Errorf("%s: labels %v", name, labels)
		}
		if diff := cmp.Diff(map[string]string{naming.AnnotationIntent: "hash", "cnpg.io/fencedInstances": `["db-1"]`}, annotations); diff != "" {
			t.Errorf("%s: annotations %s", name, diff)
		}
		if owner := metav1.GetControllerOf(o); owner == nil || owner.Name != "owner" || len(o.GetOwnerReferences()) != 1 {
			t.Errorf("%s: owners %v", name, o.GetOwnerReferences())
		}
		if f := o.GetFinalizers(); len(f) != maxEntries || f[0] != naming.ClusterFinalizer {
			t.Errorf("%s: finalizers %v", name, f)
		}
	}
	few := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"example.com/a", naming.ClusterFinalizer}}}
	if f := slimmed(t, slimOwn, few).Finalizers; len(f) != 2 || f[0] != "example.com/a" {
		t.Errorf("finalizers of others %v: a patch would remove what is missing", f)
	}
}

func TestLargeOverridesAreNotCached(t *testing.T) {
	overrides := func(n int) *v1alpha1.CNPGOverrides {
		return &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"description":%q}`, megabyte[:n])}}
	}
	for n, refused := range map[int]bool{1 << 20: true, 60000: false} {
		c := slimmed(t, slimOwn, &v1alpha1.PgStorageCluster{Spec: v1alpha1.PgStorageClusterSpec{CNPG: overrides(n)}})
		b := slimmed(t, slimOwn, &v1alpha1.PgBenchmark{Spec: v1alpha1.PgBenchmarkSpec{Template: &v1alpha1.ClusterTemplate{CNPG: overrides(n)}}})
		s := &v1alpha1.PgScheduledBenchmark{}
		s.Spec.Template.Spec.Template = &v1alpha1.ClusterTemplate{CNPG: overrides(n)}
		s = slimmed(t, slimOwn, s)
		for kind, got := range map[string]*v1alpha1.CNPGOverrides{"cluster": c.Spec.CNPG, "benchmark": b.Spec.Template.CNPG, "schedule": s.Spec.Template.Spec.Template.CNPG} {
			if (string(got.Spec.Raw) == v1alpha1.OverridesTooLarge) != refused {
				t.Errorf("%s with %d bytes: kept %d", kind, n, len(got.Spec.Raw))
			}
		}
	}
}

func TestLargeStatusIsNotCached(t *testing.T) {
	b := &v1alpha1.PgBenchmark{Spec: v1alpha1.PgBenchmarkSpec{Cluster: "db"}}
	b.Status.Run = &v1alpha1.BenchmarkRun{Message: megabyte}
	b = slimmed(t, slimOwn, b)
	if b.Status.Run != nil || b.Spec.Cluster != "db" || b.Annotations[naming.AnnotationTooLarge] == "" {
		t.Errorf("%+v", b)
	}
	c := &v1alpha1.PgStorageCluster{}
	c.Status.Conditions = []metav1.Condition{{Message: megabyte}}
	if c = slimmed(t, slimOwn, c); size(c) > 1<<10 || c.Annotations[naming.AnnotationTooLarge] == "" {
		t.Errorf("%d bytes", size(c))
	}
	branch := &v1alpha1.PgStorageBranch{Spec: v1alpha1.PgStorageBranchSpec{Source: v1alpha1.BranchSource{Cluster: "db"}}}
	branch.Status.Conditions = []metav1.Condition{{Message: megabyte}}
	if branch = slimmed(t, slimOwn, branch); size(branch) > 1<<10 || branch.Spec.Source.Cluster != "db" || branch.Annotations[naming.AnnotationTooLarge] == "" {
		t.Errorf("%d bytes", size(branch))
	}
	whole := &v1alpha1.PgBenchmark{}
	whole.Status.Matrix = &v1alpha1.MatrixStatus{}
	for i := range 64 {
		v := v1alpha1.VariantStatus{Name: "profile=fast,durability=Quorum,shared_buffers=16GB,clients=" + strconv.Itoa(i), MedianTPS: "12345.67", Fingerprint: megabyte[:64]}
		for r := range 20 {
			v.Runs = append(v.Runs, v1alpha1.MatrixRun{Repeat: int32(r), Outcome: "Succeeded", Benchmark: megabyte[:50], TPS: "12345.67", LatencyAverage: "1.234", LatencyP99: "12.345", CompletionTime: &metav1.Time{}})
		}
		whole.Status.Matrix.Variants = append(whole.Status.Matrix.Variants, v)
	}
	if whole = slimmed(t, slimOwn, whole); whole.Status.Matrix == nil {
		t.Errorf("the largest matrix is not kept: %d bytes", size(whole))
	}
}

func TestLargeObjectsOfOthersAreNotCached(t *testing.T) {
	c := &cnpgv1.Cluster{ObjectMeta: hostile(), Spec: cnpgv1.ClusterSpec{Description: megabyte}}
	if c = slimmed(t, slimOthers, c); c.Spec.Description != "" || c.Name != "db" || c.UID != "uid" || c.ResourceVersion != "7" || c.Generation != 3 {
		t.Errorf("%+v", c.ObjectMeta)
	}
	job := &batchv1.Job{ObjectMeta: hostile()}
	job.Spec.Template.Spec.Containers = []corev1.Container{{Args: []string{megabyte}}}
	if job = slimmed(t, slimOthers, job); len(job.Spec.Template.Spec.Containers) != 0 {
		t.Error("the Job is kept whole")
	}
	shared := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"kubernetes.io/hostname": "n"}}}
	if got := slimmed(t, slimOthers, shared); got.Labels["kubernetes.io/hostname"] != "n" {
		t.Error("what has no namespace loses its labels")
	}
}
