package clusters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/readpool"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// addReadPools adds the PgStorageCluster of each declared pool. One that is cloned again is
// deleted first, because the API server refuses the change.
func (c *Cluster) addReadPools(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, config Config) error {
	if o := readPoolsOutcome(cr, facts, config); o != nil {
		c.Outcomes.Add(*o)
	}
	if !config.ReadPools {
		return nil
	}
	for _, pool := range cr.Spec.ReadPools {
		if facts.ForeignPools[pool.Name] || refusedPool(cr, pool) != "" || replaced(cr, pool, facts) != "" {
			continue
		}
		configuration, err := readpool.Cluster(cr, pool)
		if err != nil {
			return err
		}
		object, err := plan.FromApply(plan.StageReadPools, configuration)
		if err != nil {
			return err
		}
		c.Plan.Add(object)
	}
	return nil
}

// replaced says why the PgStorageCluster of a pool has to be deleted and created
// again; empty if it need not.
func replaced(cr *v1alpha1.PgStorageCluster, pool v1alpha1.ReadPool, facts observed.Cluster) string {
	live := facts.Pools[pool.Name]
	if live == nil {
		return ""
	}
	want, have := readpool.Spec(cr, pool), live.Spec
	switch {
	case !live.DeletionTimestamp.IsZero():
		return "it is being deleted"
	case want.Profile != have.Profile:
		return fmt.Sprintf("its profile was %s", have.Profile)
	case want.Storage.Size.Cmp(have.Storage.Size) < 0:
		return fmt.Sprintf("its volumes have %s", have.Storage.Size.String())
	case smallerWAL(want.Storage.WALSize, have.Storage.WALSize):
		return fmt.Sprintf("its volumes for WAL have %s", have.Storage.WALSize)
	case major(want.Postgres.Version) != major(have.Postgres.Version):
		return fmt.Sprintf("it runs PostgreSQL %d", major(have.Postgres.Version))
	case want.Postgres.Database != have.Postgres.Database || want.Postgres.Owner != have.Postgres.Owner:
		return "its cluster has another database"
	case lacksWAL(live):
		return "its cluster does not keep the WAL that it needs next"
	}
	return replacedInMemory(want, live, facts.PoolsInMemory[pool.Name])
}

// replacedInMemory says why a pool on a profile of type Memory is created again.
func replacedInMemory(want v1alpha1.PgStorageClusterSpec, live *v1alpha1.PgStorageCluster, inMemory bool) string {
	switch {
	case volumeLost(live):
		return "its volumes were in the memory of a node, and are gone"
	case inMemory && grows(want, live.Spec):
		return "volumes in memory do not grow"
	}
	return ""
}

// volumeLost says that a pool reports a volume in memory that is gone.
func volumeLost(live *v1alpha1.PgStorageCluster) bool {
	verified := poolCondition(live, v1alpha1.ConditionVolumesVerified)
	return verified != nil && verified.Reason == v1alpha1.ReasonVolumeLost
}

// lacksWAL says that a pool reports that it cannot continue.
func lacksWAL(live *v1alpha1.PgStorageCluster) bool {
	lag := poolCondition(live, v1alpha1.ConditionFollowersCaughtUp)
	return lag != nil && lag.Reason == v1alpha1.ReasonWALRemoved
}

// grows says that a volume of a pool is to be larger.
func grows(want, have v1alpha1.PgStorageClusterSpec) bool {
	return want.Storage.Size.Cmp(have.Storage.Size) > 0 || smallerWAL(have.Storage.WALSize, want.Storage.WALSize)
}

func smallerWAL(want, have *resource.Quantity) bool {
	return have != nil && (want == nil || want.Cmp(*have) < 0)
}

// PoolsToDelete are the PgStorageClusters of pools that are not declared any more, or are
// cloned again. It is none unless the cluster is healthy, because a pool may have the last
// copy of its data otherwise. For the same reason a declared pool whose cluster was replaced
// stays. One whose declaration is refused stays too: the operator would not create it again.
func PoolsToDelete(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, config Config) []*v1alpha1.PgStorageCluster {
	if !config.ReadPools || heldBack(cr, facts) != "" {
		return nil
	}
	var out []*v1alpha1.PgStorageCluster
	for _, name := range slices.Sorted(maps.Keys(facts.Pools)) {
		live := facts.Pools[name]
		pool, declared := declaredPool(cr, name)
		again := refusedPool(cr, pool) == "" && replaced(cr, pool, facts) != "" && !outlived(live)
		if live.DeletionTimestamp.IsZero() && (!declared || again) {
			out = append(out, live)
		}
	}
	return out
}

// outlived says that a pool reports another database in place of the one it was cloned from.
func outlived(live *v1alpha1.PgStorageCluster) bool {
	source := poolCondition(live, v1alpha1.ConditionSourceReady)
	return source != nil && source.Reason == v1alpha1.ReasonSourceReplaced
}

func declaredPool(cr *v1alpha1.PgStorageCluster, name string) (v1alpha1.ReadPool, bool) {
	for _, p := range cr.Spec.ReadPools {
		if p.Name == name {
			return p, true
		}
	}
	return v1alpha1.ReadPool{}, false
}

// readPoolsOutcome says how the pools are. It is nil where there is none.
func readPoolsOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, config Config) *outcome.Outcome {
	if len(cr.Spec.ReadPools)+len(facts.Pools) == 0 {
		return nil
	}
	const c = v1alpha1.ConditionReadPoolsReady
	if !config.ReadPools {
		o := outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, msgPoolsOff)
		return &o
	}
	var all []outcome.Outcome
	for _, p := range cr.Spec.ReadPools {
		all = append(all, poolOutcome(cr, p, facts))
	}
	for _, name := range slices.Sorted(maps.Keys(facts.Pools)) {
		if _, declared := declaredPool(cr, name); !declared {
			all = append(all, outcome.WaitFor(c, v1alpha1.ReasonDeleting, fmt.Sprintf(msgPoolRemoved, name)+heldBack(cr, facts)))
		}
	}
	worst := slices.MaxFunc(all, func(a, b outcome.Outcome) int { return int(a.Kind) - int(b.Kind) })
	if worst.Kind == outcome.Done {
		worst.Message = fmt.Sprintf(msgPoolsReady, len(all))
		return &worst
	}
	var texts []string
	for _, o := range all {
		if o.Kind != outcome.Done {
			texts = append(texts, o.Message)
		}
	}
	worst.Message = strings.Join(texts, "; ")
	return &worst
}

// heldBack says that no pool is deleted while the cluster is not healthy.
func heldBack(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) string {
	if facts.Cluster != nil && Healthy(cr, facts.Cluster) {
		return ""
	}
	return msgPoolHeld
}

func poolOutcome(cr *v1alpha1.PgStorageCluster, pool v1alpha1.ReadPool, facts observed.Cluster) outcome.Outcome {
	const c = v1alpha1.ConditionReadPoolsReady
	live, name := facts.Pools[pool.Name], naming.ReadPool(cr.Name, pool.Name)
	if facts.ForeignPools[pool.Name] {
		return outcome.InvalidBecause(c, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf(msgPoolNotOwned, pool.Name, name))
	}
	if text := refusedPool(cr, pool); text != "" {
		return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, text)
	}
	if live == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonReadPoolNotReady, fmt.Sprintf(msgPoolCreating, pool.Name, name))
	}
	if why := replaced(cr, pool, facts); why != "" && !outlived(live) {
		return outcome.WaitFor(c, v1alpha1.ReasonCloningAgain, fmt.Sprintf(msgPoolAgain, pool.Name, why)+heldBack(cr, facts))
	}
	ready := meta.FindStatusCondition(live.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.ObservedGeneration != live.Generation {
		return outcome.WaitFor(c, v1alpha1.ReasonReadPoolNotReady, fmt.Sprintf(msgPoolCreating, pool.Name, name))
	}
	if ready.Status == metav1.ConditionTrue {
		return outcome.DoneWith(c, v1alpha1.ReasonReady, "")
	}
	o := outcome.WaitFor(c, v1alpha1.ReasonReadPoolNotReady, fmt.Sprintf(msgPoolNotReady, pool.Name, ready.Reason, ready.Message))
	if meta.IsStatusConditionTrue(live.Status.Conditions, v1alpha1.ConditionStalled) {
		o.Kind = outcome.Invalid
	}
	return o
}

// poolsCaughtUp sums up what the pools report of their lag; nil where there is none.
func poolsCaughtUp(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *outcome.Outcome {
	if len(cr.Spec.ReadPools) == 0 {
		return nil
	}
	const c = v1alpha1.ConditionFollowersCaughtUp
	late, unknown := []outcome.Outcome{}, []string{}
	for _, p := range cr.Spec.ReadPools {
		told := poolCondition(facts.Pools[p.Name], c)
		switch {
		case told == nil || told.Status == metav1.ConditionUnknown:
			unknown = append(unknown, p.Name)
		case told.Status == metav1.ConditionFalse:
			late = append(late, outcome.WaitFor(c, told.Reason, fmt.Sprintf("read pool %s: %s", p.Name, told.Message)))
		}
	}
	var o outcome.Outcome
	switch {
	case len(late) > 0:
		o = late[0]
		for _, other := range late[1:] {
			o.Message += "; " + other.Message
		}
	case len(unknown) > 0:
		o = outcome.WaitFor(c, v1alpha1.ReasonNotReadBack, fmt.Sprintf(msgPoolsNotRead, strings.Join(unknown, ", ")))
		o.Unknown = true
	default:
		o = outcome.DoneWith(c, v1alpha1.ReasonCaughtUp, fmt.Sprintf(msgPoolsCaughtUp, len(cr.Spec.ReadPools)))
	}
	o.Informative = true
	return &o
}

func poolCondition(live *v1alpha1.PgStorageCluster, name string) *metav1.Condition {
	if live == nil {
		return nil
	}
	return meta.FindStatusCondition(live.Status.Conditions, name)
}

// readPoolStatus of each declared pool.
func readPoolStatus(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) []v1alpha1.ReadPoolStatus {
	var out []v1alpha1.ReadPoolStatus
	for _, p := range cr.Spec.ReadPools {
		s := v1alpha1.ReadPoolStatus{Name: p.Name, Cluster: naming.ReadPool(cr.Name, p.Name), Profile: readpool.Profile(cr, p)}
		if live := facts.Pools[p.Name]; live != nil {
			s.Profile, s.Follower = live.Spec.Profile, live.Status.Follower
			if c := poolCondition(live, v1alpha1.ConditionReady); c != nil {
				ready := c.Status == metav1.ConditionTrue
				s.Ready, s.Reason = &ready, c.Reason
			}
			if d := live.Status.Database; d != nil {
				s.ReadyInstances = d.ReadyInstances
			}
			if e := live.Status.Endpoints; e != nil {
				s.Read = e.Read
			}
			if secrets := live.Status.Secrets; secrets != nil {
				s.CertificateAuthority = secrets.CertificateAuthority
			}
		}
		out = append(out, s)
	}
	return out
}
