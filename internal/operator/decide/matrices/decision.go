package matrices

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/pgbench"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Decision is what one reconcile of a matrix does. The status is written first, because
// deletions and creations follow from its records.
type Decision struct {
	// Status without conditions, and the Outcomes that these are made of.
	Status   v1alpha1.PgBenchmarkStatus
	Outcomes outcome.Set
	// Benchmarks and Clusters to be deleted. All were made for this matrix.
	Benchmarks []*v1alpha1.PgBenchmark
	Clusters   []*v1alpha1.PgStorageCluster
	// Plan of what is to be there: the cluster of the run that is next, and the run.
	Plan plan.Plan
	// Begins says that the Plan is what a run needs that has not begun.
	Begins bool
	// After is when to reconcile again. Zero: when a watch reports a change.
	After time.Duration
}

// Decide returns the decision about a matrix at a time. It does not change its arguments.
func Decide(b *v1alpha1.PgBenchmark, facts observed.Matrix, now metav1.Time) (Decision, error) {
	d, err := newDesign(b, period(b.Spec.Matrix.TotalTimeout))
	if err != nil {
		return refused(b, err, now), nil
	}
	p := &pass{design: d, view: d.look(facts), facts: facts, now: now, given: given(b, facts)}
	p.ended = p.records()
	if err := p.count(); err != nil {
		return Decision{}, err
	}
	outcomes, err := p.decide()
	if err != nil {
		return Decision{}, err
	}
	p.decision.Outcomes = outcomes
	err = p.report()
	return p.decision, err
}

// Own are the runs and clusters that were made for a benchmark and still exist.
func Own(b *v1alpha1.PgBenchmark, facts observed.Matrix) ([]*v1alpha1.PgBenchmark, []*v1alpha1.PgStorageCluster) {
	d, err := newDesign(b, 0)
	if err != nil {
		// Nothing was made for what was refused.
		return nil, nil
	}
	v := d.look(facts)
	var runs []*v1alpha1.PgBenchmark
	for _, r := range d.Runs {
		if run := v.runs[r.ID]; run != nil {
			runs = append(runs, run)
		}
	}
	var clusters []*v1alpha1.PgStorageCluster
	for _, target := range d.order() {
		if cluster := v.clusters[target]; cluster != nil {
			clusters = append(clusters, cluster)
		}
	}
	return runs, clusters
}

// refused is a matrix that cannot be planned.
func refused(b *v1alpha1.PgBenchmark, err error, now metav1.Time) Decision {
	s := v1alpha1.PgBenchmarkStatus{ObservedGeneration: b.Generation, Phase: v1alpha1.PhaseFailed, CompletionTime: b.Status.CompletionTime}
	if s.CompletionTime == nil {
		s.CompletionTime = &now
	}
	invalid := outcome.InvalidBecause(v1alpha1.ConditionComplete, v1alpha1.ReasonInvalidSpec, err.Error()+"; create another PgBenchmark")
	return Decision{Status: s, Outcomes: outcome.NewSet(invalid)}
}

// pass is what one reconcile knows.
type pass struct {
	*design
	view
	facts observed.Matrix
	now   metav1.Time
	// given tier is that of the cluster that spec.cluster names.
	given    v1alpha1.DurabilityTier
	ended    map[matrix.ID]v1alpha1.MatrixRun
	progress matrix.Progress
	// current run, once its cluster is waited for.
	current  *v1alpha1.CurrentRun
	decision Decision
}

// count how far the matrix is.
func (p *pass) count() error {
	var records []matrix.Record
	for _, r := range p.Runs {
		if run, ended := p.ended[r.ID]; ended {
			records = append(records, matrix.Record{ID: r.ID, Outcome: matrix.Outcome(run.Outcome)})
		} else if p.runs[r.ID] != nil {
			records = append(records, matrix.Record{ID: r.ID, Outcome: matrix.Running})
		}
	}
	var err error
	if p.progress, err = p.Progress(records, p.spent()); err != nil {
		return fmt.Errorf("progress of PgBenchmark %s: %w", p.b.Name, err)
	}
	return nil
}

// given tier of a cluster that the matrix did not create, as it was when it was first
// seen.
func given(b *v1alpha1.PgBenchmark, facts observed.Matrix) v1alpha1.DurabilityTier {
	if b.Spec.Template != nil {
		return ""
	}
	if b.Status.Durability != "" {
		return b.Status.Durability
	}
	for _, c := range facts.Clusters {
		if c.Name == b.Spec.Cluster {
			return pgbench.Tier(c)
		}
	}
	return ""
}

// tier that a variant is measured with.
func (p *pass) tier(variant string) v1alpha1.DurabilityTier {
	if own := p.settings[variant].durability; own != "" {
		return own
	}
	if p.b.Spec.Template != nil {
		return p.b.Spec.Template.Durability
	}
	return p.given
}

// spent time, until now or until it ended.
func (p *pass) spent() time.Duration {
	m := p.b.Status.Matrix
	if m == nil || m.StartTime == nil {
		return 0
	}
	until := p.now
	if p.b.Status.CompletionTime != nil {
		until = *p.b.Status.CompletionTime
	}
	return until.Sub(m.StartTime.Time)
}

// timeout of a run that waits for its cluster or Job.
func (p *pass) timeout() time.Duration { return period(p.b.Spec.Matrix.TargetTimeout) }

// again asks for a look after some time, or earlier.
func (p *pass) again(after time.Duration) {
	if p.decision.After == 0 || after < p.decision.After {
		p.decision.After = after
	}
}

// fail records that a run has failed for good.
func (p *pass) fail(id matrix.ID, reason, message string) error {
	p.ended[id] = failure(id.Repeat, reason, message, p.now)
	p.current = nil
	// The record wakes the next pass, which continues.
	return p.count()
}

// order of targets, as they are first measured.
func (d *design) order() []string {
	var all []string
	seen := map[string]bool{}
	for _, r := range d.Runs {
		if !seen[r.Target] {
			seen[r.Target] = true
			all = append(all, r.Target)
		}
	}
	return all
}
