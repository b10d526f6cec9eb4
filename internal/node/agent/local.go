package agent

import (
	"context"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// actLocal changes the caches and logs on the node's own disks. A consent to wipe is used
// up once the pool has taken its disk.
func (n *Node) actLocal(ctx context.Context, s *v1alpha1.PgNodeStorage, seen decide.Seen, decision decide.LocalDecision) error {
	pool := s.Spec.Pool.Name
	for _, name := range decision.Remove {
		if err := n.ZFS.RemoveLocal(ctx, pool, name); err != nil {
			return err
		}
	}
	adds := slices.Concat(decision.Caches, decision.Log)
	taken := slices.DeleteFunc(slices.Concat(s.Spec.NetworkDevices.Caches, s.Spec.NetworkDevices.Logs), func(d v1alpha1.ZFSDevice) bool { return !slices.Contains(adds, d.Path) })
	if err := n.consent(s, &seen, taken, true); err != nil {
		return err
	}
	if err := n.wipe(ctx, seen, decision.Wipe); err != nil {
		return err
	}
	var err error
	switch {
	case len(decision.Caches) > 0:
		err = n.ZFS.AddCaches(ctx, pool, decision.Caches...)
	case len(decision.Log) > 0:
		err = n.ZFS.AddLog(ctx, pool, decision.Log...)
	}
	if err != nil || n.DryRun != nil {
		return err
	}
	if seen.Made.Spend(seen.Pool["guid"].Value, func(c decide.Consent) bool { return slices.Contains(adds, c.Path) }) {
		return n.made(s).save(seen.Made)
	}
	return nil
}
