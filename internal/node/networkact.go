package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/blockdev"
	"github.com/pgstorage/pgstorage/internal/nbd"
	"github.com/pgstorage/pgstorage/internal/nodestorage"
)

// connections of each device. With more than one, a kernel that is short of workers for
// a moment (10 ms) gives all receivers of a device to its rescuer, which runs one after
// the other, and the first never ends: what is answered on the other connections is
// lost until the request times out (Linux 6.1, recv_work of nbd.c on a WQ_MEM_RECLAIM
// workqueue; seen on a machine under load). Several devices have several queues too.
const connections = 1

// actNetwork makes the one change that is due.
func (n *Node) actNetwork(ctx context.Context, s *v1alpha1.PgNodeStorage, net *nodestorage.Network, step nodestorage.NetworkStep) error {
	if n.DryRun != nil {
		n.DryRun([]string{"network devices:", step.Outcome.Message})
		return nil
	}
	a := networkAct{Node: n, s: s, net: net, pool: s.Spec.Pool.Name}
	switch {
	case step.LoadDriver:
		_, err := n.ZFS.Change(ctx, "modprobe", "nbd")
		return err
	case len(step.Detach) > 0:
		return a.detach(ctx, step.Detach, step.Grow)
	case len(step.Make) > 0:
		return a.makeExports(ctx, step.Make)
	case len(step.Attach) > 0:
		return a.attachAll(ctx, step.Attach)
	case step.Intend != nil:
		net.Record.Restart = step.Intend
		return a.save()
	case step.Restart != nil:
		return a.restart(step.Restart)
	}
	return a.changePool(ctx, step)
}

// networkAct changes the network devices of one PgNodeStorage.
type networkAct struct {
	*Node
	s    *v1alpha1.PgNodeStorage
	net  *nodestorage.Network
	pool string
}

func (a networkAct) save() error { return a.records(a.s).save(a.net.Record) }

// changePool makes the changes of a pool that is imported.
func (a networkAct) changePool(ctx context.Context, step nodestorage.NetworkStep) error {
	switch {
	case len(step.Return) > 0:
		return a.giveBack(ctx, step.Return)
	case step.Online != nil:
		return a.online(ctx, *step.Online)
	case step.Scrub:
		if err := a.ZFS.Scrub(ctx, a.pool); err != nil {
			return err
		}
		a.net.Record.Scrub = false
		return a.save()
	case step.Release:
		return a.ZFS.ExportPool(ctx, a.pool)
	}
	for _, d := range step.Expand {
		if err := a.ZFS.Expand(ctx, a.pool, d.Link); err != nil {
			return err
		}
	}
	return nil
}

// detach devices that nothing uses; what does, though our pool is not imported, is
// somebody else's. Grow is noted once all are gone.
func (a networkAct) detach(ctx context.Context, devices []nodestorage.NetworkDevice, grow uint64) error {
	for _, d := range devices {
		in, err := a.Devices.Open(d.Attached.Path)
		if errors.Is(err, blockdev.ErrInUse) {
			return fmt.Errorf("%s (%s) is not let go of: %w", d.Attached.Path, d.Name(), err)
		}
		if err == nil {
			_ = in.Close()
		}
		if err := a.disconnect(ctx, d); err != nil {
			return err
		}
	}
	a.net.Record.Grown = grow
	return a.save()
}

func (a networkAct) disconnect(ctx context.Context, d nodestorage.NetworkDevice) error {
	ctx, cancel := context.WithTimeout(ctx, netlinkPatience)
	defer cancel()
	return a.NBD.Disconnect(ctx, d.Attached.Index, identity(a.s, d, d.Attached.Life))
}

func (a networkAct) makeExports(ctx context.Context, changes []nodestorage.ExportChange) error {
	for _, c := range changes {
		if err := a.makeExport(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (a networkAct) makeExport(ctx context.Context, c nodestorage.ExportChange) error {
	ctx, cancel := context.WithTimeout(ctx, exportsPatience)
	defer cancel()
	exports := a.server(a.declaredServer(c.Server))
	if c.Create {
		return exports.Create(ctx, c.Name, c.Bytes)
	}
	return exports.Grow(ctx, c.Name, c.Bytes)
}

func (a networkAct) declaredServer(name string) v1alpha1.NodeServer {
	for _, server := range a.s.Spec.NetworkDevices.Servers {
		if server.Name == name {
			return server
		}
	}
	return v1alpha1.NodeServer{}
}

func (a networkAct) attachAll(ctx context.Context, devices []nodestorage.NetworkDevice) error {
	for _, d := range devices {
		if err := a.attach(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// attach a device at the first number that is free, and link its name to it.
func (a networkAct) attach(ctx context.Context, d nodestorage.NetworkDevice) error {
	timeout, err := time.ParseDuration(a.s.Spec.NetworkDevices.RequestTimeout)
	if err != nil {
		return fmt.Errorf("requestTimeout: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, netlinkPatience)
	defer cancel()
	states, err := a.NBD.Status(ctx)
	if err != nil {
		return err
	}
	var taken []int
	for _, state := range states {
		taken = append(taken, state.Index)
	}
	for {
		index, err := nbd.FreeIndex(taken)
		if err != nil {
			return err
		}
		path, err := a.NBD.Attach(ctx, nbd.Device{
			Index: index, Export: d.Export, Timeout: timeout, Connections: connections,
			Socket:     filepath.Join("/", a.Root, a.declaredServer(d.Server).Directory, nbdSocket),
			Identifier: identity(a.s, d, a.net.Lives[d.Server].ID),
		})
		if errors.Is(err, nbd.ErrHeld) || errors.Is(err, nbd.ErrInUse) {
			taken = append(taken, index) // of somebody else, or a former one that is still open
			continue
		}
		if err != nil {
			return err
		}
		return a.link(d.Link, path)
	}
}

// giveBack devices to the mirror of a pool that serves without them. The record comes
// first: whoever goes on from here has to bring them online.
func (a networkAct) giveBack(ctx context.Context, devices []nodestorage.NetworkDevice) error {
	for _, d := range devices {
		if err := a.noteReturn(d); err != nil {
			return err
		}
		if d.Attached != nil {
			if err := a.disconnect(ctx, d); err != nil && !errors.Is(err, nbd.ErrHeld) {
				return err
			}
		}
		if err := a.attach(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// noteReturn of a device. Where its server ended in order, the device lacks nothing but
// what ZFS knows that it missed; else a scrub has to look for more.
func (a networkAct) noteReturn(d nodestorage.NetworkDevice) error {
	life := a.net.Lives[d.Server]
	clean := d.Attached != nil && life.Previous == d.Attached.Life && life.PreviousClean
	if !slices.Contains(a.net.Record.Returning, d.Name()) {
		a.net.Record.Returning = append(a.net.Record.Returning, d.Name())
	}
	a.net.Record.Scrub = a.net.Record.Scrub || !clean
	return a.save()
}

func (a networkAct) online(ctx context.Context, d nodestorage.NetworkDevice) error {
	if d.Link != "" {
		if err := a.ZFS.Return(ctx, a.pool, d.Link); err != nil {
			return err
		}
	}
	a.net.Record.Returning = slices.DeleteFunc(slices.Clone(a.net.Record.Returning), func(name string) bool {
		return d.Link == "" || name == d.Name()
	})
	return a.save()
}

// restart the node at once, without a sync: that would wait for the suspended pool.
func (a networkAct) restart(r *nodestorage.Restart) error {
	done := *r
	done.Done = true
	a.net.Record.Restart = &done
	if err := a.save(); err != nil {
		return err
	}
	if err := a.Restart(); err != nil {
		return fmt.Errorf("restart the node: %w", err)
	}
	return nil
}

// restartBySysRq asks the kernel of the node whose / is at root.
func restartBySysRq(root string) func() error {
	return func() error { return os.WriteFile(filepath.Join(root, "proc/sysrq-trigger"), []byte("b"), 0o200) }
}

// actLocal changes caches and logs on the node's own disks.
func (n *Node) actLocal(ctx context.Context, pool string, step nodestorage.LocalStep) error {
	for _, name := range step.Remove {
		if err := n.ZFS.RemoveLocal(ctx, pool, name); err != nil {
			return err
		}
	}
	for _, device := range step.Wipe {
		if _, err := n.Devices.Wipe(ctx, device); err != nil {
			return err
		}
	}
	switch {
	case len(step.Caches) > 0:
		return n.ZFS.AddCaches(ctx, pool, step.Caches...)
	case len(step.Log) > 0:
		return n.ZFS.AddLog(ctx, pool, step.Log...)
	}
	return nil
}
