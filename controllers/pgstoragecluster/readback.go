package pgstoragecluster

import (
	"maps"
	"slices"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
)

// parameterNames returns the parameters to read back: the Cluster's, the user's, and those
// that the operator set last.
func parameterNames(cr *v1alpha1.PgStorageCluster, cluster *cnpgv1.Cluster) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(cluster.Spec.PostgresConfiguration.Parameters)), maps.Keys(cr.Spec.Postgres.Parameters))
	for _, p := range cr.Status.Parameters {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// requeue returns when to reconcile again for what no watch covers, and lets a read-back
// that was as declared be valid for longer.
func (r *Reconciler) requeue(p *pass) reconcile.Result {
	var after time.Duration
	for _, o := range p.outcomes {
		after = sooner(after, r.recheck(p, o))
	}
	if len(p.applied.Rejected) > 0 { // another reason of the same condition can have displaced it
		after = sooner(after, pollInterval)
	}
	if (clusters.Follows(p.cr) || p.cr.Spec.Topology != nil) && p.facts.Cluster != nil {
		after = sooner(after, r.ReadBack.Next(client.ObjectKeyFromObject(p.facts.Cluster)))
	}
	if p.cr.Spec.Topology != nil && r.Config.Sites {
		after = sooner(after, sitesInterval)
	}
	r.settle(p)
	return reconcile.Result{RequeueAfter: after}
}

// sooner returns the shorter of two delays; 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// recheck returns after how long one outcome is to be decided again; 0 if a watch covers it.
func (r *Reconciler) recheck(p *pass, o outcome.Outcome) time.Duration {
	switch o.Reason {
	case v1alpha1.ReasonCNPGNotInstalled, v1alpha1.ReasonCNPGTooOld, v1alpha1.ReasonCRDNotInstalled,
		v1alpha1.ReasonClusterNotOwned, v1alpha1.ReasonRejected, v1alpha1.ReasonAdoptionRefused, v1alpha1.ReasonDurabilityWeakened,
		v1alpha1.ReasonVolumeDiffers, v1alpha1.ReasonClusterNotHealthy, v1alpha1.ReasonDiskFull,
		v1alpha1.ReasonPluginNotInstalled, v1alpha1.ReasonArchivingFailing, v1alpha1.ReasonArchiveLate,
		v1alpha1.ReasonBackupFailed, v1alpha1.ReasonBackupOverdue:
		return pollInterval
	case v1alpha1.ReasonFirstBackupPending, v1alpha1.ReasonObjectStoreNotFound, v1alpha1.ReasonVolumesPending:
		return shortInterval
	case v1alpha1.ReasonParametersDiffer, v1alpha1.ReasonProbesDiffer, v1alpha1.ReasonNotReadBack:
		if p.facts.Cluster != nil && clusters.Healthy(p.cr, p.facts.Cluster) {
			return r.ReadBack.Next(client.ObjectKeyFromObject(p.facts.Cluster))
		}
	case v1alpha1.ReasonApplied:
		return observe.ReadBackEvery
	}
	return 0
}

// settle makes a read-back that was as declared valid for longer, because the settings of
// roles and databases seldom change.
func (r *Reconciler) settle(p *pass) {
	for _, condition := range []string{v1alpha1.ConditionParametersApplied, v1alpha1.ConditionProbesApplied} {
		if reason := p.outcomes.Reason(condition); reason != v1alpha1.ReasonApplied && reason != "" {
			return
		}
	}
	durability := p.outcomes.Reason(v1alpha1.ConditionDurabilityVerified)
	if durability == v1alpha1.ReasonVerified || durability == v1alpha1.ReasonDurabilityOverridden {
		r.ReadBack.Settle(client.ObjectKeyFromObject(p.facts.Cluster))
	}
}
