package gather

import (
	"context"
	"fmt"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
)

// labelCluster of what CloudNativePG makes (its pkg/utils/labels_annotations.go).
const labelCluster = "cnpg.io/cluster"

// Cluster of a key and all that it stands on. It is an error if it does not exist.
func (r Reader) Cluster(ctx context.Context, key client.ObjectKey) (snapshot.Cluster, error) {
	out, n := snapshot.Cluster{Cluster: &v1alpha1.PgStorageCluster{}}, notes{}
	if err := r.Get(ctx, key, out.Cluster); err != nil {
		return out, explained(err, "PgStorageCluster", key, "pgsc")
	}
	var err error
	if out.Profile, err = r.Profile(ctx, out.Cluster.Spec.Profile); err != nil {
		return out, err
	}
	for _, read := range []func(context.Context, *notes, *snapshot.Cluster) error{r.database, r.pods, r.claims, r.podMonitor, r.benchmarks} {
		if err := read(ctx, &n, &out); err != nil {
			return out, err
		}
	}
	out.Unread = n
	return out, nil
}

// explained says what to do about an object that does not exist.
func explained(err error, kind string, key client.ObjectKey, resource string) error {
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read %s %s: %w", kind, key, err)
	}
	if key.Namespace == "" {
		return fmt.Errorf("%s %s does not exist; kubectl get %s lists those that do", kind, key.Name, resource)
	}
	return fmt.Errorf("%s %s does not exist in namespace %s; kubectl get %s -A lists those that do", kind, key.Name, key.Namespace, resource)
}

func (r Reader) database(ctx context.Context, n *notes, out *snapshot.Cluster) error {
	pg := &cnpgv1.Cluster{}
	found, err := r.get(ctx, n, "Cluster of CloudNativePG", client.ObjectKeyFromObject(out.Cluster), pg)
	if found {
		out.Database = pg
	}
	return err
}

func (r Reader) pods(ctx context.Context, n *notes, out *snapshot.Cluster) error {
	list := &corev1.PodList{}
	namespace := out.Cluster.Namespace
	err := r.list(ctx, n, "Pods in namespace "+namespace, list, client.InNamespace(namespace), client.MatchingLabels{labelCluster: out.Cluster.Name})
	out.Pods = list.Items
	slices.SortFunc(out.Pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return err
}

func (r Reader) claims(ctx context.Context, n *notes, out *snapshot.Cluster) error {
	list := &corev1.PersistentVolumeClaimList{}
	namespace := out.Cluster.Namespace
	err := r.list(ctx, n, "PersistentVolumeClaims in namespace "+namespace, list, client.InNamespace(namespace), client.MatchingLabels{labelCluster: out.Cluster.Name})
	out.Claims = list.Items
	slices.SortFunc(out.Claims, func(a, b corev1.PersistentVolumeClaim) int { return strings.Compare(a.Name, b.Name) })
	return err
}

// podMonitor of the cluster's name. That its kind is not installed is in a condition.
func (r Reader) podMonitor(ctx context.Context, n *notes, out *snapshot.Cluster) error {
	gvk := monitoringv1.SchemeGroupVersion.WithKind(monitoringv1.PodMonitorsKind)
	found, err := r.objects(ctx, n, gvk, client.InNamespace(out.Cluster.Namespace))
	for i := range found {
		if found[i].GetName() == out.Cluster.Name {
			out.PodMonitor = &found[i]
		}
	}
	return err
}

func (r Reader) benchmarks(ctx context.Context, n *notes, out *snapshot.Cluster) error {
	list := &v1alpha1.PgBenchmarkList{}
	err := r.list(ctx, n, "PgBenchmarks in namespace "+out.Cluster.Namespace, list, client.InNamespace(out.Cluster.Namespace))
	for _, b := range list.Items {
		if b.Spec.Cluster == out.Cluster.Name {
			out.Benchmarks = append(out.Benchmarks, b)
		}
	}
	Oldest(out.Benchmarks)
	return err
}

// Oldest first, then by name.
func Oldest(in []v1alpha1.PgBenchmark) {
	slices.SortFunc(in, func(a, b v1alpha1.PgBenchmark) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// NodeStorage of a name. It is an error if it does not exist.
func (r Reader) NodeStorage(ctx context.Context, name string) (*v1alpha1.PgNodeStorage, error) {
	out, key := &v1alpha1.PgNodeStorage{}, client.ObjectKey{Name: name}
	if err := r.Get(ctx, key, out); err != nil {
		return nil, explained(err, "PgNodeStorage", key, "pgns")
	}
	return out, nil
}

// Schedule of a key and its runs. It is an error if it does not exist.
func (r Reader) Schedule(ctx context.Context, key client.ObjectKey) (snapshot.Schedule, error) {
	out, n := snapshot.Schedule{Schedule: &v1alpha1.PgScheduledBenchmark{}}, notes{}
	if err := r.Get(ctx, key, out.Schedule); err != nil {
		return out, explained(err, "PgScheduledBenchmark", key, "pgsb")
	}
	list := &v1alpha1.PgBenchmarkList{}
	err := r.list(ctx, &n, "PgBenchmarks in namespace "+key.Namespace, list, client.InNamespace(key.Namespace))
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], out.Schedule) {
			out.Benchmarks = append(out.Benchmarks, list.Items[i])
		}
	}
	Oldest(out.Benchmarks)
	out.Unread = n
	return out, err
}

// Benchmark of a key and what it runs against. It is an error if it does not exist.
func (r Reader) Benchmark(ctx context.Context, key client.ObjectKey) (snapshot.Benchmark, error) {
	out, n := snapshot.Benchmark{Benchmark: &v1alpha1.PgBenchmark{}}, notes{}
	if err := r.Get(ctx, key, out.Benchmark); err != nil {
		return out, explained(err, "PgBenchmark", key, "pgb")
	}
	target := &v1alpha1.PgStorageCluster{}
	found, err := r.get(ctx, &n, "PgStorageCluster "+out.Benchmark.Spec.Cluster, client.ObjectKey{Namespace: key.Namespace, Name: out.Benchmark.Spec.Cluster}, target)
	if err != nil {
		return out, err
	}
	if found {
		out.Target = target
	}
	if job := out.Benchmark.Status.Job; job != "" {
		pods := &corev1.PodList{}
		if err := r.list(ctx, &n, "Pods in namespace "+key.Namespace, pods, client.InNamespace(key.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job}); err != nil {
			return out, err
		}
		out.Pods = pods.Items
	}
	out.Unread = n
	return out, nil
}
