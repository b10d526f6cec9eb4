package runner

import (
	"context"
	"encoding/base64"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// StatusReporter applies a RunStatus as status.run of a PgBenchmark, which no one
// else writes. It needs to patch pgbenchmarks/status and nothing more.
type StatusReporter struct {
	Client          dynamic.Interface
	Namespace, Name string
}

// ConfigMapKeeper applies a record as binaryData of a ConfigMap, which has no other writer of
// binaryData. It needs only to patch that ConfigMap, which the manager creates. It cannot
// create one.
type ConfigMapKeeper struct {
	Client          dynamic.Interface
	Namespace, Name string
}

// Keep by server-side apply.
func (k ConfigMapKeeper) Keep(ctx context.Context, data map[string][]byte) (string, error) {
	binary := map[string]any{}
	for key, value := range data {
		binary[key] = base64.StdEncoding.EncodeToString(value)
	}
	intent := &unstructured.Unstructured{Object: map[string]any{"binaryData": binary}}
	intent.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	intent.SetNamespace(k.Namespace)
	intent.SetName(k.Name)
	_, err := k.Client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(k.Namespace).
		Apply(ctx, k.Name, intent, metav1.ApplyOptions{FieldManager: naming.BenchFieldOwner, Force: true})
	if err != nil {
		return "", fmt.Errorf("apply the record in ConfigMap %s/%s: %w", k.Namespace, k.Name, err)
	}
	return k.Name, nil
}

// Report by server-side apply.
func (s StatusReporter) Report(ctx context.Context, report RunStatus) error {
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
