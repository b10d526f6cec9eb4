package validity

import (
	"fmt"
	"math"
	"time"
)

// throttledShare of the run that a pod may wait for its quota: from one percent
// on the figure moves by what repeats differ by.
const throttledShare = 0.01

// LimitSetsRate explains ReasonCPULimitReached where the messages of findings are not shown.
const LimitSetsRate = "the CPU limit that the cluster declares sets the rate, so the figures do not measure the storage"

// Throttled says whether a CPU quota set the rate. A limit that the measured cluster declares
// is part of what was measured: its figure counts, with a caution. Every other quota, such as
// that of the runner's own pod, makes the figure wrong.
func Throttled(f Facts) Finding {
	if len(f.Pods) == 0 || f.Duration <= 0 {
		return notRun(CheckThrottling, "the throttling of the pods (cpu.stat)")
	}
	if p, found := f.longestThrottled(func(p Pod) bool { return !p.atDeclaredLimit() }); found {
		return Finding{CheckThrottling, Rejected, ReasonPodThrottled, fmt.Sprintf(
			"pod %s waited for its CPU quota in %s: %s", p.Name, p.waited(f.Duration), p.undeclared())}
	}
	if p, found := f.longestThrottled(Pod.atDeclaredLimit); found {
		return Finding{CheckThrottling, Caution, ReasonCPULimitReached, fmt.Sprintf(
			"pod %s reached its CPU limit of %.3g, which the cluster declares in spec.resources.limits.cpu, and waited in %s. "+
				"This limit sets the rate, so the figure does not measure the storage. To measure the storage, raise or remove the limit",
			p.Name, *p.Declared, p.waited(f.Duration))}
	}
	var names []string
	for _, p := range f.Pods {
		names = append(names, p.Name)
	}
	return passed(CheckThrottling, few(names)+" waited for a CPU quota for less than 1% of the run")
}

// longestThrottled is the pod that waited longest, of those that a condition selects and that
// waited long enough to change the figure.
func (f Facts) longestThrottled(selected func(Pod) bool) (worst Pod, found bool) {
	for _, p := range f.Pods {
		if p.Throttled == 0 || p.ThrottledTime.Seconds() < throttledShare*f.Duration.Seconds() || !selected(p) {
			continue
		}
		if !found || p.ThrottledTime > worst.ThrottledTime {
			worst, found = p, true
		}
	}
	return worst, found
}

// atDeclaredLimit reports whether the quota of the pod, as it was read back, is the CPU limit
// that the cluster declares for it.
func (p Pod) atDeclaredLimit() bool {
	// leastQuota is what the kubelet sets for smaller limits: 1 ms in a period of 100 ms.
	const leastQuota, rounding = 0.01, 0.0005
	return p.Declared != nil && p.Quota != nil && math.Abs(*p.Quota-max(*p.Declared, leastQuota)) <= rounding
}

func (p Pod) waited(run time.Duration) string {
	return fmt.Sprintf("%d of %d periods, %v in a run of %v", p.Throttled, p.Periods, p.ThrottledTime.Round(time.Millisecond), whole(run))
}

// undeclared says what is wrong with a quota that is not the declared limit.
func (p Pod) undeclared() string {
	const limits = "the quota limits the rate; raise or remove the CPU limit of the pod"
	switch {
	case p.Declared == nil:
		return limits
	case p.Quota == nil:
		return fmt.Sprintf("the cluster declares a CPU limit of %.3g, but the quota was not read or changed during the run. Another limit may set the rate; repeat the run", *p.Declared)
	}
	return fmt.Sprintf("its quota is %.3g CPU and not the %.3g that the cluster declares. Another limit sets the rate; restart the pod, or remove that limit", *p.Quota, *p.Declared)
}

// DeclaredLimit is the CPU limit, in processors, that the cluster declares for a pod and that
// the pod has; nil if there is none.
func DeclaredLimit(f Facts) *float64 {
	for _, p := range f.Pods {
		if p.atDeclaredLimit() {
			return p.Declared
		}
	}
	return nil
}
