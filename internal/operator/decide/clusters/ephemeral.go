package clusters

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// Refusals of the tier Ephemeral, in ParametersAccepted.
const (
	msgTierKeepsNothing = "spec.durability: Ephemeral keeps nothing, and profile %s keeps its volumes; set Local, or choose a profile of type Memory"
	msgVolumesAreLost   = "spec.profile: volumes of profile %s are lost with the next boot of their node. Set spec.durability: Ephemeral to accept the loss of the database, or list the profile in spec.readPools of another cluster"
	msgEphemeralBackup  = "spec.cnpg.spec.%s: durability Ephemeral keeps nothing, so nothing of it is archived or backed up. Remove it, or choose another tier and a profile that keeps its volumes"
)

// missingOfPools is why WAL of a cluster with read pools has page images.
const missingOfPools = "spec.readPools: read pools replay the same WAL, and their storage is not proved"

// backupFields of spec.cnpg.spec. A plugin archives WAL or makes backups, or may.
var backupFields = []string{"backup", "plugins"}

// refusedTier says why the durability tier does not fit the profile or the overrides. It
// is empty where it does, and where the profile does not exist.
func refusedTier(cr *v1alpha1.PgStorageCluster, p *v1alpha1.PgStorageProfile) string {
	ephemeral := cr.Spec.Durability == v1alpha1.DurabilityEphemeral
	if p != nil {
		switch memory := p.Spec.Type == v1alpha1.ProfileTypeMemory; {
		case ephemeral && !memory:
			return fmt.Sprintf(msgTierKeepsNothing, cr.Spec.Profile)
		case memory && !ephemeral && !Follows(cr):
			return fmt.Sprintf(msgVolumesAreLost, cr.Spec.Profile)
		}
	}
	if !ephemeral {
		return ""
	}
	spec, _ := overrides(cr)["spec"].(map[string]any)
	for _, field := range backupFields {
		if _, found := spec[field]; found {
			return fmt.Sprintf(msgEphemeralBackup, field)
		}
	}
	return ""
}

// tierAccepted is the outcome of ParametersAccepted: a refusal of the tier, else accepted.
// Parameters of a tier that is refused are not worth a message.
func tierAccepted(cr *v1alpha1.PgStorageCluster, p *v1alpha1.PgStorageProfile, accepted outcome.Outcome) outcome.Outcome {
	if text := refusedTier(cr, p); text != "" {
		return outcome.InvalidBecause(v1alpha1.ConditionParametersAccepted, v1alpha1.ReasonInvalidSpec, text)
	}
	return accepted
}

// pages is the proof that no page is torn. The tier Ephemeral needs none, unless another
// database replays the WAL: that one may be on disks, where a crash of its node tears
// pages.
func pages(cr *v1alpha1.PgStorageCluster, proof postgres.Proof) postgres.Proof {
	if cr.Spec.Durability != v1alpha1.DurabilityEphemeral {
		return proof
	}
	out := postgres.Proof{Possible: true}
	if len(cr.Spec.ReadPools) > 0 {
		out.Missing = missingOfPools
	}
	return out
}
