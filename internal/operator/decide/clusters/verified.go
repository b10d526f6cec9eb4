package clusters

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// backups are the conditions of a database that declares any.
func backups(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, snapshots *outcome.Outcome) (out []outcome.Outcome) {
	for _, o := range []*outcome.Outcome{backedUp(cr, facts, snapshots), restoreVerified(cr)} {
		if o != nil {
			out = append(out, *o)
		}
	}
	return out
}

// OfArchive says whether the results in s are about the folder that spec.backup names. A
// status without a folder is of an earlier operator, so they may be about another one.
func OfArchive(cr *v1alpha1.PgStorageCluster, s *v1alpha1.BackupVerificationStatus) bool {
	return s.ObjectStore == cr.Spec.Backup.ObjectStore.Name && s.Server == cnpg.Server(cr)
}

// restoreVerified is the condition RestoreVerified; nil where spec.backup.verify is not set. A
// verification that runs does not change what the last one found.
func restoreVerified(cr *v1alpha1.PgStorageCluster) *outcome.Outcome {
	if cr.Spec.Backup == nil || cr.Spec.Backup.Verify == nil {
		return nil
	}
	const c = v1alpha1.ConditionRestoreVerified
	o := outcome.WaitFor(c, v1alpha1.ReasonVerificationPending, msgVerificationPending)
	o.Unknown = true
	if s := cr.Status.BackupVerification; s != nil && s.Last != nil && OfArchive(cr, s) {
		o = outcome.InvalidBecause(c, s.Last.Reason, s.Last.Message)
		if s.Last.Passed() {
			o = outcome.DoneWith(c, s.Last.Reason, s.Last.Message)
		}
	}
	o.Informative = true
	return &o
}
