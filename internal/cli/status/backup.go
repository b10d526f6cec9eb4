package status

import (
	"encoding/json"
	"fmt"
	"time"

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
		out := []string{"recoverable from " + b.FirstRecoverabilityPoint.UTC().Format(minutes), verification(cr)}
		if s := b.VolumeSnapshots; s != nil && s.NewestTime != nil {
			out = append(out, fmt.Sprintf("%d backups as VolumeSnapshots, the newest %s", s.Count, s.NewestTime.UTC().Format(minutes)))
		}
		return out
	}
}

// minutes is the format of times.
const minutes = "2006-01-02 15:04 UTC"

// verification says when a backup was last restored and found sound, and how long the restore
// took. What the last one found is in the condition RestoreVerified.
func verification(cr *v1alpha1.PgStorageCluster) string {
	s := cr.Status.BackupVerification
	switch {
	case cr.Spec.Backup.Verify == nil:
		return "backups are not verified"
	case s != nil && (s.Step == v1alpha1.VerifyRestoring || s.Step == v1alpha1.VerifyChecking):
		return "verifying a backup (" + s.Step + ")"
	case s == nil || cr.Status.Backup.LastVerified == nil:
		return "not verified yet"
	}
	verified := cr.Status.Backup.LastVerified
	text := "verified " + verified.UTC().Format(minutes)
	if last := s.Last; last != nil && last.RestoreSeconds != nil && verified.Equal(last.CompletionTime) {
		text += fmt.Sprintf(" (restored in %s)", time.Duration(*last.RestoreSeconds)*time.Second)
	}
	return text
}
