package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
)

// Memory reads and mounts the volumes in the memory of the node. A tmpfs.Client is one.
type Memory interface {
	// List returns what is mounted of a profile.
	List(ctx context.Context, profile string) (tmpfs.Seen, error)
	// Mount mounts new volumes, also the others after one that fails.
	Mount(ctx context.Context, volumes ...tmpfs.Volume) error
	// Unmount unmounts volumes, also the others after one that fails. The error of one that
	// something uses is tmpfs.ErrInUse.
	Unmount(ctx context.Context, places ...tmpfs.Place) error
}

// passMemory is the pass of a profile of type Memory. It runs no command on the node and needs no
// ZFS.
func (n *Node) passMemory(ctx context.Context, s *v1alpha1.PgNodeStorage) (PassResult, error) {
	seen, err := n.Memory.List(ctx, s.Spec.Profile)
	if err != nil {
		return PassResult{Outcomes: decide.MemoryUnread(err)}, err
	}
	d := decide.MemoryDecisionFor(s, seen)
	r := PassResult{Seen: decide.Seen{Memory: &seen}, Status: decide.MemoryStatus(s, seen, d)}
	failed := n.actMemory(ctx, d)
	// A volume in use is tried again with the next check of the node, and not at once.
	r.Changed = !d.None() && !errors.Is(failed, tmpfs.ErrInUse)
	r.Outcomes = decide.MemoryOutcomes(r.Status.Memory, d, failed)
	if n.DryRun != nil {
		r.markDryRun()
	}
	return r, nil
}

// actMemory makes all changes that are due. A dry run only reports them.
func (n *Node) actMemory(ctx context.Context, d decide.MemoryDecision) error {
	if n.DryRun != nil {
		for _, p := range d.Unmount {
			n.DryRun(p.Command())
		}
		for _, v := range d.Mount {
			n.DryRun(v.Command())
		}
		return nil
	}
	var failed []error
	if len(d.Unmount) > 0 { // first, so that its memory is free
		failed = append(failed, n.Memory.Unmount(ctx, d.Unmount...))
	}
	if len(d.Mount) > 0 {
		failed = append(failed, n.Memory.Mount(ctx, d.Mount...))
	}
	return errors.Join(failed...)
}

// releaseMemory unmounts all volumes of the profile. The error is tmpfs.ErrInUse until nothing
// uses them. A dry run only reports the changes, and returns this error for a mounted volume.
func (n *Node) releaseMemory(ctx context.Context, s *v1alpha1.PgNodeStorage) error {
	seen, err := n.Memory.List(ctx, s.Spec.Profile)
	if err != nil || len(seen.Mounts) == 0 {
		return err
	}
	var all []tmpfs.Place
	for _, m := range seen.Mounts {
		all = append(all, m.Place)
	}
	if n.DryRun != nil {
		return errors.Join(n.actMemory(ctx, decide.MemoryDecision{Unmount: all}), fmt.Errorf(msgDryRunReleases, tmpfs.ErrInUse))
	}
	return n.Memory.Unmount(ctx, all...)
}
