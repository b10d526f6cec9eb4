package cephrbd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// prepareOutcome says which OSDs Rook could not prepare; nil: none is missing for that. Rook
// itself returns to its first step after each failure, and says only that.
func prepareOutcome(p *v1alpha1.PgStorageProfile, ceph *Facts) *outcome.Outcome {
	const c = v1alpha1.ConditionCephReady
	if clusterOf(p) == nil || len(ceph.OSDs) >= wantedOSDs(p, ceph) {
		return nil
	}
	var failed []string
	for _, a := range ceph.Prepares {
		if a.Failed {
			failed = append(failed, fmt.Sprintf("%s on node %s: %s", namedJob(a.Job), cmp.Or(a.Node, "(none)"), a.Text))
		}
	}
	if len(failed) > 0 {
		return new(outcome.InvalidBecause(c, v1alpha1.ReasonOSDPrepareFailed, fmt.Sprintf("Rook cannot prepare OSDs: %s. Correct the device, and Rook tries again automatically; see kubectl -n %s logs JOB --all-containers", firstFailures(failed), p.Spec.CephRBD.Rook.Namespace)))
	}
	return triedAgain(p, ceph)
}

// firstFailures joins failures for a message. It counts those beyond five.
func firstFailures(all []string) string {
	const most = 5
	if n := len(all); n > most {
		all = append(all[:most:most], fmt.Sprintf("%d more", n-most))
	}
	return strings.Join(all, "; ")
}

func namedJob(name string) string { return "job/" + name }

// triedAgain is what was said of the last failure, while Rook deletes its Jobs and creates
// them again: until one of those that failed succeeds.
func triedAgain(p *v1alpha1.PgStorageProfile, ceph *Facts) *outcome.Outcome {
	last := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionCephReady)
	if last == nil || last.Reason != v1alpha1.ReasonOSDPrepareFailed {
		return nil
	}
	if slices.ContainsFunc(ceph.Prepares, func(a Attempt) bool {
		return a.Succeeded && strings.Contains(last.Message, namedJob(a.Job)+" ")
	}) {
		return nil
	}
	return new(outcome.InvalidBecause(last.Type, last.Reason, last.Message))
}
