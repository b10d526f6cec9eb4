package cephrbd

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// addProbe of the profile's pools, and what it found. No StorageClass is created before.
// Rook calls a pool Ready although no image can be created in it, for example where OSDs
// lack the object classes of RBD.
func addProbe(b *profile.Built, p *v1alpha1.PgStorageProfile, facts observed.Profile) error {
	if clusterOf(p) == nil {
		b.Outcomes = append(b.Outcomes, notVerified())
		return nil
	}
	job := probeJob(p, facts)
	o := probeOutcome(p, *job.Name, own(facts))
	if o.Kind == outcome.Invalid && cephOutcome(p, facts).Kind != outcome.Done {
		// CephReady says what to do; nothing is wrong with the pools.
		o.Kind = outcome.Wait
	}
	b.Outcomes = append(b.Outcomes, o)
	hold(b, plan.StageStorage, o)
	if proved(p, own(facts)) {
		return nil
	}
	return add(b, plan.StageProbe, job)
}

// notVerified: the namespace and the clients of a CephCluster of others are not the
// operator's to use.
func notVerified() outcome.Outcome {
	o := outcome.WaitFor(v1alpha1.ConditionPoolVerified, v1alpha1.ReasonNotVerified, "the operator runs no probe in an external CephCluster. To see whether the pool takes images, create one with rbd, or a claim of the StorageClass")
	o.Informative, o.Unknown = true, true
	return o
}

// proved reports whether a probe of these pools ended well before.
func proved(p *v1alpha1.PgStorageProfile, ceph *Facts) bool {
	key := probeKey(p, ceph)
	return key != "" && p.Status.Ceph != nil && p.Status.Ceph.ProbedKey == key
}

// probedKey for the status: of the pools that were proved last.
func probedKey(p *v1alpha1.PgStorageProfile, facts observed.Profile) string {
	if clusterOf(p) == nil {
		return ""
	}
	if key := probeKey(p, own(facts)); key != "" && own(facts).Probes[*probeJob(p, facts).Name].Complete {
		return key
	}
	if p.Status.Ceph == nil {
		return ""
	}
	return p.Status.Ceph.ProbedKey
}

func probeOutcome(p *v1alpha1.PgStorageProfile, job string, ceph *Facts) outcome.Outcome {
	const c = v1alpha1.ConditionPoolVerified
	probe, found := ceph.Probes[job]
	where := fmt.Sprintf("job/%s in namespace %s", job, p.Spec.CephRBD.Rook.Namespace)
	switch {
	case proved(p, ceph) || probe.Complete:
		return outcome.DoneWith(c, v1alpha1.ReasonPoolVerified, "a probe created, wrote, flushed, read and removed an image in each pool of the profile")
	case probe.Failed != "":
		return outcome.InvalidBecause(c, v1alpha1.ReasonProbeFailed, fmt.Sprintf("%s: %s (%s). No StorageClass is created before a probe succeeds. The next one runs once this Job is gone, 10 minutes after its end; delete it to try now", where, cmp.Or(probe.Last.Text, "its pods did not end"), probe.Failed))
	}
	if last := meta.FindStatusCondition(p.Status.Conditions, c); last != nil && last.Reason == v1alpha1.ReasonProbeFailed {
		// It is true until another probe has ended.
		return outcome.InvalidBecause(c, last.Reason, last.Message)
	}
	switch {
	case !found:
		return outcome.WaitFor(c, v1alpha1.ReasonProbePending, "a probe creates, writes, flushes, reads and removes an image in each pool once the pools are ready")
	case probe.Last.Text != "":
		return outcome.WaitFor(c, v1alpha1.ReasonProbePending, fmt.Sprintf("%s has not ended: %s", where, probe.Last.Text))
	}
	return outcome.WaitFor(c, v1alpha1.ReasonProbePending, where+" has not ended")
}

// probesDown are the Jobs that must end before a pool is deleted: they open its images.
func probesDown(_ *v1alpha1.PgStorageProfile, ceph *Facts) profile.Teardown {
	var names []string
	for name := range ceph.Probes {
		names = append(names, name)
	}
	slices.Sort(names)
	return profile.Teardown{Kind: "Job", Names: names}
}
