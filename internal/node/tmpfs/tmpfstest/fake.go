// Package tmpfstest has a fake of the memory of a node.
package tmpfstest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
)

// Fake is the memory of a node that mounts nothing: its volumes are a list. One goroutine at a time
// may use it.
type Fake struct {
	Mounts []tmpfs.Mount
	// Unread is the error of List.
	Unread error
	// Fails has the error of each volume that is neither mounted nor unmounted.
	Fails map[string]error
	// Changes has each change, also the failed ones, as "mount NAME".
	Changes []string
	made    int
}

// List returns the volumes of a profile.
func (f *Fake) List(_ context.Context, profile string) (tmpfs.Seen, error) {
	var out tmpfs.Seen
	for _, m := range f.Mounts {
		if m.Profile == profile {
			out.Mounts = append(out.Mounts, m)
		}
	}
	return out, f.Unread
}

// Mount adds volumes, each with another incarnation.
func (f *Fake) Mount(_ context.Context, volumes ...tmpfs.Volume) error {
	var failed []error
	for _, v := range volumes {
		f.Changes = append(f.Changes, "mount "+v.Name)
		if err := f.Fails[v.Name]; err != nil {
			failed = append(failed, fmt.Errorf("mount volume %s: %w", v.Name, err))
			continue
		}
		f.made++
		f.Mounts = append(f.Mounts, tmpfs.Mount{Place: v.Place, Incarnation: fmt.Sprintf("%016x", f.made), Size: v.Bytes})
	}
	return errors.Join(failed...)
}

// Unmount removes volumes.
func (f *Fake) Unmount(_ context.Context, places ...tmpfs.Place) error {
	var failed []error
	for _, p := range places {
		f.Changes = append(f.Changes, "unmount "+p.Name)
		if err := f.Fails[p.Name]; err != nil {
			failed = append(failed, fmt.Errorf("unmount volume %s: %w", p.Name, err))
			continue
		}
		f.Mounts = slices.DeleteFunc(f.Mounts, func(m tmpfs.Mount) bool { return m.Place == p })
	}
	return errors.Join(failed...)
}
