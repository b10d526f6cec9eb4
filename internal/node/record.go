package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/nodestorage"
)

// recordDir on the node outlives its restarts.
const recordDir = "var/lib/pgstorage/agent"

// records of one PgNodeStorage's network devices: a file, whole or not there.
type records struct{ path string }

func (n *Node) records(s *v1alpha1.PgNodeStorage) records {
	return records{filepath.Join(n.Root, recordDir, s.Name+".json")}
}

// load the record; none is an empty one. One that cannot be read is an error: it may
// know of a pool that must not be made anew.
func (r records) load() (nodestorage.NetworkRecord, error) {
	var out nodestorage.NetworkRecord
	data, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return out, fmt.Errorf("record of network devices %s: %w", r.path, err)
	}
	return out, nil
}

// save a record durably.
func (r records) save(record nodestorage.NetworkRecord) error {
	data, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(r.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	err = renameio.WriteFile(r.path, append(data, '\n'), 0o600, renameio.WithTempDir(dir), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return fmt.Errorf("record of network devices: %w", err)
	}
	d, err := os.Open(dir) // a new name is durable with its folder
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (r records) remove() error {
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record of network devices: %w", err)
	}
	return nil
}

// remember the pool, and the sizes of its devices once it stands on them.
func (n *Node) remember(s *v1alpha1.PgNodeStorage, seen nodestorage.Seen) error {
	net := seen.Network
	if n.DryRun != nil || !memorable(s, seen) {
		return nil
	}
	record := net.Record
	record.PoolGUID, record.Sizes = seen.Pool["guid"].Value, map[string]uint64{}
	for _, d := range net.Devices {
		record.Sizes[d.Name()] = max(net.Record.Sizes[d.Name()], d.Attached.Bytes)
	}
	if record.PoolGUID == net.Record.PoolGUID && maps.Equal(record.Sizes, net.Record.Sizes) {
		return nil
	}
	net.Record = record
	return n.records(s).save(record)
}

// memorable is a pool that stands on all its devices, and is the one that is known.
func memorable(s *v1alpha1.PgNodeStorage, seen nodestorage.Seen) bool {
	if seen.Pool == nil || !seen.Network.Complete() || nodestorage.Foreign(seen) {
		return false
	}
	known := s.Status.Pool
	return known == nil || known.GUID == "" || known.GUID == seen.Pool["guid"].Value
}

// noteImport of a pool, before it is done. A mirror that was not released in order may
// differ between its parts by what a server lost with its end, so a scrub is due.
func (n *Node) noteImport(s *v1alpha1.PgNodeStorage, net *nodestorage.Network) error {
	if net == nil || n.DryRun != nil {
		return nil
	}
	if net.Mirror && !net.Record.Released {
		net.Record.Scrub, net.Record.ScrubSince = true, time.Time{}
		net.Record.Suspect = nil
		for _, d := range net.Devices {
			net.Record.Suspect = append(net.Record.Suspect, d.Name())
		}
	}
	net.Record.Released = false
	return n.records(s).save(net.Record)
}

// withKnownPool gives a PgNodeStorage whose status knows the pool of the record, where
// the status was lost.
func withKnownPool(s *v1alpha1.PgNodeStorage, record nodestorage.NetworkRecord) *v1alpha1.PgNodeStorage {
	if record.PoolGUID == "" || s.Status.Pool != nil && s.Status.Pool.GUID != "" {
		return s
	}
	s = s.DeepCopy()
	s.Status.Pool = &v1alpha1.ObservedPool{Name: s.Spec.Pool.Name, GUID: record.PoolGUID}
	return s
}
