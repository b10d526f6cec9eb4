package agent

import (
	"context"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// isRestart reports whether an action announces or performs a restart of the node: it
// changes nothing that another pass would read back.
func isRestart(action decide.NetworkAction) bool {
	switch action.(type) {
	case decide.AnnounceRestart, decide.RestartNode:
		return true
	}
	return false
}

// announced reports whether an action announced a restart of the node.
func (n *Node) announced(action decide.NetworkAction, failed error) bool {
	_, is := action.(decide.AnnounceRestart)
	return is && failed == nil && n.DryRun == nil
}

// act makes the change that is due, if any.
func (n *Node) act(ctx context.Context, s *v1alpha1.PgNodeStorage, d decisions, r *PassResult) error {
	switch action := d.network.Action; {
	case action != nil:
		err := n.actNetwork(ctx, s, r.Seen, d.network)
		r.Changed = !isRestart(action) && !stillUsed(action, err)
		r.Restarting = n.announced(action, err)
		return err
	case d.network.Outcome.Kind == outcome.Invalid, d.network.PoolWaits:
		return nil // no other change repairs the devices
	}
	return n.actOnPool(ctx, s, d, r)
}

// actOnPool makes the change that is due of the pool. The pool serves without its caches and
// logs, so where the node refuses a change of these, the properties are still applied.
func (n *Node) actOnPool(ctx context.Context, s *v1alpha1.PgNodeStorage, d decisions, r *PassResult) error {
	switch {
	case d.pool.Import != 0:
		r.Changed = true
		return n.importPool(ctx, s, r.Seen, d.pool)
	case d.pool.Create != nil:
		r.Changed = true
		return n.create(ctx, s, r.Seen, d.pool.Create)
	case !d.local.None():
		r.localFailed = n.actLocal(ctx, s, r.Seen, d.local)
		if r.localFailed == nil || endless(r.localFailed) || ctx.Err() != nil {
			r.Changed = r.localFailed == nil
			return nil
		}
	}
	return n.applyProperties(ctx, s, d, r)
}

// applyProperties makes the pool's properties and datasets as declared.
func (n *Node) applyProperties(ctx context.Context, s *v1alpha1.PgNodeStorage, d decisions, r *PassResult) error {
	switch {
	case d.changes.None():
		return nil
	case s.Spec.DriftPolicy == v1alpha1.DriftReport && len(d.changes.Drift) > 0:
		return nil
	}
	r.Changed = true
	if err := n.set(ctx, s.Spec.Pool.Name, d.changes); err != nil {
		return err
	}
	r.Drift = d.changes.Drift
	return nil
}

// importPool imports the pool after it has recorded that.
func (n *Node) importPool(ctx context.Context, s *v1alpha1.PgNodeStorage, seen decide.Seen, d decide.PoolDecision) error {
	importer, err := n.importer(s, seen)
	if err != nil {
		return err
	}
	if err := n.noteImport(s, seen.Network); err != nil {
		return err
	}
	if d.TakeOver {
		return importer.TakeOver(ctx, d.Import)
	}
	return importer.Import(ctx, d.Import)
}

// create records each consent to wipe, wipes the devices, and creates the pool. ZFS
// itself refuses devices that are in use.
func (n *Node) create(ctx context.Context, s *v1alpha1.PgNodeStorage, seen decide.Seen, l *decide.Layout) error {
	if err := n.consent(s, &seen, decide.DevicesOf(s.Spec.Pool.Create), false); err != nil {
		return err
	}
	if err := n.wipe(ctx, seen, l.Wipe); err != nil {
		return err
	}
	return n.ZFS.CreatePool(ctx, l.Spec)
}

// wipe devices. Each must still be the one that was probed.
func (n *Node) wipe(ctx context.Context, seen decide.Seen, paths []string) error {
	for _, path := range paths {
		if _, err := n.Devices.Wipe(ctx, path, seen.Signatures[path].Is); err != nil {
			return err
		}
	}
	return nil
}
