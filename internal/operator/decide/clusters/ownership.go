package clusters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// holdDatabase keeps a Cluster from being made where that would not be safe.
func holdDatabase(p *plan.Plan, cr *v1alpha1.PgStorageCluster, facts observed.Cluster) {
	if o := CNPGOutcome(facts.ForeignAPIs); o.Kind != outcome.Done {
		p.AddGate(plan.StageDatabase, o.Reason, o.Message)
	}
	if o, held := ownership(cr, facts); held {
		p.AddGate(plan.StageDatabase, o.Reason, o.Message)
	}
}

// CNPGOutcome says whether CloudNativePG can take what we apply.
func CNPGOutcome(apis observed.ForeignAPIs) outcome.Outcome {
	const c = v1alpha1.ConditionDatabaseReady
	if !apis.CNPGInstalled {
		return outcome.WaitFor(c, v1alpha1.ReasonCNPGNotInstalled, msgCNPGNotInstalled)
	}
	if len(apis.CNPGMissing) > 0 {
		return outcome.WaitFor(c, v1alpha1.ReasonCNPGTooOld, fmt.Sprintf(msgCNPGTooOld, strings.Join(apis.CNPGMissing, ", ")))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonHealthy, "")
}

// BenchmarkOutcome says whether CloudNativePG can take what a benchmark applies. Features
// decide it, not version numbers, because distributions backport and rename versions.
func BenchmarkOutcome(apis observed.ForeignAPIs) outcome.Outcome {
	o := CNPGOutcome(apis)
	if o.Kind == outcome.Done && len(apis.CNPGMissingForBenchmarks) > 0 {
		return outcome.WaitFor(o.Condition, v1alpha1.ReasonCNPGTooOld, fmt.Sprintf(msgCNPGNoBenchmarks, strings.Join(apis.CNPGMissingForBenchmarks, ", ")))
	}
	return o
}

// ownership refuses a Cluster of the same name that is not ours, and a new empty
// database in place of one that a user deleted.
func ownership(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) (outcome.Outcome, bool) {
	const c = v1alpha1.ConditionDatabaseReady
	if o, refused := namesake(cr, facts); refused {
		return o, true
	}
	known := cr.Status.Database
	if facts.Cluster != nil || facts.Namesake != nil || known == nil || known.UID == "" || known.Initialized == nil || !*known.Initialized {
		return outcome.Outcome{}, false
	}
	if cr.Annotations[naming.AnnotationRecreate] == known.UID {
		return outcome.Outcome{}, false
	}
	return outcome.InvalidBecause(c, v1alpha1.ReasonClusterDeleted, fmt.Sprintf(msgClusterDeleted, known.Name, known.UID, cr.Namespace, cr.Name, naming.AnnotationRecreate, known.UID)), true
}

// namesake refuses a Cluster of our name that was not given to us, or is not safe to
// take over.
func namesake(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) (outcome.Outcome, bool) {
	const c = v1alpha1.ConditionDatabaseReady
	if n := facts.Namesake; n != nil && n.AdoptBy != cr.Name {
		return outcome.InvalidBecause(c, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf(msgClusterNotOwned, cr.Name, cr.Namespace, cr.Name, naming.AnnotationAdopt, cr.Name)), true
	}
	if unsafe := unadoptable(cr, facts); len(unsafe) > 0 {
		return outcome.InvalidBecause(c, v1alpha1.ReasonAdoptionRefused, fmt.Sprintf(msgAdoptionRefused, cr.Name, strings.Join(unsafe, "; "))), true
	}
	return outcome.Outcome{}, false
}

// unadoptable says what of a CloudNativePG Cluster forbids to take it over: what is
// refused in a spec is refused in what exists, too. It is empty where none is to be.
func unadoptable(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) []string {
	c, seen := facts.Adoptee, facts.AdopteeReadBack
	if c == nil {
		return nil
	}
	out := Unsafe(cr, c)
	if text := otherMajor(cr, c); text != "" {
		out = append(out, text)
	}
	if c.Spec.ReplicaCluster != nil {
		out = append(out, msgAdoptReplica)
	}
	if s := c.Spec.PostgresConfiguration.Synchronous; s != nil && len(s.StandbyNamesPre)+len(s.StandbyNamesPost) > 0 && cr.Spec.Durability == v1alpha1.DurabilityQuorum {
		out = append(out, msgAdoptStandbys)
	}
	if !sameEnvironment(cr, c) {
		out = append(out, msgAdoptEnvironment)
	}
	return append(out, reported(cr, seen)...)
}

// Unsafe says which parameters of a Cluster the operator refuses, by their fields.
func Unsafe(cr *v1alpha1.PgStorageCluster, c *cnpgv1.Cluster) []string {
	return postgres.UnsafeToAdopt(inputs(cr, profile.Volumes{}), c.Spec.PostgresConfiguration.Parameters)
}

// otherMajor says that a Cluster runs another major of Postgres than the spec has, which
// decides the parameters that exist. It is empty while CloudNativePG reports none.
func otherMajor(cr *v1alpha1.PgStorageCluster, c *cnpgv1.Cluster) string {
	info := c.Status.PGDataImageInfo
	if info == nil || info.MajorVersion == 0 || info.MajorVersion == major(cr.Spec.Postgres.Version) {
		return ""
	}
	return fmt.Sprintf(msgOtherMajor, major(cr.Spec.Postgres.Version), info.MajorVersion, info.MajorVersion)
}

// sameEnvironment says that the instances of a Cluster to adopt have the environment that
// was reviewed in spec.cnpg.spec, and no other.
func sameEnvironment(cr *v1alpha1.PgStorageCluster, c *cnpgv1.Cluster) bool {
	live, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&cnpgv1.ClusterSpec{Env: c.Spec.Env, EnvFrom: c.Spec.EnvFrom})
	if err != nil {
		return false
	}
	spec, _ := overrides(cr)["spec"].(map[string]any)
	return naming.Hash([]any{live["env"], live["envFrom"]}) == naming.Hash([]any{spec["env"], spec["envFrom"]})
}

// reported is what the instances of a Cluster to adopt run with, for example by ALTER
// SYSTEM. Checksums cannot be enabled while they run, and are reported afterwards.
func reported(cr *v1alpha1.PgStorageCluster, seen observed.ReadBack) []string {
	var g grounds
	for _, instance := range slices.Sorted(maps.Keys(seen.Instances)) {
		g.compare(cr, instance, seen)
	}
	var out []string
	for _, text := range slices.Concat(g.weak, g.damage) {
		if !strings.Contains(text, "data_checksums") {
			out = append(out, text+" (as the instance reports it; see ALTER SYSTEM and postgresql.auto.conf)")
		}
	}
	return out
}
