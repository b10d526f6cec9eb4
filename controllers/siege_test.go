package controllers

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// maxSiege is what 200 objects may keep alive in the cache. It is less than half of the
// chart's limit of 256 MiB, because Go lets garbage grow to as much again.
const maxSiege = 110 << 20

func unique(i, n int) string { return strings.Repeat(fmt.Sprintf("%016x", i), n/16) }

func besieger(i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "shop", Name: fmt.Sprint("h", i), Annotations: map[string]string{"big": unique(i, 200<<10)},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fmt.Sprintf("{%q:{}}", unique(i, 100<<10)))}},
	}
}

// longRun is a report of the runner at its bounds, below maxStatus.
func longRun(i, results int) *v1alpha1.BenchmarkRun {
	run := &v1alpha1.BenchmarkRun{}
	for c := range results {
		r := v1alpha1.BenchmarkResult{Clients: int32(c + 1)}
		for range 40 {
			r.Statements = append(r.Statements, v1alpha1.StatementLatency{SQL: unique(i, 256), LatencyAverage: unique(i, 64)})
		}
		for n := range 32 {
			r.Findings = append(r.Findings, v1alpha1.BenchmarkFinding{Check: fmt.Sprint(n), Message: unique(i, 512)})
		}
		run.Results = append(run.Results, r)
	}
	return run
}

// TestSiege decodes 200 objects of one kind from JSON, as a watch does. They are as
// large as the API server accepts them, or as the cache just keeps them whole.
func TestSiege(t *testing.T) {
	raw := func(i, n int) *v1alpha1.CNPGOverrides {
		return &v1alpha1.CNPGOverrides{Spec: &apiruntime.RawExtension{Raw: fmt.Appendf(nil, `{"description":%q}`, unique(i, n))}}
	}
	for name, c := range map[string]struct {
		make func(i int) client.Object
		into func() client.Object
		slim func(any) (any, error)
	}{
		"PgStorageCluster, overrides kept": {func(i int) client.Object {
			return &v1alpha1.PgStorageCluster{ObjectMeta: besieger(i), Spec: v1alpha1.PgStorageClusterSpec{CNPG: raw(i, 65000)}}
		}, func() client.Object { return &v1alpha1.PgStorageCluster{} }, slimOwn},
		"PgStorageCluster, 1 MB": {func(i int) client.Object {
			return &v1alpha1.PgStorageCluster{ObjectMeta: besieger(i), Spec: v1alpha1.PgStorageClusterSpec{CNPG: raw(i, 1<<20)}}
		}, func() client.Object { return &v1alpha1.PgStorageCluster{} }, slimOwn},
		"PgBenchmark, status kept": {func(i int) client.Object {
			return &v1alpha1.PgBenchmark{ObjectMeta: besieger(i), Status: v1alpha1.PgBenchmarkStatus{Run: longRun(i, 11)}}
		}, func() client.Object { return &v1alpha1.PgBenchmark{} }, slimOwn},
		"PgBenchmark, status dropped": {func(i int) client.Object {
			return &v1alpha1.PgBenchmark{ObjectMeta: besieger(i), Status: v1alpha1.PgBenchmarkStatus{Run: longRun(i, 16)}}
		}, func() client.Object { return &v1alpha1.PgBenchmark{} }, slimOwn},
		"Cluster, kept": {func(i int) client.Object {
			return &cnpgv1.Cluster{ObjectMeta: besieger(i), Spec: cnpgv1.ClusterSpec{Description: unique(i, 250<<10)}}
		}, func() client.Object { return &cnpgv1.Cluster{} }, slimOthers},
		"Job, 1 MB": {func(i int) client.Object {
			j := &batchv1.Job{ObjectMeta: besieger(i)}
			j.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Args: []string{unique(i, 1<<20)}}}
			return j
		}, func() client.Object { return &batchv1.Job{} }, slimOthers},
	} {
		t.Run(name, func(t *testing.T) {
			before := alive()
			var kept []any
			sent := 0
			for i := range 200 {
				text, err := json.Marshal(c.make(i))
				if err != nil {
					t.Fatal(err)
				}
				o := c.into()
				if err := json.Unmarshal(text, o); err != nil {
					t.Fatal(err)
				}
				slim, err := c.slim(o)
				if err != nil {
					t.Fatal(err)
				}
				kept, sent = append(kept, slim), sent+len(text)
			}
			grown := int64(alive()) - int64(before)
			t.Logf("%d objects of %d KiB keep %.1f MiB alive", len(kept), sent/len(kept)/1024, float64(grown)/(1<<20))
			if grown > maxSiege {
				t.Errorf("%d bytes alive", grown)
			}
			runtime.KeepAlive(kept)
		})
	}
}

func alive() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
