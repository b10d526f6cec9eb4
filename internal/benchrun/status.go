package benchrun

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/naming"
)

// StatusReporter applies a Report as status.run of a PgBenchmark, which nobody
// else writes. It needs to patch pgbenchmarks/status and nothing more.
type StatusReporter struct {
	Client          dynamic.Interface
	Namespace, Name string
}

// Report by server-side apply.
func (s StatusReporter) Report(ctx context.Context, report Report) error {
	// Absent is what the zero value means in every field that may be left out.
	run, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&report)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	intent := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"run": run}}}
	intent.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PgBenchmark"))
	intent.SetNamespace(s.Namespace)
	intent.SetName(s.Name)
	_, err = s.Client.Resource(v1alpha1.GroupVersion.WithResource("pgbenchmarks")).Namespace(s.Namespace).
		ApplyStatus(ctx, s.Name, intent, metav1.ApplyOptions{FieldManager: naming.BenchFieldOwner, Force: true})
	if err != nil {
		return fmt.Errorf("apply status.run of PgBenchmark %s/%s: %w", s.Namespace, s.Name, err)
	}
	return nil
}
