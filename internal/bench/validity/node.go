package validity

import (
	"fmt"
	"slices"
	"time"
)

const (
	// stealShare of the processors' time that a hypervisor may give to others.
	stealShare = 0.01
	// neighbourShare of the run in which others may have waited on the node.
	neighbourShare = 0.05
	// clockShare and clockSlack by which two clocks may differ: NTP slews by at
	// most 500 ppm (https://man7.org/linux/man-pages/man2/adjtimex.2.html), and
	// reading both takes a moment.
	clockShare = 500e-6
	clockSlack = 20 * time.Millisecond
)

// Neighbours says whether others took the machines from the run: their hypervisor, or
// other pods of the node.
func Neighbours(f Facts) Finding {
	var observed []string
	var worst Finding
	separated := true
	for _, n := range f.Nodes {
		if n.Steal == nil && !f.separatesOthers(n) || f.Duration <= 0 {
			continue
		}
		observed = append(observed, n.Name)
		separated = separated && f.separatesOthers(n)
		if found := f.neighbours(n); severity[found.Verdict] > severity[worst.Verdict] {
			worst = found
		}
	}
	switch {
	case len(observed) == 0:
		return notRun(CheckNeighbours, "the load of the node (steal, pressure)")
	case worst.Verdict != "":
		return worst
	case !separated:
		return passed(CheckNeighbours, "the hypervisor took no CPU time from node "+few(observed)+"; whether other pods waited there was not observed (pressure)")
	}
	return passed(CheckNeighbours, "neither the hypervisor nor other workloads competed on node "+few(observed))
}

// separatesOthers reports whether the waits of other workloads on a node can be separated
// from those of the benchmark's pods.
func (f Facts) separatesOthers(n Node) bool {
	return n.Stalled != nil && !slices.ContainsFunc(f.Pods, func(p Pod) bool { return p.Stalled == nil })
}

// neighbours on one node; no verdict where there is nothing to say.
func (f Facts) neighbours(n Node) Finding {
	if n.Steal != nil && *n.Steal >= stealShare {
		return Finding{CheckNeighbours, Rejected, ReasonProcessorStolen, fmt.Sprintf(
			"the hypervisor gave %.1f%% of the CPU time of node %s to other machines; repeat on dedicated CPUs, or at another time", 100**n.Steal, n.Name)}
	}
	resource, stalled := f.othersStalled(n)
	if share := stalled.Seconds() / f.Duration.Seconds(); share >= neighbourShare {
		return Finding{CheckNeighbours, Caution, ReasonNoisyNeighbours, fmt.Sprintf(
			"for at least %.0f%% of the run, other workloads on node %s waited for %s and so competed with the benchmark. "+
				"Move other pods away, or use a dedicated node", 100*share, n.Name, resource)}
	}
	return Finding{}
}

// othersStalled is the resource that others on a node waited for longest. The node's time is
// that in which any process waited. At most the total wait of the benchmark's own pods can be
// theirs, so the rest is others'.
func (f Facts) othersStalled(n Node) (resource string, longest time.Duration) {
	if !f.separatesOthers(n) {
		return "", 0
	}
	others := *n.Stalled
	for _, p := range f.Pods {
		others.CPU -= p.Stalled.CPU
		others.IO -= p.Stalled.IO
		others.Memory -= p.Stalled.Memory
	}
	for _, o := range []struct {
		resource string
		stalled  time.Duration
	}{{"processors", others.CPU}, {"I/O", others.IO}, {"memory", others.Memory}} {
		if o.stalled > longest {
			resource, longest = o.resource, o.stalled
		}
	}
	return resource, longest
}

// Clock says whether the wall clock was set during the run, which moves the
// seconds that rates are counted by.
func Clock(f Facts) Finding {
	if f.WallDuration == nil || f.Duration <= 0 {
		return notRun(CheckClock, "the run's duration by both clocks")
	}
	apart := (*f.WallDuration - f.Duration).Abs()
	if slack := clockSlack + time.Duration(clockShare*float64(f.Duration)); apart > slack {
		return Finding{CheckClock, Rejected, ReasonClockJumped, fmt.Sprintf(
			"the wall clock advanced %v in a run of %v: it was set during the run, so rates of single seconds are wrong. Let the clock of the node synchronise, and repeat",
			f.WallDuration.Round(time.Millisecond), f.Duration.Round(time.Millisecond))}
	}
	return passed(CheckClock, "the clock was not set during the run")
}
