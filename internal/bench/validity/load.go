package validity

import "fmt"

// saturated is the share of its processors, or of one thread of it, from which
// on the client rather than the server sets the rate.
const saturated = 0.9

// ClientBound says whether the rate is the client's own limit.
func ClientBound(f Facts) Finding {
	c := f.Client
	if c == nil || f.Duration <= 0 || c.Processors <= 0 || c.Threads <= 0 {
		return notRun(CheckClient, "the processor time of pgbench")
	}
	used := c.CPU.Seconds() / f.Duration.Seconds()
	ofThreads, ofProcessors := used/float64(c.Threads), used/c.Processors
	switch {
	case ofThreads >= saturated:
		return Finding{CheckClient, Rejected, ReasonClientBound, fmt.Sprintf(
			"pgbench's %d thread(s) were %.0f%% busy: the client limits the rate, not the server; raise jobs and the CPU of the runner", c.Threads, 100*ofThreads)}
	case ofProcessors >= saturated:
		return Finding{CheckClient, Rejected, ReasonClientBound, fmt.Sprintf(
			"pgbench used %.2f of its %.3g processors: the client limits the rate, not the server. Raise the resources of the runner, or move it to another node", used, c.Processors)}
	}
	return passed(CheckClient, fmt.Sprintf("pgbench used %.2f of its %.3g processors", used, c.Processors))
}

// failedShare of the transactions that may fail: they cost time and do not count.
const failedShare = 0.001

// Failures says whether the transactions that the rate counts are all there were.
func Failures(f Facts) Finding {
	w := f.Workload
	all := w.Transactions + w.Failed
	if all == 0 {
		return notRun(CheckFailures, "any transaction")
	}
	if float64(w.Failed) > failedShare*float64(all) {
		return Finding{CheckFailures, Caution, ReasonTransactionsFailed, fmt.Sprintf(
			"%d of %d transactions failed and are not in the rate; set maxTries, or use a script whose transactions do not conflict", w.Failed, all)}
	}
	return passed(CheckFailures, fmt.Sprintf("%d of %d transactions failed", w.Failed, all))
}

// Steady says whether the run had one rate.
func Steady(f Facts) Finding {
	if f.Duration <= 0 {
		return notRun(CheckSteadiness, "the rate over the run")
	}
	if n := len(f.Workload.Changes); n > 0 {
		c := f.Workload.Changes[0]
		return Finding{CheckSteadiness, Caution, ReasonLevelChanged, fmt.Sprintf(
			"the rate changed its level %d time(s), first at %v from %.0f to %.0f transactions a second, so one mean hides several rates. "+
				"Extend the warm-up if the rate rose early, else find what else happened at that time", n, whole(c.At), c.Before, c.After)}
	}
	return passed(CheckSteadiness, "the rate kept its level")
}
