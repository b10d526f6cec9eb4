package clusters

import (
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// holdOrigin holds back a database that cannot be restored. One that exists was restored, and
// still needs the ObjectStore.
func (c *Cluster) holdOrigin(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) {
	if cr.Spec.Origin == nil {
		return
	}
	if existing(facts) != nil {
		c.lostOrigin(cr.Spec.Origin.ObjectStore, facts)
		return
	}
	o := origin(cr, facts)
	c.Outcomes.Add(o)
	if o.Kind != outcome.Done {
		c.Plan.AddGate(plan.StageDatabase, o.Reason, o.Message)
	}
}

// lostOrigin reports that the ObjectStore is missing that a database was restored from. Its
// Cluster names it for as long as it exists, and then CloudNativePG does not manage it.
func (c *Cluster) lostOrigin(store string, facts observed.Cluster) {
	if store != "" && facts.CNPGInstalled && facts.ObjectStores && facts.Backup.Origin == nil {
		c.Outcomes.Add(outcome.WaitFor(v1alpha1.ConditionSourceReady, v1alpha1.ReasonObjectStoreNotFound, fmt.Sprintf(msgOriginLost, store)+msgUnmanaged))
	}
}

// origin says whether the declared restore is possible, as far as the plugin reports it: a
// new Kubernetes cluster knows nothing of the backups yet.
func origin(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const c = v1alpha1.ConditionSourceReady
	from := cr.Spec.Origin
	if s := from.VolumeSnapshots; s != nil && from.ObjectStore == "" {
		return outcome.DoneWith(c, v1alpha1.ReasonReady, fmt.Sprintf(msgOriginSnapshots, s.Data))
	}
	if b := cr.Spec.Backup; b != nil && b.ObjectStore.Name == from.ObjectStore && cnpg.Server(cr) == from.Server {
		return outcome.InvalidBecause(c, v1alpha1.ReasonOriginRefused, fmt.Sprintf(msgOriginItself, from.Server))
	}
	if o := storeFound(c, "spec.origin.objectStore", from.ObjectStore, facts.Backup.Origin, facts); o.Kind != outcome.Done {
		return o
	}
	if text := impossible(from, facts.Backup); text != "" {
		return outcome.InvalidBecause(c, v1alpha1.ReasonOriginRefused, text)
	}
	return outcome.DoneWith(c, v1alpha1.ReasonReady, fmt.Sprintf(msgOriginFound, from.ObjectStore))
}

// impossible says why a time cannot be restored; empty where nothing is known against it.
func impossible(from *v1alpha1.OriginSpec, facts observed.Backup) string {
	if from.TargetTime == "" {
		return ""
	}
	at, err := time.Parse(time.RFC3339, from.TargetTime)
	if err != nil {
		return msgOriginNoTime
	}
	// Snapshots can be older than the first base backup of the store.
	if first := facts.Origin.Window.First; from.VolumeSnapshots == nil && at.Before(first) {
		return fmt.Sprintf(msgOriginTooEarly, from.Server, from.ObjectStore, first.Format(time.RFC3339))
	}
	if at.After(facts.At) {
		return msgOriginTooLate
	}
	return ""
}

// unconsented refuses a restore that the profile does not allow: the backups can be of a
// database whose data the author may not read. That of a branch has the consent of its source.
func unconsented(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) []string {
	if cr.Spec.Origin == nil {
		return nil
	}
	fields := []string{"bootstrap.recovery", fieldExternalClusters}
	if cr.Spec.Origin.ObjectStore == "" {
		if facts.BranchConsents || existing(facts) != nil {
			return nil
		}
		fields = fields[:1]
	}
	allowed := consent(cr, facts.Profile)
	for _, field := range fields {
		if !allowed.Allows(field) {
			return []string{fmt.Sprintf(msgOriginConsent, allowed.Ask(field))}
		}
	}
	return nil
}

// masking says that the data of a branch is not fit for its users yet.
func masking(facts observed.Cluster) bool {
	b := facts.Branch
	return b != nil && b.Spec.Masking != nil && b.Status.Masked == ""
}
