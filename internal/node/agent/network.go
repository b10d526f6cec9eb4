package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

const (
	// netlinkTimeout with the kernel, and with a server's handshake.
	netlinkTimeout = 30 * time.Second
	// exportsTimeout with a server that lists or makes exports: it flushes to its store.
	exportsTimeout = time.Minute
	// probeTimeout bounds the read of a block of a device, which may also answer later.
	probeTimeout = 2 * time.Second
)

// NBD attaches network block devices; see package nbd.
type NBD interface {
	Attach(ctx context.Context, d nbd.Device) (string, error)
	Disconnect(ctx context.Context, index int, identifier string) error
	Status(ctx context.Context) ([]nbd.State, error)
	Probe(ctx context.Context, index int) error
	Reconnect(ctx context.Context, d nbd.Device, confirm func() error) error
}

// Exports of one server; see package ninep.
type Exports interface {
	Exports(ctx context.Context) ([]exports.Export, error)
	Create(ctx context.Context, export string, bytes uint64) error
	Grow(ctx context.Context, export string, bytes uint64) error
}

// identity that the kernel keeps with a device, for a life of its server. It exists exactly as
// long as the device, so that no file has to repeat it.
func identity(s *v1alpha1.PgNodeStorage, d decide.NetworkDevice, life string) string {
	return nbd.Identify(s.Spec.Profile+"/"+d.Name(), life)
}

// observeNetwork reads files and asks the kernel; it runs no command.
func (n *Node) observeNetwork(ctx context.Context, s *v1alpha1.PgNodeStorage) (*decide.Network, error) {
	net := &decide.Network{
		Devices: decide.NetworkDevices(s), Mirror: s.Spec.NetworkDevices.Layout == v1alpha1.VdevMirror,
		Lives: map[string]decide.Life{}, Servers: map[string]zerofs.ServerStatus{},
	}
	var err error
	if net.Record, err = n.records(s).load(); err != nil {
		return nil, err
	}
	maps.DeleteFunc(net.Record.Returned, func(_ string, at time.Time) bool { return n.Clock.Since(at) >= decide.SettleTime })
	if net.BootID, err = nbd.BootID(n.Root); err != nil {
		return nil, fmt.Errorf("read boot id: %w", err)
	}
	for _, server := range s.Spec.NetworkDevices.Servers {
		directory := filepath.Join(n.Root, server.Directory)
		net.Lives[server.Name] = readLife(directory)
		// The server may not have written a status yet; a status names its life.
		if told, err := zerofs.ReadStatus(directory); err == nil {
			net.Servers[server.Name] = told
		}
	}
	_, err = os.Stat(filepath.Join(n.Root, "sys/module/nbd"))
	net.Driver = err == nil
	if !net.Driver {
		return net, nil
	}
	ctx, cancel := context.WithTimeout(ctx, netlinkTimeout)
	defer cancel()
	states, err := n.NBD.Status(ctx)
	if err != nil {
		return nil, err
	}
	n.attachments(s, net, states)
	return net, n.relink(net)
}

// attachments by what the kernel keeps with each device.
func (n *Node) attachments(s *v1alpha1.PgNodeStorage, net *decide.Network, states []nbd.State) {
	for i := range net.Devices {
		d := &net.Devices[i]
		for _, state := range states {
			life, ours := strings.CutPrefix(state.Identifier, identity(s, *d, ""))
			if !ours {
				continue
			}
			if r := net.Record.Reconnected[d.Name()]; r.From == life && r.BootID == net.BootID {
				life = r.To
			}
			a := &decide.Attachment{Index: state.Index, Path: nbd.Path(state.Index), Bytes: state.Bytes, Identifier: state.Identifier, Life: life}
			a.InFlight = n.inFlight(state.Index)
			a.Dropped = n.dropped[state.Identifier]
			if d.Attached == nil || n.prefers(net, *d, a) {
				d.Attached = a
			}
		}
	}
	net.FlushLatency = n.flushLatency(s.Name, net)
	n.listen(net)
}

// prefers chooses one of two devices, as where a former one is still open. It prefers the
// device of the present life, and among devices of one life the one that has its name.
func (n *Node) prefers(net *decide.Network, d decide.NetworkDevice, a *decide.Attachment) bool {
	now := net.Lives[d.Server].ID
	if a.Life != d.Attached.Life || a.Life != now {
		return a.Life == now
	}
	named, err := os.Readlink(filepath.Join(n.Root, d.Link))
	return err == nil && named == a.Path
}

// probe reads devices that may be broken. Those are all devices while the pool is not imported
// or not healthy. They are also all devices of a mirror while a waiting request shows that a leg does not
// answer. It skips devices of a stripe whose server is away: a read of those waits
// indefinitely.
func (n *Node) probe(ctx context.Context, seen *decide.Seen) {
	net := seen.Network
	doubted := seen.Pool == nil || !seen.Serves() || !allOnline(seen.Status)
	for i := range net.Devices {
		d := &net.Devices[i]
		well := net.State(*d) == decide.DeviceAttached && net.Answers(d.Server)
		if d.Attached == nil || !net.Mirror && (!well || !doubted) {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		d.Attached.Dead = errors.Is(n.NBD.Probe(ctx, d.Attached.Index), nbd.ErrDead)
		cancel()
	}
}

// allOnline says that no disk of the pool has an error or another state.
func allOnline(s zfs.Status) bool {
	for _, v := range s.Vdevs {
		for _, d := range v.Disks() {
			if d.Class == zfs.Data && (d.State != zfs.Online || d.Read+d.Write > 0) {
				return false
			}
		}
	}
	return true
}

// listExports of the servers whose devices could be attached now.
func (n *Node) listExports(ctx context.Context, s *v1alpha1.PgNodeStorage, net *decide.Network) {
	net.Exports, net.Unasked = map[string]map[string]uint64{}, map[string]string{}
	for _, server := range s.Spec.NetworkDevices.Servers {
		missing := slices.ContainsFunc(net.Devices, func(d decide.NetworkDevice) bool {
			return d.Server == server.Name && net.State(d) != decide.DeviceAttached
		})
		if !missing || !net.Answers(server.Name) {
			continue
		}
		found, err := n.exportsOf(ctx, server)
		if err != nil {
			net.Unasked[server.Name] = err.Error()
			continue
		}
		net.Exports[server.Name] = found
	}
}

func (n *Node) exportsOf(ctx context.Context, server v1alpha1.NodeServer) (map[string]uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, exportsTimeout)
	defer cancel()
	found, err := n.server(server).Exports(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]uint64{}
	for _, e := range found {
		out[e.Name] = e.Bytes
	}
	return out, nil
}

func (n *Node) server(server v1alpha1.NodeServer) Exports {
	return n.Exports(filepath.Join(n.Root, server.Directory, zerofs.NinePSocket))
}

// mounted says that the node has a dataset of the pool mounted: in the mount
// namespace of its init, where the kubelet mounts.
func (n *Node) mounted(pool string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(n.Root, "proc/1/mounts"))
	if err != nil {
		return false, fmt.Errorf("read mounts of the node: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line) // source, target, type
		if len(f) > 2 && f[2] == "zfs" && (f[0] == pool || strings.HasPrefix(f[0], pool+"/")) {
			return true, nil
		}
	}
	return false, nil
}
