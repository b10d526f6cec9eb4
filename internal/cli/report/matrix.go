package report

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/report"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
)

// matrix with its variants. Which runs ended, and how, its status says; what they
// were like, their records.
func (g *gathered) matrix(in *report.Input) error {
	plan, err := matrices.Planned(g.b)
	if err != nil {
		return err
	}
	in.Axes, in.Variants, in.Varied = plan.Axes, plan.Variants, varied(plan.Axes)
	in.Progress = &matrix.Progress{Pending: plan.Runs, Stop: stop(g.b)}
	m := g.b.Status.Matrix
	if m == nil {
		return nil
	}
	p := in.Progress
	p.Succeeded, p.Failed, p.Skipped = int(m.Succeeded), int(m.Failed), int(m.Skipped)
	p.Pending = max(0, plan.Runs-p.Succeeded-p.Failed-p.Skipped)
	for _, v := range m.Variants {
		if len(v.Runs) > 0 && v.Durability == "" {
			g.note("The durability tier of %s is not known, so its runs are not shown.", v.Name)
			continue
		}
		for _, ended := range v.Runs {
			if err := g.matrixRun(v, ended); err != nil {
				return fmt.Errorf("repeat %d of variant %q: %w", ended.Repeat, v.Name, err)
			}
		}
	}
	return nil
}

// matrixRun adds a run that has ended.
func (g *gathered) matrixRun(v v1alpha1.VariantStatus, ended v1alpha1.MatrixRun) error {
	failed := ""
	if ended.Outcome != string(matrix.Succeeded) {
		failed = ended.Reason + ": " + ended.Message
	}
	child := g.children[ended.Benchmark]
	r, why := g.recordOf(child)
	switch {
	case why == "" && len(r.Runs) == 1:
		run, err := r.Runs[0].Trial(v.Name, int(ended.Repeat))
		if err != nil {
			return err
		}
		if failed != "" {
			// A tier that it did not keep is none that it stands in.
			run.Failure, run.Tier = failed, v.Durability
		}
		g.runs = append(g.runs, run)
		g.addLayers(v.Name, r.Layers)
		return nil
	case failed != "":
		// One that failed may have left nothing, and needs nothing.
		g.runs = append(g.runs, analysis.Trial{Variant: v.Name, Repeat: int(ended.Repeat), Tier: v.Durability, Failure: failed})
		return nil
	case why == "":
		why = fmt.Sprintf("its record has %d runs in place of one", len(r.Runs))
	}
	run, err := ofStatus(ended.TPS, ended.LatencyAverage, ended.LatencyP99)
	if err != nil {
		return err
	}
	run.Variant, run.Repeat, run.Tier = v.Name, int(ended.Repeat), v.Durability
	run.Result.Clients, run.Known = int(v.Clients), known(ended, child)
	g.fallBack(run, why)
	return nil
}
