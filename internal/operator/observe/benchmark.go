package observe

import (
	"context"
	"fmt"
	"slices"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// BenchmarkIndex is the cache index of PgBenchmarks by their cluster.
const BenchmarkIndex = "spec.cluster"

// IndexBenchmark is the index function of BenchmarkIndex. A matrix is not in it: it
// runs nothing itself, and its runs would wait for it.
func IndexBenchmark(obj client.Object) []string {
	b, ok := obj.(*v1alpha1.PgBenchmark)
	if !ok || b.Spec.Matrix != nil {
		return nil
	}
	return []string{b.Spec.Cluster}
}

// Benchmark reads the facts about a PgBenchmark, and its children.
func (r Readers) Benchmark(ctx context.Context, b *v1alpha1.PgBenchmark, apis observed.ForeignAPIs) (observed.Benchmark, plan.Live, error) {
	facts, live := observed.Benchmark{ForeignAPIs: apis}, plan.Live{}
	if err := r.target(ctx, b, &facts); err != nil {
		return facts, nil, err
	}
	if err := r.benchmarkChildren(ctx, b, &facts, live); err != nil {
		return facts, nil, err
	}
	if facts.Job != nil {
		return facts, live, nil
	}
	var err error
	if facts.Before, err = r.before(ctx, b, facts); err != nil {
		return facts, nil, err
	}
	if err := r.scripts(ctx, b, &facts); err != nil {
		return facts, nil, err
	}
	if facts.Volumes, err = r.volumes(ctx, facts.Target, facts); err != nil {
		return facts, nil, err
	}
	if facts.SourceVolumes, err = r.volumes(ctx, facts.Source, facts); err != nil {
		return facts, nil, err
	}
	facts.Scratch, err = r.scratch(ctx, b, facts)
	return facts, live, err
}

// target reads the cluster that is measured, and the one that it follows.
func (r Readers) target(ctx context.Context, b *v1alpha1.PgBenchmark, facts *observed.Benchmark) (err error) {
	key := client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.Cluster}
	if facts.Target, err = find(ctx, r.Cache, key, &v1alpha1.PgStorageCluster{}); err != nil || facts.Target == nil {
		return err
	}
	if db := facts.Target.Status.Database; db != nil {
		facts.Image = db.Image
	}
	if of := facts.Target.Spec.Follow; of != nil {
		key.Name = of.Cluster
		facts.Source, err = find(ctx, r.Cache, key, &v1alpha1.PgStorageCluster{})
	}
	return err
}

func (r Readers) benchmarkChildren(ctx context.Context, b *v1alpha1.PgBenchmark, facts *observed.Benchmark, live plan.Live) error {
	uid := string(b.UID)
	key := client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkObject(b.Name, uid)}
	var err error
	if facts.Job, err = find(ctx, r.Cache, key, &batchv1.Job{}); err != nil {
		return err
	}
	if facts.Job != nil {
		live[keyOf(batchv1.SchemeGroupVersion.WithKind("Job"), facts.Job)] = facts.Job
	}
	if !facts.CNPGInstalled || len(facts.CNPGMissingForBenchmarks) > 0 {
		return nil
	}
	if facts.Database, err = find(ctx, r.Cache, key, &cnpgv1.Database{}); err != nil {
		return err
	}
	if facts.Database != nil {
		live[keyOf(cnpgv1.SchemeGroupVersion.WithKind("Database"), facts.Database)] = facts.Database
	}
	if facts.Role, err = r.role(ctx, key, live); err != nil {
		return err
	}
	key.Name = naming.BenchmarkChecker(b.Name, uid)
	facts.CheckRole, err = r.role(ctx, key, live)
	return err
}

func (r Readers) role(ctx context.Context, key client.ObjectKey, live plan.Live) (*cnpgv1.DatabaseRole, error) {
	role, err := find(ctx, r.Cache, key, &cnpgv1.DatabaseRole{})
	if err == nil && role != nil {
		live[keyOf(cnpgv1.SchemeGroupVersion.WithKind("DatabaseRole"), role)] = role
	}
	return role, err
}

// Disturbed names the clusters whose benchmarks disturb each other, because they load the same
// database: a cluster and its read pools. It takes a cluster, and the one that it follows or nil.
func Disturbed(cr, source *v1alpha1.PgStorageCluster) []string {
	names := []string{cr.Name}
	if source == nil {
		source = cr
	}
	names = append(names, source.Name)
	for _, p := range source.Spec.ReadPools {
		names = append(names, naming.ReadPool(source.Name, p.Name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// before names an older PgBenchmark that has not ended, and disturbs this one.
func (r Readers) before(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark) (string, error) {
	clusters := []string{b.Spec.Cluster}
	if facts.Target != nil {
		clusters = Disturbed(facts.Target, facts.Source)
	}
	first := ""
	for _, cluster := range clusters {
		list := &v1alpha1.PgBenchmarkList{}
		if err := r.Cache.List(ctx, list, client.InNamespace(b.Namespace), client.MatchingFields{BenchmarkIndex: cluster}, client.UnsafeDisableDeepCopy); err != nil {
			return "", fmt.Errorf("list PgBenchmarks of %s: %w", cluster, err)
		}
		for i := range list.Items {
			if other := &list.Items[i]; goesFirst(other, b) && (first == "" || other.Name < first) {
				first = other.Name
			}
		}
	}
	return first, nil
}

// goesFirst says whether a benchmark runs, or will run, before b.
func goesFirst(other, b *v1alpha1.PgBenchmark) bool {
	return other.UID != b.UID && other.Status.CompletionTime == nil && !cannotStart(other, b) && earlier(other, b)
}

// cannotStart says whether a benchmark waits for something that only a user can provide, so
// that b need not wait for it. One of another cluster also may not hold up b while that
// cluster is not Ready.
func cannotStart(other, b *v1alpha1.PgBenchmark) bool {
	target := meta.FindStatusCondition(other.Status.Conditions, v1alpha1.ConditionTargetReady)
	if other.Status.Job != "" || target == nil {
		return false
	}
	switch target.Reason {
	case v1alpha1.ReasonScriptNotFound, v1alpha1.ReasonConsentRequired:
		return true
	case v1alpha1.ReasonTargetNotReady, v1alpha1.ReasonClusterNotFound:
		return other.Spec.Cluster != b.Spec.Cluster
	}
	return false
}

// earlier orders benchmarks by age, then by name. One that has its Job already
// runs first whatever its age.
func earlier(a, b *v1alpha1.PgBenchmark) bool {
	if a.Status.Job != "" {
		return true
	}
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}

// scripts that are missing or refused. It asks the API server: ConfigMaps of users are in
// no cache.
func (r Readers) scripts(ctx context.Context, b *v1alpha1.PgBenchmark, facts *observed.Benchmark) error {
	for _, s := range b.Spec.Pgbench.CustomScripts {
		cm, err := find(ctx, r.Live, client.ObjectKey{Namespace: b.Namespace, Name: s.ConfigMap}, &corev1.ConfigMap{})
		if err != nil {
			return err
		}
		where := fmt.Sprintf("ConfigMap %s key %s", s.ConfigMap, s.Key)
		if cm == nil || cm.Data[s.Key] == "" {
			facts.MissingScripts = append(facts.MissingScripts, where)
			continue
		}
		if err := pgbench.CheckScript([]byte(cm.Data[s.Key])); err != nil {
			facts.RefusedScripts = append(facts.RefusedScripts, where+" "+err.Error())
		}
	}
	return nil
}
