package status

import (
	"encoding/json"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Unprotected reports whether a database declares no backup, neither by spec.backup nor by an
// override. A follower and a database in memory need none.
func Unprotected(cr *v1alpha1.PgStorageCluster) bool {
	if cr.Spec.Backup != nil || cr.Spec.Follow != nil || cr.Spec.Durability == v1alpha1.DurabilityEphemeral {
		return false
	}
	if cr.Spec.CNPG == nil || cr.Spec.CNPG.Spec == nil {
		return true
	}
	var overrides struct {
		Backup  json.RawMessage `json:"backup"`
		Plugins json.RawMessage `json:"plugins"`
	}
	// What cannot be read is refused elsewhere.
	return json.Unmarshal(cr.Spec.CNPG.Spec.Raw, &overrides) != nil || overrides.Backup == nil && overrides.Plugins == nil
}

// protection says since when a database can be restored; nil while that is not known, and
// where overrides back it up.
func protection(cr *v1alpha1.PgStorageCluster) []string {
	switch b := cr.Status.Backup; {
	case Unprotected(cr):
		return []string{"no backup is declared"}
	case cr.Spec.Backup == nil || b == nil:
		return nil
	case b.FirstRecoverabilityPoint == nil:
		return []string{"no backup yet"}
	default:
		return []string{"recoverable from " + b.FirstRecoverabilityPoint.UTC().Format("2006-01-02 15:04 UTC")}
	}
}
