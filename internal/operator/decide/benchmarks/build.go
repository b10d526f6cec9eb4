package benchmarks

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/component/pgbench"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Benchmark is what follows from a PgBenchmark and the facts about it.
type Benchmark struct {
	Plan plan.Plan
	// Passwords maps each Secret that must exist before the plan's roles to its role. The
	// passwords are random, so the plan, which is deterministic, cannot contain them.
	Passwords map[string]string
	Target    outcome.Outcome
}

// Build returns the plan of a benchmark whose Job does not exist yet. It returns an error
// only for content that JSON cannot express.
func Build(b *v1alpha1.PgBenchmark, facts observed.Benchmark, config clusters.Config) (Benchmark, error) {
	uid := string(b.UID)
	out := Benchmark{
		Target:    targetOutcome(b, facts),
		Passwords: map[string]string{naming.BenchmarkObject(b.Name, string(b.UID)): naming.BenchmarkDatabase(uid)},
	}
	if out.Target.Kind != outcome.Done {
		out.Plan.AddGate(plan.StageAccess, out.Target.Reason, out.Target.Message)
	}
	instructions, err := pgbench.ConfigMap(pgbench.ConfigMapInputs{
		Benchmark: b, Target: facts.Target, Scratch: facts.Scratch,
		Space: space(facts.Target, facts.Volumes), SourceSpace: space(facts.Source, facts.SourceVolumes),
	})
	if err != nil {
		return out, err
	}
	source := pgbench.Source(facts.Target)
	loaded := loadedOn(b, source)
	configurations := []struct {
		stage plan.Stage
		ac    any
	}{
		{plan.StageAccess, pgbench.ServiceAccount(b)},
		{plan.StageAccess, pgbench.Role(b)},
		{plan.StageAccess, pgbench.RoleBinding(b)},
		{plan.StageAccess, instructions},
		{plan.StageAccess, pgbench.Record(b)},
		{plan.StageStorage, cnpg.BenchmarkRole(loaded, asked(facts.Role, facts.Now))},
		{plan.StageDatabase, cnpg.BenchmarkDatabase(loaded)},
		{plan.StageBenchmark, pgbench.Job(pgbench.JobInputs{Benchmark: b, Image: facts.Image, RunnerImage: config.BenchImage, PlatformUsers: config.PlatformUsers, Scratch: facts.Scratch, Source: source})},
	}
	for _, c := range configurations {
		o, err := plan.FromApply(c.stage, c.ac)
		if err != nil {
			return out, err
		}
		out.Plan.Add(o)
	}
	if b.Spec.Pgbench.Integrity != v1alpha1.IntegrityBasic {
		out.Passwords[naming.BenchmarkChecker(b.Name, string(b.UID))] = naming.BenchmarkCheckRole(uid)
		o, err := plan.FromApply(plan.StageStorage, cnpg.CheckRole(loaded, asked(facts.CheckRole, facts.Now)))
		if err != nil {
			return out, err
		}
		out.Plan.Add(o)
	}
	hold(&out.Plan, b, facts)
	if facts.Role != nil {
		// Roles come after access: where there is a role, access was applied.
		out.Plan.Applied(plan.StageAccess)
	}
	return out, nil
}

// loadedOn is a benchmark whose database and roles are on the cluster that its own follows.
// CloudNativePG creates them there, and they come to the follower with the WAL.
func loadedOn(b *v1alpha1.PgBenchmark, source string) *v1alpha1.PgBenchmark {
	if source == "" {
		return b
	}
	out := *b
	out.Spec.Cluster = source
	return &out
}

// hold adds the gates: the database waits for the roles, and the Job for both.
func hold(p *plan.Plan, b *v1alpha1.PgBenchmark, facts observed.Benchmark) {
	if message := roleWaits(facts.Role, "the benchmark's role"); message != "" {
		p.AddGate(plan.StageDatabase, v1alpha1.ReasonPreparing, message)
	}
	if message := roleWaits(facts.CheckRole, "the role of pg_amcheck"); message != "" && b.Spec.Pgbench.Integrity != v1alpha1.IntegrityBasic {
		p.AddGate(plan.StageBenchmark, v1alpha1.ReasonPreparing, message)
	}
	var applied *bool
	message := ""
	if facts.Database != nil {
		applied, message = facts.Database.Status.Applied, facts.Database.Status.Message
	}
	if message := waits(applied, message, "the benchmark's database"); message != "" {
		p.AddGate(plan.StageBenchmark, v1alpha1.ReasonPreparing, message)
	}
}

// Ended says whether a benchmark has its result or has failed for good.
func Ended(b *v1alpha1.PgBenchmark) bool {
	return b.Status.Phase == v1alpha1.PhaseSucceeded || b.Status.Phase == v1alpha1.PhaseFailed
}
