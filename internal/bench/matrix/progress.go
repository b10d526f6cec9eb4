package matrix

import (
	"fmt"
	"time"
)

// Outcome of a run.
type Outcome string

const (
	// Running was started and has not ended: it must not be started again.
	Running Outcome = "Running"
	// Succeeded has its figures.
	Succeeded Outcome = "Succeeded"
	// Failed for good, which is a result too. A run that was only interrupted has no
	// record, and runs again.
	Failed Outcome = "Failed"
)

// Record of a run.
type Record struct {
	ID
	Outcome Outcome
}

// Stop is the reason that no further run starts.
type Stop string

const (
	// Complete is a plan of which every run has ended or is skipped.
	Complete Stop = "Complete"
	// BudgetSpent is a plan whose next repeat does not fit in what is left of the
	// budget. It is not begun, so that every variant has the same repeats.
	BudgetSpent Stop = "BudgetSpent"
)

// Progress of a plan. Every run of it is in exactly one count.
type Progress struct {
	// Current run, begun and not ended; or Next, to be begun; or neither, and Stop
	// says why.
	Current, Next *PlannedRun
	Stop          Stop

	Succeeded, Failed, Skipped, Running, Pending int
	// Remaining time of Current and what is pending, by the estimate.
	Remaining time.Duration
	// Left are the runs of each target that are under way or pending. A target
	// without any is no longer needed.
	Left map[string]int
}

// Progress given the records of runs, in any order and each any number of times,
// and the time that was spent. Of several records of a run the first that ended
// counts. A record of a run that is not in the plan is an error: it is of another
// matrix.
func (p *Plan) Progress(records []Record, spent time.Duration) (Progress, error) {
	outcomes, err := p.outcomes(records)
	if err != nil {
		return Progress{}, err
	}
	skipped := p.skipped(outcomes)
	progress := Progress{Left: map[string]int{}}
	for i, r := range p.Runs {
		switch {
		case outcomes[r.ID] == Succeeded:
			progress.Succeeded++
		case outcomes[r.ID] == Failed:
			progress.Failed++
		case outcomes[r.ID] == Running:
			progress.Running++
			progress.Left[r.Target]++
			progress.Current = &p.Runs[i]
		case skipped[r.Variant]:
			progress.Skipped++
		default:
			progress.Pending++
			progress.Left[r.Target]++
			if progress.Next == nil {
				progress.Next = &p.Runs[i]
			}
		}
	}
	if progress.Running > 1 {
		return Progress{}, fmt.Errorf("%d runs are under way at once; one at a time is measured", progress.Running)
	}
	progress.Remaining = time.Duration(progress.Running+progress.Pending) * p.spec.Timing.run()
	p.decide(&progress, outcomes, spent)
	return progress, nil
}

// decide what is next: the run that is under way, then the first that is pending. It starts no
// repeat that exceeds the budget.
func (p *Plan) decide(progress *Progress, outcomes map[ID]Outcome, spent time.Duration) {
	switch {
	case progress.Current != nil:
		progress.Next = nil
	case progress.Next == nil:
		progress.Stop = Complete
	case p.begins(progress.Next.Repeat, outcomes) && !p.fits(progress, spent):
		progress.Next, progress.Stop = nil, BudgetSpent
		clear(progress.Left)
	}
}

// begins says that no run of a repeat has a record yet.
func (p *Plan) begins(repeat int, outcomes map[ID]Outcome) bool {
	for _, v := range p.Variants {
		if outcomes[ID{v.Name, repeat}] != "" {
			return false
		}
	}
	return true
}

// fits reports whether one more repeat of the remaining variants stays within the budget. It
// uses the pace so far where that is slower than the estimate.
func (p *Plan) fits(progress *Progress, spent time.Duration) bool {
	if p.spec.Budget == 0 {
		return true
	}
	pace := p.spec.Timing.run()
	if done := progress.Succeeded + progress.Failed; done > 0 {
		targets := time.Duration(p.targets()) * p.spec.Timing.Target
		pace = max(pace, (spent-targets)/time.Duration(done))
	}
	repeats := p.spec.Repeats - progress.Next.Repeat + 1
	return spent+time.Duration(progress.Pending/repeats)*pace <= p.spec.Budget
}

// outcomes by run: one that ended outweighs one that is running, and the first
// counts.
func (p *Plan) outcomes(records []Record) (map[ID]Outcome, error) {
	planned := map[ID]bool{}
	for _, r := range p.Runs {
		planned[r.ID] = true
	}
	outcomes := map[ID]Outcome{}
	for _, r := range records {
		if !planned[r.ID] {
			return nil, fmt.Errorf("repeat %d of variant %q is not in this matrix", r.Repeat, r.Variant)
		}
		switch r.Outcome {
		case Running, Succeeded, Failed:
		default:
			return nil, fmt.Errorf("repeat %d of variant %q has the outcome %q", r.Repeat, r.Variant, r.Outcome)
		}
		if before := outcomes[r.ID]; before == "" || before == Running {
			outcomes[r.ID] = r.Outcome
		}
	}
	return outcomes, nil
}

// skipped are the variants that failed too often for the rest to be tried.
func (p *Plan) skipped(outcomes map[ID]Outcome) map[string]bool {
	failures := map[string]int{}
	for id, outcome := range outcomes {
		if outcome == Failed {
			failures[id.Variant]++
		}
	}
	skipped := map[string]bool{}
	for variant, n := range failures {
		skipped[variant] = n >= p.spec.MaxFailures
	}
	return skipped
}
