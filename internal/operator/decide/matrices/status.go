package matrices

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
)

// phaseResting is between two runs of a matrix.
const phaseResting = "Resting"

// report makes the status of what was decided.
func (p *pass) report() error {
	completion, _ := p.decision.Outcomes.Get(v1alpha1.ConditionComplete)
	s := v1alpha1.PgBenchmarkStatus{ObservedGeneration: p.b.Generation, Phase: phase(completion), CompletionTime: p.b.Status.CompletionTime}
	finished := completion.Kind != outcome.Wait
	if finished && s.CompletionTime == nil {
		now := p.now
		s.CompletionTime = &now
	}
	m, err := p.matrixStatus(finished)
	if err != nil {
		return err
	}
	s.Matrix = m
	s.Durability, s.BestTPS = headline(m.Variants)
	if s.Durability == "" {
		s.Durability = p.given
	}
	p.decision.Status = s
	return nil
}

func phase(completion outcome.Outcome) string {
	switch {
	case completion.Kind == outcome.Done:
		return v1alpha1.PhaseSucceeded
	case completion.Kind == outcome.Invalid:
		return v1alpha1.PhaseFailed
	case completion.Reason == v1alpha1.ReasonResting:
		return phaseResting
	case completion.Reason == v1alpha1.ReasonRunning:
		return "Running"
	case completion.Reason == v1alpha1.ReasonPreparing:
		return v1alpha1.PhasePreparing
	}
	return v1alpha1.PhasePending
}

func (p *pass) matrixStatus(finished bool) (*v1alpha1.MatrixStatus, error) {
	estimate, n := p.Estimate(), p.progress
	over := n.Succeeded + n.Failed + n.Skipped
	m := &v1alpha1.MatrixStatus{
		Progress:  fmt.Sprintf("%d of %d", over, len(p.Runs)),
		Percent:   number(100 * over / len(p.Runs)),
		Runs:      number(len(p.Runs)),
		Succeeded: number(n.Succeeded), Failed: number(n.Failed), Skipped: number(n.Skipped),
		Clusters: number(len(p.made)),
		Estimate: estimate.Total.String(),
		Current:  p.current,
	}
	if !finished {
		m.Remaining = n.Remaining.String()
	}
	old := p.b.Status.Matrix
	now := p.now
	m.StartTime = &now
	if old != nil && old.StartTime != nil {
		m.StartTime = old.StartTime
	}
	for _, v := range p.Variants {
		status, err := p.variant(v.Name)
		if err != nil {
			return nil, err
		}
		m.Variants = append(m.Variants, status)
	}
	if !finished {
		return m, nil
	}
	return m, p.rankOnce(m)
}

// variant with its runs that ended.
func (p *pass) variant(name string) (v1alpha1.VariantStatus, error) {
	s := v1alpha1.VariantStatus{
		Name: name, Cluster: p.cluster(p.targets[name]), Clients: p.settings[name].clients,
		Durability: p.tier(name), Fingerprint: p.fingerprint(name),
	}
	for repeat := 1; repeat <= int(p.b.Spec.Matrix.Repeats); repeat++ {
		if run, ended := p.ended[matrix.ID{Variant: name, Repeat: repeat}]; ended {
			s.Runs = append(s.Runs, run)
		}
	}
	err := summarise(&s)
	return s, err
}

// fingerprint of the server's settings in the first run of a variant.
func (p *pass) fingerprint(name string) string {
	if before := p.before(name); before != nil && before.Fingerprint != "" {
		return before.Fingerprint
	}
	for repeat := 1; repeat <= int(p.b.Spec.Matrix.Repeats); repeat++ {
		run := p.runs[matrix.ID{Variant: name, Repeat: repeat}]
		if run != nil && benchmarks.Ended(run) && run.Status.Run != nil && run.Status.Run.Fingerprint != "" {
			return run.Status.Run.Fingerprint
		}
	}
	return ""
}

// before is what the status had of a variant, or nil.
func (p *pass) before(name string) *v1alpha1.VariantStatus {
	if p.b.Status.Matrix == nil {
		return nil
	}
	for i := range p.b.Status.Matrix.Variants {
		if v := &p.b.Status.Matrix.Variants[i]; v.Name == name {
			return v
		}
	}
	return nil
}

// number of runs or variants, of which a matrix has 1280 at most.
func number(n int) int32 { return int32(n) } //nolint:gosec // G115: at most 1280
