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
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Cluster reads a PgStorageCluster and everything it depends on. It returns an error if the
// PgStorageCluster does not exist.
func (r Reader) Cluster(ctx context.Context, key client.ObjectKey) (snapshot.Cluster, error) {
	out, n := snapshot.Cluster{Cluster: &v1alpha1.PgStorageCluster{}}, notes{}
	if err := r.Get(ctx, key, out.Cluster); err != nil {
		return out, readError(err, "PgStorageCluster", key, "pgsc")
	}
	var err error
	if out.Profile, err = r.Profile(ctx, out.Cluster.Spec.Profile); err != nil {
		return out, err
	}
	for _, read := range []func(context.Context, *notes, *snapshot.Cluster) error{r.database, r.pods, r.claims, r.podMonitor, r.benchmarks, r.branches} {
		if err := read(ctx, &n, &out); err != nil {
			return out, err
		}
	}
	out.Unread = n
	return out, nil
}

// readError says how to list the existing objects if the object does not exist.
func readError(err error, kind string, key client.ObjectKey, resource string) error {
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read %s %s: %w", kind, key, err)
	}
	if key.Namespace == "" {
		return fmt.Errorf("%s %s does not exist; list the existing ones with kubectl get %s", kind, key.Name, resource)
	}
	return fmt.Errorf("%s %s does not exist in namespace %s; list the existing ones with kubectl get %s -A", kind, key.Name, key.Namespace, resource)
}

func (r Reader) database(ctx context.Context, n *notes, out *snapshot.Cluster) error {
	pg := &cnpgv1.Cluster{}
	found, err := r.get(ctx, n, snapshot.Database, client.ObjectKeyFromObject(out.Cluster), pg)
	if found {
		out.Database = pg
	}
	return err
}

func (r Reader) pods(ctx context.Context, n *notes, out *snapshot.Cluster) error {
	list := &corev1.PodList{}
	err := r.listOf(ctx, n, "Pods", out.Cluster, list)
	out.Pods = list.Items
	slices.SortFunc(out.Pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return err
}

func (r Reader) claims(ctx context.Context, n *notes, out *snapshot.Cluster) error {
	list := &corev1.PersistentVolumeClaimList{}
	err := r.listOf(ctx, n, "PersistentVolumeClaims", out.Cluster, list)
	out.Claims = list.Items
	slices.SortFunc(out.Claims, func(a, b corev1.PersistentVolumeClaim) int { return strings.Compare(a.Name, b.Name) })
	return err
}

// listOf lists the objects that CloudNativePG has labelled as those of a cluster.
func (r Reader) listOf(ctx context.Context, n *notes, what string, cr *v1alpha1.PgStorageCluster, list client.ObjectList) error {
	return r.list(ctx, n, what+" in namespace "+cr.Namespace, list, client.InNamespace(cr.Namespace), client.MatchingLabels{naming.LabelCNPGCluster: cr.Name})
}

// podMonitor reads the PodMonitor of the cluster. A condition reports a missing CRD.
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
	SortByAge(out.Benchmarks)
	return err
}

// SortByAge sorts benchmarks, oldest first, and then by name.
func SortByAge(in []v1alpha1.PgBenchmark) {
	slices.SortFunc(in, func(a, b v1alpha1.PgBenchmark) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// Target reads the PgStorageCluster that a benchmark is to measure. It returns an error if
// it does not exist.
func (r Reader) Target(ctx context.Context, key client.ObjectKey) (*v1alpha1.PgStorageCluster, error) {
	out := &v1alpha1.PgStorageCluster{}
	if err := r.Get(ctx, key, out); err != nil {
		return nil, readError(err, "PgStorageCluster", key, "pgsc")
	}
	return out, nil
}

// NodeStorage reads a PgNodeStorage. It returns an error if it does not exist.
func (r Reader) NodeStorage(ctx context.Context, name string) (*v1alpha1.PgNodeStorage, error) {
	out, key := &v1alpha1.PgNodeStorage{}, client.ObjectKey{Name: name}
	if err := r.Get(ctx, key, out); err != nil {
		return nil, readError(err, "PgNodeStorage", key, "pgns")
	}
	return out, nil
}

// Schedule reads a PgScheduledBenchmark and its retained PgBenchmarks. It returns an error
// if it does not exist.
func (r Reader) Schedule(ctx context.Context, key client.ObjectKey) (snapshot.Schedule, error) {
	out, n := snapshot.Schedule{Schedule: &v1alpha1.PgScheduledBenchmark{}}, notes{}
	if err := r.Get(ctx, key, out.Schedule); err != nil {
		return out, readError(err, "PgScheduledBenchmark", key, "pgsb")
	}
	list := &v1alpha1.PgBenchmarkList{}
	err := r.list(ctx, &n, "PgBenchmarks in namespace "+key.Namespace, list, client.InNamespace(key.Namespace))
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], out.Schedule) {
			out.Benchmarks = append(out.Benchmarks, list.Items[i])
		}
	}
	SortByAge(out.Benchmarks)
	out.Unread = n
	return out, err
}

// Benchmark reads a PgBenchmark, its target and its pods. It returns an error if the
// PgBenchmark does not exist.
func (r Reader) Benchmark(ctx context.Context, key client.ObjectKey) (snapshot.Benchmark, error) {
	out, n := snapshot.Benchmark{Benchmark: &v1alpha1.PgBenchmark{}}, notes{}
	if err := r.Get(ctx, key, out.Benchmark); err != nil {
		return out, readError(err, "PgBenchmark", key, "pgb")
	}
	var err error
	if out.Target, err = r.target(ctx, &n, out.Benchmark); err != nil {
		return out, err
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

// target reads the PgStorageCluster that a PgBenchmark names. It returns nil if there is
// none; a matrix with a template names none.
func (r Reader) target(ctx context.Context, n *notes, b *v1alpha1.PgBenchmark) (*v1alpha1.PgStorageCluster, error) {
	if b.Spec.Cluster == "" {
		return nil, nil
	}
	target := &v1alpha1.PgStorageCluster{}
	found, err := r.get(ctx, n, snapshot.NamedCluster+b.Spec.Cluster, client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.Cluster}, target)
	if err != nil || !found {
		return nil, err
	}
	return target, nil
}
