package observe

import (
	"context"
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// The kinds of children of a PgStorageCluster.
var (
	clusterGVK    = cnpgv1.SchemeGroupVersion.WithKind("Cluster")
	podMonitorGVK = monitoringv1.SchemeGroupVersion.WithKind("PodMonitor")
	benchmarkGVK  = v1alpha1.GroupVersion.WithKind("PgBenchmark")
	configMapGVK  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
)

// storageClusterGVK is the kind of the clusters of a matrix.
var storageClusterGVK = v1alpha1.GroupVersion.WithKind("PgStorageCluster")

// Readers read the cluster.
type Readers struct {
	// Cache holds only our objects. Live asks the API server, where a namesake may not be
	// ours.
	Cache client.Reader
	Live  client.Reader
	// Kinds of storage, and the caches of the objects that each declares as its sources.
	Kinds    profile.Catalog
	BySource map[SourceGroup]client.Reader
	Scheme   *runtime.Scheme
}

// SourceGroup is the sources of one kind of storage that share a cache.
type SourceGroup struct {
	Type  v1alpha1.ProfileType
	Group string
}

// Cluster reads the facts about a PgStorageCluster, and its children.
func (r Readers) Cluster(ctx context.Context, cr *v1alpha1.PgStorageCluster, apis observed.ForeignAPIs, benchmark string) (observed.Cluster, plan.Live, error) {
	facts, live := observed.Cluster{ForeignAPIs: apis}, plan.Live{}
	var err error
	if facts.Profile, err = find(ctx, r.Cache, client.ObjectKey{Name: cr.Spec.Profile}, &v1alpha1.PgStorageProfile{}); err != nil {
		return facts, nil, err
	}
	if err := r.database(ctx, cr, &facts, live); err != nil {
		return facts, nil, err
	}
	if err := r.podMonitor(ctx, cr, &facts, live); err != nil {
		return facts, nil, err
	}
	if err := r.queries(ctx, cr, live); err != nil {
		return facts, nil, err
	}
	if err := r.claims(ctx, cr, &facts); err != nil {
		return facts, nil, err
	}
	if err := r.followed(ctx, cr, &facts); err != nil {
		return facts, nil, err
	}
	if err := r.pools(ctx, cr, &facts, live); err != nil {
		return facts, nil, err
	}
	if err := r.branchOf(ctx, cr, &facts); err != nil {
		return facts, nil, err
	}
	return facts, live, r.benchmarks(ctx, cr, benchmark, &facts, live)
}

func (r Readers) database(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster, live plan.Live) error {
	if !facts.CNPGInstalled {
		return nil
	}
	key := client.ObjectKeyFromObject(cr)
	found, err := findEither(ctx, r, key, &cnpgv1.Cluster{}, &cnpgv1.Cluster{})
	if err != nil || found == nil {
		return err
	}
	if found.Labels[naming.LabelOwnerUID] != string(cr.UID) {
		facts.Namesake = &observed.Namesake{UID: string(found.UID), AdoptBy: found.Annotations[naming.AnnotationAdopt]}
		if facts.Namesake.AdoptBy == cr.Name {
			facts.Adoptee = found
			live[keyOf(clusterGVK, found)] = found
		}
		return nil
	}
	facts.Cluster = found
	live[keyOf(clusterGVK, found)] = found
	return nil
}

func (r Readers) podMonitor(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster, live plan.Live) error {
	if !facts.PodMonitors {
		return nil
	}
	key := client.ObjectKeyFromObject(cr)
	found, err := findEither(ctx, r, key, &monitoringv1.PodMonitor{}, &monitoringv1.PodMonitor{})
	if err != nil || found == nil {
		return err
	}
	if found.Labels[naming.LabelManagedBy] != naming.ManagedBy || found.Labels[naming.LabelCluster] != cr.Name {
		facts.ForeignPodMonitor = true
		return nil
	}
	facts.PodMonitor = true
	live[keyOf(podMonitorGVK, found)] = found
	return nil
}

// queries reads the ConfigMap of monitoring queries. No cache holds ConfigMaps.
func (r Readers) queries(ctx context.Context, cr *v1alpha1.PgStorageCluster, live plan.Live) error {
	key := client.ObjectKey{Namespace: cr.Namespace, Name: naming.DurabilityQueries(cr.Name, string(cr.UID))}
	found, err := find(ctx, r.Live, key, &corev1.ConfigMap{})
	if err != nil || found == nil {
		return err
	}
	live[keyOf(configMapGVK, found)] = found
	return nil
}

// benchmarks reads the PgBenchmarks that this cluster owns, current or not.
func (r Readers) benchmarks(ctx context.Context, cr *v1alpha1.PgStorageCluster, current string, facts *observed.Cluster, live plan.Live) error {
	list := &v1alpha1.PgBenchmarkList{}
	if err := r.Cache.List(ctx, list, client.InNamespace(cr.Namespace), client.MatchingLabels(naming.Labels(cr.Name)), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list PgBenchmarks of %s: %w", cr.Name, err)
	}
	for i := range list.Items {
		b := &list.Items[i]
		live[keyOf(benchmarkGVK, b)] = b
		if b.Name == current {
			facts.Benchmark = b
		}
	}
	return nil
}

func keyOf(gvk schema.GroupVersionKind, obj client.Object) plan.Key {
	return plan.Key{GroupVersionKind: gvk, Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// find returns nil for an object that does not exist. A name that no object can have is
// one of those: a client refuses to ask for it, which no later pass would change.
func find[T client.Object](ctx context.Context, r client.Reader, key client.ObjectKey, into T) (T, error) {
	var none T
	if len(content.IsPathSegmentName(key.Name)) > 0 {
		return none, nil
	}
	if err := r.Get(ctx, key, into); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return none, nil
		}
		return none, fmt.Errorf("read %T %s: %w", into, key, err)
	}
	return into, nil
}

// findEither asks the API server for what the cache does not hold: it may be
// younger than the cache, or not ours.
func findEither[T interface {
	client.Object
	comparable
}](ctx context.Context, r Readers, key client.ObjectKey, cached, live T) (T, error) {
	var none T
	found, err := find(ctx, r.Cache, key, cached)
	if err != nil || found != none {
		return found, err
	}
	return find(ctx, r.Live, key, live)
}
