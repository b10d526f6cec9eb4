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

// Measured is a PgBenchmark of a key with what its runs left. It is an error if it
// does not exist.
func (r Reader) Measured(ctx context.Context, key client.ObjectKey) (snapshot.Measured, error) {
	b, n := &v1alpha1.PgBenchmark{}, notes{}
	out := snapshot.Measured{Benchmark: b, Runs: map[string]*v1alpha1.PgBenchmark{}, Records: map[string]map[string][]byte{}}
	if err := r.Get(ctx, key, b); err != nil {
		return out, explained(err, "PgBenchmark", key, "pgb")
	}
	if b.Spec.Matrix == nil {
		err := r.record(ctx, &n, b, out.Records)
		out.Unread = n
		return out, err
	}
	list := &v1alpha1.PgBenchmarkList{}
	if err := r.list(ctx, &n, "the runs of the matrix", list, client.InNamespace(key.Namespace), client.MatchingLabels(naming.BenchmarkLabels(b.Name))); err != nil {
		return out, err
	}
	for i := range list.Items {
		run := &list.Items[i]
		if !metav1.IsControlledBy(run, b) {
			continue
		}
		out.Runs[run.Name] = run
		if err := r.record(ctx, &n, run, out.Records); err != nil {
			return out, err
		}
	}
	out.Unread = n
	return out, nil
}

// record that a benchmark left, where it names one and it is there. Only what that
// very benchmark owns is its record: another of the same name may have left one.
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
