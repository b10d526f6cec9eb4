package gather

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Records reads a PgBenchmark and the records of its runs. It returns an error if the
// PgBenchmark does not exist.
func (r Reader) Records(ctx context.Context, key client.ObjectKey) (snapshot.Records, error) {
	b, n := &v1alpha1.PgBenchmark{}, notes{}
	out := snapshot.Records{Benchmark: b, Runs: map[string]*v1alpha1.PgBenchmark{}, ByBenchmark: map[string]map[string][]byte{}}
	if err := r.Get(ctx, key, b); err != nil {
		return out, readError(err, "PgBenchmark", key, "pgb")
	}
	var err error
	if b.Spec.Matrix == nil {
		err = r.record(ctx, &n, b, out.ByBenchmark)
	} else {
		err = r.matrixRecords(ctx, &n, &out)
	}
	out.Unread = n
	return out, err
}

// matrixRecords reads the runs of a matrix and their records.
func (r Reader) matrixRecords(ctx context.Context, n *notes, out *snapshot.Records) error {
	b := out.Benchmark
	list := &v1alpha1.PgBenchmarkList{}
	if err := r.list(ctx, n, "the runs of the matrix", list, client.InNamespace(b.Namespace), client.MatchingLabels(naming.BenchmarkLabels(b.Name))); err != nil {
		return err
	}
	for i := range list.Items {
		run := &list.Items[i]
		if !metav1.IsControlledBy(run, b) {
			continue
		}
		out.Runs[run.Name] = run
		if err := r.record(ctx, n, run, out.ByBenchmark); err != nil {
			return err
		}
	}
	return nil
}

// record reads the record that the status of a benchmark names, if it exists. A ConfigMap
// that the benchmark does not own belongs to a deleted benchmark of the same name.
func (r Reader) record(ctx context.Context, n *notes, b *v1alpha1.PgBenchmark, into map[string]map[string][]byte) error {
	if b.Status.Run == nil || b.Status.Run.Record == "" {
		return nil
	}
	config := &corev1.ConfigMap{}
	found, err := r.get(ctx, n, "the records of its runs", client.ObjectKey{Namespace: b.Namespace, Name: b.Status.Run.Record}, config)
	if err != nil {
		return err
	}
	if found && metav1.IsControlledBy(config, b) {
		into[b.Name] = config.BinaryData
	}
	return nil
}
