package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// connections of each device. With more than one, a kernel that is short of workers for
// a moment (10 ms) gives all receivers of a device to its rescuer, which runs one after
// the other, and the first never ends: what is answered on the other connections is
// lost until the request times out (Linux 6.1, recv_work of nbd.c on a WQ_MEM_RECLAIM
// workqueue; seen on a machine under load). Several devices have several queues too.
const connections = 1

// actNetwork makes the one change that is due.
func (n *Node) actNetwork(ctx context.Context, s *v1alpha1.PgNodeStorage, seen decide.Seen, step decide.NetworkStep) error {
	if n.DryRun != nil {
		n.DryRun([]string{"network devices:", step.Outcome.Message})
		return nil
	}
	a := networkAct{Node: n, s: s, seen: seen, net: seen.Network, pool: s.Spec.Pool.Name}
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
	case len(step.Reconnect) > 0:
		return a.reconnectAll(ctx, step.Reconnect)
	case step.Intend != nil:
		a.net.Record.Restart = step.Intend
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
	seen decide.Seen
	net  *decide.Network
	pool string
}

func (a networkAct) save() error { return a.records(a.s).save(a.net.Record) }

// changePool makes the changes of a pool that is imported.
func (a networkAct) changePool(ctx context.Context, step decide.NetworkStep) error {
	switch {
	case len(step.Drop) > 0:
		return a.drop(ctx, step.Drop)
	case len(step.Return) > 0:
		return a.reattach(ctx, step.Return)
	case step.Online != nil:
		return a.online(ctx, *step.Online)
	case step.Scrub:
		a.net.Record.ScrubSince = a.Clock.Now().UTC() // first: one that began is told by it
		return errors.Join(a.save(), a.ZFS.Scrub(ctx, a.pool))
	case step.Scrubbed:
		a.net.Record.Scrub, a.net.Record.ScrubSince, a.net.Record.Suspect = false, time.Time{}, nil
		return a.save()
	case step.Release:
		return a.export(ctx)
	}
	for _, d := range step.Expand {
		if err := a.ZFS.Expand(ctx, a.pool, d.Link); err != nil {
			return err
		}
	}
	return nil
}

// export the pool, and note that it was released in order.
func (a networkAct) export(ctx context.Context) error {
	if err := a.ZFS.ExportPool(ctx, a.pool); err != nil {
		return err
	}
	a.net.Record.Released = true
	return a.save()
}

// detach devices that nothing uses; what does, though our pool is not imported, is
// somebody else's. Grow is noted once all are gone.
func (a networkAct) detach(ctx context.Context, devices []decide.NetworkDevice, grow uint64) error {
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

func (a networkAct) disconnect(ctx context.Context, d decide.NetworkDevice) error {
	ctx, cancel := context.WithTimeout(ctx, netlinkPatience)
	defer cancel()
	return a.NBD.Disconnect(ctx, d.Attached.Index, d.Attached.Identifier)
}

func (a networkAct) makeExports(ctx context.Context, changes []decide.ExportChange) error {
	for _, c := range changes {
		if err := a.makeExport(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (a networkAct) makeExport(ctx context.Context, c decide.ExportChange) error {
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

func (a networkAct) attachAll(ctx context.Context, devices []decide.NetworkDevice) error {
	for _, d := range devices {
		if err := a.attach(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// attach a device at the first number that is free, and link its name to it.
func (a networkAct) attach(ctx context.Context, d decide.NetworkDevice) error {
	want := a.device(d)
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
		if want.Index, err = nbd.FreeIndex(taken); err != nil {
			return err
		}
		path, err := a.NBD.Attach(ctx, want)
		if errors.Is(err, nbd.ErrHeld) || errors.Is(err, nbd.ErrInUse) {
			taken = append(taken, want.Index) // of somebody else, or a former one that is still open
			continue
		}
		if err != nil {
			return err
		}
		delete(a.dropped, want.Identifier)
		return a.link(d.Link, path)
	}
}

// device as it is attached, but for its index. Requests wait for ever: a server fails
// none of them, and OpenZFS takes a flush that the kernel gave up for done, so that nobody
// but the agent may give any up, of a part of a mirror that others have everything of.
func (a networkAct) device(d decide.NetworkDevice) nbd.Device {
	return nbd.Device{
		Export: d.Export, Connections: connections, DeadConnTimeout: nbd.Forever,
		Socket:     filepath.Join("/", a.Root, a.declaredServer(d.Server).Directory, zerofs.NBDSocket),
		Identifier: identity(a.s, d, a.net.Lives[d.Server].ID),
	}
}

// reconnectAll devices to the lives of their servers, which have all that was written to
// them. Each is noted after it: who ends between does it again, which changes nothing. A
// part of a mirror may have failed meanwhile, and has to be brought online.
func (a networkAct) reconnectAll(ctx context.Context, devices []decide.NetworkDevice) error {
	for _, d := range devices {
		if a.net.Mirror {
			if err := a.noteReturn(d); err != nil {
				return err
			}
		}
		if err := a.reconnect(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (a networkAct) reconnect(ctx context.Context, d decide.NetworkDevice) error {
	want := a.device(d)
	from, _ := strings.CutPrefix(d.Attached.Identifier, identity(a.s, d, ""))
	want.Index, want.Identifier = d.Attached.Index, d.Attached.Identifier
	ctx, cancel := context.WithTimeout(ctx, netlinkPatience)
	defer cancel()
	err := a.NBD.Reconnect(ctx, want, func() error { return a.lives(d) })
	switch {
	case errors.Is(err, nbd.ErrConnected): // by an agent that ended before it could note it
		err = a.lives(d)
	case d.Attached.Silent && errors.Is(err, context.DeadlineExceeded): // it is just slow
		delete(a.answered, d.Attached.Identifier)
		return nil
	}
	if err != nil {
		return err
	}
	delete(a.answered, d.Attached.Identifier)
	if a.net.Record.Reconnected == nil {
		a.net.Record.Reconnected = map[string]decide.Reconnection{}
	}
	a.net.Record.Reconnected[d.Name()] = decide.Reconnection{BootID: a.net.BootID, From: from, To: a.net.Lives[d.Server].ID}
	return a.save()
}

// ErrReplaced says that a server is not the one any more that was decided on.
var ErrReplaced = errors.New("the server was replaced meanwhile")

// lives says that the server of a device is in the life that was decided on, and still
// has all that was written to the device: whoever answers on its socket by now may be a
// successor, and has recorded what it is before.
func (a networkAct) lives(d decide.NetworkDevice) error {
	was, now := a.net.Lives[d.Server], a.lifeOf(d.Server)
	if now.Problem != "" || now.ID != was.ID || !now.Running || !now.Held || !now.Has(d.Attached.Life) {
		return fmt.Errorf("%w: of store %s it was %s", ErrReplaced, d.Server, was.ID)
	}
	return nil
}

// lifeOf a server at this moment. What it inherits can become less until it serves.
func (a networkAct) lifeOf(server string) decide.Life {
	return readLife(filepath.Join(a.Root, a.declaredServer(server).Directory))
}

// drop devices that a mirror serves without, so that what waits for them fails now. The
// record comes first: the kernel forgets the life that a device had.
func (a networkAct) drop(ctx context.Context, devices []decide.NetworkDevice) error {
	if err := a.survives(ctx); err != nil {
		return err
	}
	for _, d := range devices {
		if a.net.Record.Left == nil {
			a.net.Record.Left = map[string]string{}
		}
		a.net.Record.Left[d.Name()] = d.Attached.Life
		if err := a.save(); err != nil {
			return err
		}
		if err := a.disconnect(ctx, d); err != nil && !errors.Is(err, nbd.ErrHeld) {
			return err
		}
		a.dropped[d.Attached.Identifier] = true
	}
	return nil
}

// ErrNoSurvivor says that nothing is taken from a mirror, or given to it: it has no
// other device that lacks nothing.
var ErrNoSurvivor = errors.New("ZFS does not say any more that the other devices of the mirror have everything")

// survives by what ZFS says now.
func (a networkAct) survives(ctx context.Context) error {
	now, err := a.ZFS.Status(ctx, a.pool)
	if err != nil {
		return fmt.Errorf("read pool status: %w", err)
	}
	seen := a.seen
	seen.Status = now
	if !decide.Survives(a.s, seen) {
		return ErrNoSurvivor
	}
	return nil
}

// reattach devices to the mirror of a pool that serves without them. The record comes
// first: whoever goes on from here has to bring them online.
func (a networkAct) reattach(ctx context.Context, devices []decide.NetworkDevice) error {
	if err := a.survives(ctx); err != nil {
		return err
	}
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

// noteReturn of a device. Where its server has all that was written to it, the device
// lacks nothing but what ZFS knows that it missed; else a scrub has to look for more.
func (a networkAct) noteReturn(d decide.NetworkDevice) error {
	life := a.net.Record.Left[d.Name()]
	if d.Attached != nil {
		life = d.Attached.Life
	}
	a.net.Record.Asked = slices.DeleteFunc(slices.Clone(a.net.Record.Asked), func(name string) bool { return name == d.Name() })
	if !slices.Contains(a.net.Record.Returning, d.Name()) {
		a.net.Record.Returning = append(a.net.Record.Returning, d.Name())
	}
	if now := a.lifeOf(d.Server); now.Problem != "" || !now.Has(life) {
		a.net.Record.Scrub, a.net.Record.ScrubSince = true, time.Time{}
		if !slices.Contains(a.net.Record.Suspect, d.Name()) {
			a.net.Record.Suspect = append(a.net.Record.Suspect, d.Name())
		}
	}
	return a.save()
}

func (a networkAct) online(ctx context.Context, d decide.NetworkDevice) error {
	if d.Link != "" {
		again := slices.Contains(a.net.Record.Asked, d.Name())
		if !again {
			a.net.Record.Asked = append(a.net.Record.Asked, d.Name())
			if err := a.save(); err != nil {
				return err
			}
		}
		if err := a.ZFS.Return(ctx, a.pool, d.Link, again); err != nil {
			return err
		}
	}
	done := func(name string) bool { return d.Link == "" || name == d.Name() }
	a.net.Record.Returning = slices.DeleteFunc(slices.Clone(a.net.Record.Returning), done)
	a.net.Record.Asked = slices.DeleteFunc(slices.Clone(a.net.Record.Asked), done)
	delete(a.net.Record.Left, d.Name())
	if d.Link != "" {
		if a.net.Record.Returned == nil {
			a.net.Record.Returned = map[string]time.Time{}
		}
		a.net.Record.Returned[d.Name()] = a.Clock.Now().UTC()
	}
	return a.save()
}

// restart the node at once, without a sync: that would wait for the suspended pool.
func (a networkAct) restart(r *decide.Restart) error {
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

// actLocal changes caches and logs on the node's own disks. A wipe is used up once the
// pool has taken its disk.
func (n *Node) actLocal(ctx context.Context, s *v1alpha1.PgNodeStorage, seen decide.Seen, step decide.LocalStep) error {
	pool := s.Spec.Pool.Name
	for _, name := range step.Remove {
		if err := n.ZFS.RemoveLocal(ctx, pool, name); err != nil {
			return err
		}
	}
	adds := slices.Concat(step.Caches, step.Log)
	taken := slices.DeleteFunc(slices.Concat(s.Spec.NetworkDevices.Caches, s.Spec.NetworkDevices.Logs), func(d v1alpha1.ZFSDevice) bool { return !slices.Contains(adds, d.Path) })
	if err := n.consent(s, &seen, taken, true); err != nil {
		return err
	}
	if err := n.wipe(ctx, seen, step.Wipe); err != nil {
		return err
	}
	var err error
	switch {
	case len(step.Caches) > 0:
		err = n.ZFS.AddCaches(ctx, pool, step.Caches...)
	case len(step.Log) > 0:
		err = n.ZFS.AddLog(ctx, pool, step.Log...)
	}
	if err != nil || n.DryRun != nil {
		return err
	}
	if seen.Made.Spend(seen.Pool["guid"].Value, func(c decide.Consent) bool { return slices.Contains(adds, c.Path) }) {
		return n.made(s).save(seen.Made)
	}
	return nil
}
