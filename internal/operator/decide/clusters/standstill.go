package clusters

import (
	"fmt"
	"math"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// walSegment is the size of a file of WAL that CloudNativePG's initdb uses by default.
const walSegment = 16 << 20

// walRemoved says that a read pool cannot continue: its first instance stands still before the
// WAL that its cluster keeps. Empty where it can, and where that is not known.
func walRemoved(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) string {
	if !Follows(cr) || facts.Source == nil || facts.Cluster == nil {
		return ""
	}
	first, kept := facts.ReadBack.Receivers[facts.Cluster.Status.CurrentPrimary], facts.Source.Kept
	if !first.Stuck || first.Position == 0 || first.Position >= kept.From {
		return ""
	}
	return fmt.Sprintf(msgWALRemoved, lsn(first.Position), kept.By, lsn(kept.From), cr.Spec.Follow.Cluster)
}

// volumeFull names a volume in memory of a read pool without room for a segment of WAL; empty
// where there is none.
func volumeFull(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) string {
	if !Follows(cr) {
		return ""
	}
	for _, claim := range facts.Claims {
		m := claim.Memory
		if m == nil || m.Size == nil || m.Used == nil {
			continue
		}
		if room := m.Size.Value() - m.Used.Value(); room < max(walSegment, m.Size.Value()/50) {
			return fmt.Sprintf(msgVolumeFull, claim.Instance, m.Used.String(), m.Size.String(), cr.Spec.Follow.Cluster)
		}
	}
	return ""
}

// Stuck says that the first instance of a follower received nothing for a while.
func Stuck(facts observed.Cluster) bool {
	return facts.Cluster != nil && facts.ReadBack.Receivers[facts.Cluster.Status.CurrentPrimary].Stuck
}

// lsn of a position, as Postgres prints it.
func lsn(position int64) string { return fmt.Sprintf("%X/%X", position>>32, position&math.MaxUint32) }
