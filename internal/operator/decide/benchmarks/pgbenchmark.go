package benchmarks

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	// Passwords are the Secrets that must exist before the plan's roles, with the
	// role that each is for. Their contents are random, so they are no plan.
	Passwords map[string]string
	Target    outcome.Outcome
}

// PgBenchmark builds the plan of a benchmark that has not ended.
func Build(b *v1alpha1.PgBenchmark, facts observed.Benchmark, config clusters.Config) (Benchmark, error) {
	uid := string(b.UID)
	out := Benchmark{
		Target:    targetOutcome(b, facts),
		Passwords: map[string]string{naming.BenchmarkObject(b.Name, string(b.UID)): naming.BenchmarkDatabase(uid)},
	}
	if out.Target.Kind != outcome.Done {
		out.Plan.AddGate(plan.StageAccess, out.Target.Reason, out.Target.Message)
	}
	instructions, err := pgbench.ConfigMap(b, facts.Target, facts.Scratch, space(facts))
	if err != nil {
		return out, err
	}
	configurations := []struct {
		stage plan.Stage
		ac    any
	}{
		{plan.StageAccess, pgbench.ServiceAccount(b)},
		{plan.StageAccess, pgbench.Role(b)},
		{plan.StageAccess, pgbench.RoleBinding(b)},
		{plan.StageAccess, instructions},
		{plan.StageAccess, pgbench.Record(b)},
		{plan.StageStorage, cnpg.BenchmarkRole(b, asked(facts.Role, facts.Now))},
		{plan.StageDatabase, cnpg.BenchmarkDatabase(b)},
		{plan.StageBenchmark, pgbench.Job(pgbench.JobInputs{Benchmark: b, Image: facts.Image, RunnerImage: config.BenchImage, Scratch: facts.Scratch})},
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
		o, err := plan.FromApply(plan.StageStorage, cnpg.CheckRole(b, asked(facts.CheckRole, facts.Now)))
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

// hold waits for roles before the database, and for both before the Job.
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

func roleWaits(role *cnpgv1.DatabaseRole, what string) string {
	if role == nil {
		return waits(nil, "", what)
	}
	return waits(role.Status.Applied, role.Status.Message, what)
}

const (
	// AskAgain is after how long a role that failed is written again. CloudNativePG's
	// instance looks at a new role before its operator has let it read the role's Secret,
	// and by itself not before 30 s later (CloudNativePG 1.30,
	// internal/management/controller/databaserole_controller.go).
	AskAgain = 2 * time.Second
	// mostAsked bounds how often: until CloudNativePG looks again by itself.
	mostAsked = 15
)

// asked is how often a role that is not applied has been written again by now; of one
// that is applied what it was at last.
func asked(role *cnpgv1.DatabaseRole, now time.Time) string {
	if role == nil {
		return ""
	}
	if n := min(int(now.Sub(role.CreationTimestamp.Time)/AskAgain), mostAsked); failed(role) && n > 0 {
		return strconv.Itoa(n)
	}
	return role.Annotations[naming.AnnotationAsked]
}

// AsksAgain says whether a role is to be written again some time after now.
func AsksAgain(facts observed.Benchmark) bool {
	for _, role := range []*cnpgv1.DatabaseRole{facts.Role, facts.CheckRole} {
		if role != nil && failed(role) && facts.Now.Sub(role.CreationTimestamp.Time) < mostAsked*AskAgain {
			return true
		}
	}
	return false
}

func failed(role *cnpgv1.DatabaseRole) bool {
	return role.Status.Applied != nil && !*role.Status.Applied
}

// waits says what CloudNativePG has not applied yet, and why, or "".
func waits(applied *bool, why, what string) string {
	if applied != nil && *applied {
		return ""
	}
	message := "waits for CloudNativePG to create " + what
	if why != "" {
		message += ": " + why
	}
	return message
}

func targetOutcome(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	const c = v1alpha1.ConditionTargetReady
	if facts.Target == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonClusterNotFound, fmt.Sprintf("spec.cluster: PgStorageCluster %s does not exist in namespace %s; create it, or see kubectl -n %s get pgsc", b.Spec.Cluster, b.Namespace, b.Namespace))
	}
	if o := admitted(b, facts.Target); o.Kind != outcome.Done && facts.Job == nil {
		return o
	}
	if b.Spec.Pgbench.ColdCache && !ofMatrix(facts.Target) {
		return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.pgbench.coldCache empties caches of the server, which is done only to clusters that a matrix has made for itself, and PgStorageCluster %s is none; leave it out, or give spec.template and spec.matrix in place of spec.cluster", b.Spec.Cluster))
	}
	if o := clusters.CNPGOutcome(facts.ForeignAPIs); o.Kind != outcome.Done {
		return outcome.WaitFor(c, o.Reason, o.Message)
	}
	if len(facts.MissingScripts) > 0 {
		return outcome.WaitFor(c, v1alpha1.ReasonScriptNotFound, "spec.pgbench.customScripts: not found: "+strings.Join(facts.MissingScripts, ", ")+"; create the ConfigMap with that key")
	}
	if len(facts.RefusedScripts) > 0 {
		return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, "spec.pgbench.customScripts: "+strings.Join(facts.RefusedScripts, "; ")+"; then create another PgBenchmark")
	}
	if facts.Job == nil {
		return turnOutcome(b, facts)
	}
	return measurable(b)
}

// turnOutcome of a benchmark that has not begun.
func turnOutcome(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	const c = v1alpha1.ConditionTargetReady
	ready := meta.FindStatusCondition(facts.Target.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != "True" || ready.ObservedGeneration != facts.Target.Generation || facts.Image == "" {
		return outcome.WaitFor(c, v1alpha1.ReasonTargetNotReady, fmt.Sprintf("waits until PgStorageCluster %s is Ready", b.Spec.Cluster))
	}
	if facts.Before != "" {
		return outcome.WaitFor(c, v1alpha1.ReasonWaitingForTurn, fmt.Sprintf("waits for PgBenchmark %s: one benchmark at a time runs against a cluster", facts.Before))
	}
	return roomOutcome(b, facts)
}

func measurable(b *v1alpha1.PgBenchmark) outcome.Outcome {
	return outcome.DoneWith(v1alpha1.ConditionTargetReady, v1alpha1.ReasonReady, fmt.Sprintf("PgStorageCluster %s can be measured", b.Spec.Cluster))
}

// ofMatrix says that a matrix has made a cluster for itself: nothing is in it but
// pgbench's tables.
func ofMatrix(cluster *v1alpha1.PgStorageCluster) bool {
	owner := metav1.GetControllerOf(cluster)
	return owner != nil && owner.Kind == "PgBenchmark" && owner.APIVersion == v1alpha1.GroupVersion.String()
}

// Ended says whether a benchmark has its result or has failed for good.
func Ended(b *v1alpha1.PgBenchmark) bool {
	return b.Status.Phase == v1alpha1.PhaseSucceeded || b.Status.Phase == v1alpha1.PhaseFailed
}

// jobFailed returns why a Job failed, or "".
func jobFailed(job *batchv1.Job) string {
	if job == nil {
		return ""
	}
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

func jobComplete(job *batchv1.Job) bool {
	if job == nil {
		return false
	}
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
