package report

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/report"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
)

// matrix adds the variants and runs of a matrix. Its status says which runs ended, and
// how; their records have the measurements.
func (g *assembly) matrix(in *report.Input) error {
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
			g.note("The durability tier of %s is unknown, so its runs are not shown.", v.Name)
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
func (g *assembly) matrixRun(v v1alpha1.VariantStatus, ended v1alpha1.MatrixRun) error {
	failed := ""
	if ended.Outcome != string(matrix.Succeeded) {
		failed = ended.Reason + ": " + ended.Message
	}
	child := g.children[ended.Benchmark]
	r, why := g.recordOf(child)
	switch {
	case why == "" && len(r.Runs) == 1:
		return g.recordedRun(v, ended, r, failed)
	case failed != "":
		// A failed run may have no record, and needs none.
		g.runs = append(g.runs, analysis.Trial{Variant: v.Name, Repeat: int(ended.Repeat), Tier: v.Durability, Failure: failed})
		return nil
	case why == "":
		why = fmt.Sprintf("its record has %d runs instead of one", len(r.Runs))
	}
	run, err := runFromStatus(ended.TPS, ended.LatencyAverage, ended.LatencyP99)
	if err != nil {
		return err
	}
	run.Variant, run.Repeat, run.Tier = v.Name, int(ended.Repeat), v.Durability
	run.Result.Clients, run.Known = int(v.Clients), findingsOfMatrixRun(ended, child)
	g.addFromStatus(run, why)
	return nil
}

// recordedRun adds a run that has a record, with its failure if it failed.
func (g *assembly) recordedRun(v v1alpha1.VariantStatus, ended v1alpha1.MatrixRun, r record.Record, failed string) error {
	run, err := r.Runs[0].Trial(v.Name, int(ended.Repeat))
	if err != nil {
		return err
	}
	if failed != "" {
		// A run that did not keep its tier is shown in the tier it was meant for.
		run.Failure, run.Tier = failed, v.Durability
	}
	g.runs = append(g.runs, run)
	g.addLayers(v.Name, r.Layers)
	return nil
}
