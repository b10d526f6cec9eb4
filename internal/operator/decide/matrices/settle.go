package matrices

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
)

// settle deletes what has ended: abandoned runs, and clusters that no run needs any
// more. It returns what the matrix waits for, or "". An object that is being deleted
// would disturb the next run.
func (p *pass) settle() string {
	if waits := p.settleRuns(); waits != "" {
		return waits
	}
	return p.settleClusters()
}

func (p *pass) settleRuns() string {
	waits := ""
	for _, r := range p.Runs {
		run := p.runs[r.ID]
		if _, ended := p.ended[r.ID]; run == nil || !ended {
			continue
		}
		if !benchmarks.Ended(run) {
			p.decision.Benchmarks = append(p.decision.Benchmarks, run)
		}
		if left := p.leftover(r.ID, run); left != "" {
			waits = left
		}
	}
	return waits
}

func (p *pass) settleClusters() string {
	waits := ""
	for _, target := range p.order() {
		cluster := p.clusters[target]
		if cluster == nil || p.progress.Left[target] > 0 || p.keeps(target) {
			continue
		}
		p.decision.Clusters = append(p.decision.Clusters, cluster)
		waits = fmt.Sprintf(msgClusterRemoved, cluster.Name)
	}
	return waits
}

// leftover of a run that was recorded, or "". It is not waited for without end.
func (p *pass) leftover(id matrix.ID, run *v1alpha1.PgBenchmark) string {
	gone := benchmarks.Ended(run) && run.DeletionTimestamp == nil && meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionCleanedUp)
	recorded := p.ended[id].CompletionTime
	if gone || recorded == nil {
		return ""
	}
	left := recorded.Add(p.timeout()).Sub(p.now.Time)
	if left <= 0 {
		return ""
	}
	p.again(left)
	return fmt.Sprintf(msgRunRemoved, run.Name)
}

// keeps says whether the cluster of a target stays: by the cleanup policy, and always
// where a check found damage, which is evidence.
func (p *pass) keeps(target string) bool {
	failed, damaged := false, false
	for id, run := range p.ended {
		if p.targets[id.Variant] == target {
			failed = failed || run.Outcome == string(matrix.Failed)
			damaged = damaged || run.Reason == v1alpha1.ReasonIntegrityFailed
		}
	}
	switch p.b.Spec.Pgbench.Cleanup {
	case v1alpha1.CleanupNever:
		return true
	case v1alpha1.CleanupOnSuccess:
		return failed
	}
	return damaged
}

// kept says what stays of an ended matrix, and why, or "".
func (p *pass) kept() string {
	var names []string
	for _, target := range p.order() {
		if cluster := p.clusters[target]; cluster != nil && p.keeps(target) {
			names = append(names, cluster.Name)
		}
	}
	switch {
	case len(names) > 0:
		return fmt.Sprintf(msgKeptClusters, strings.Join(names, ", "))
	case p.b.Spec.Pgbench.Cleanup == v1alpha1.CleanupNever, p.b.Spec.Pgbench.Cleanup == v1alpha1.CleanupOnSuccess && p.progress.Failed > 0:
		return fmt.Sprintf(msgKeptRuns, p.b.Spec.Pgbench.Cleanup)
	}
	return ""
}
