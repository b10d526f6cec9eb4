package agent

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
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// recordDir on the node outlives its restarts.
const recordDir = "var/lib/pgstorage/agent"

// records of one PgNodeStorage's network devices: a file, whole or not there.
type records struct{ path string }

func (n *Node) records(s *v1alpha1.PgNodeStorage) records {
	return records{filepath.Join(n.Root, recordDir, s.Name+".json")}
}

// load returns the record, or an empty one if the file is missing. An unreadable record is an
// error: it may name a pool that must not be created again.
func (r records) load() (decide.NetworkRecord, error) {
	var out decide.NetworkRecord
	return out, loadJSON(r.path, "record of network devices", &out)
}

// save a record durably.
func (r records) save(record decide.NetworkRecord) error {
	return saveJSON(r.path, "record of network devices", record)
}

// loadJSON of a file into a value, which stays as it is where there is no file.
func loadJSON(path, what string, into any) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, path, err)
	}
	return nil
}

// saveJSON writes a file, whole or not at all, that outlives a power cut.
func saveJSON(path, what string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	err = renameio.WriteFile(path, append(data, '\n'), 0o600, renameio.WithTempDir(dir), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
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

// remember records the pool, and the sizes of its devices once it uses them.
func (n *Node) remember(s *v1alpha1.PgNodeStorage, seen decide.Seen) error {
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

// memorable is a pool that uses all its devices and has the known GUID.
func memorable(s *v1alpha1.PgNodeStorage, seen decide.Seen) bool {
	if seen.Pool == nil || !seen.Network.Complete() || decide.Foreign(seen) {
		return false
	}
	known := s.Status.Pool
	return known == nil || known.GUID == "" || known.GUID == seen.Pool["guid"].Value
}

// noteImport records the import of a pool before it happens. A server that ended uncleanly may
// have lost writes, so the legs of a mirror that was not released cleanly may differ. A scrub
// is then due.
func (n *Node) noteImport(s *v1alpha1.PgNodeStorage, net *decide.Network) error {
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

// made is the record of the pool of a PgNodeStorage. The record of a pool on disks has the
// pool's name, whichever profile declares it. That of a pool on network devices has the
// profile's name, because another profile uses another bucket.
func (n *Node) made(s *v1alpha1.PgNodeStorage) poolRecord {
	kind, name := "disks", s.Spec.Pool.Name
	if s.Spec.NetworkDevices != nil {
		kind, name = "network", s.Name
	}
	return poolRecord{filepath.Join(n.Root, recordDir, "pools", kind, name+".json")}
}

// poolRecord of one pool: a file that is never removed.
type poolRecord struct{ path string }

// load the record; none is an empty one. One that cannot be read is an error: it may know
// of a pool that must not be made again.
func (r poolRecord) load() (decide.PoolRecord, error) {
	var out decide.PoolRecord
	return out, loadJSON(r.path, "record of the pool", &out)
}

// save the record durably.
func (r poolRecord) save(record decide.PoolRecord) error {
	return saveJSON(r.path, "record of the pool", record)
}

// rememberMade writes down the imported pool before anything is created on it, so that
// no deletion of an object can have it made again.
func (n *Node) rememberMade(s *v1alpha1.PgNodeStorage, seen *decide.Seen) error {
	if n.DryRun != nil || !seen.Made.Remember(s, *seen) {
		return nil
	}
	return n.made(s).save(seen.Made)
}

// consent notes the consents of these devices before the first is wiped.
func (n *Node) consent(s *v1alpha1.PgNodeStorage, seen *decide.Seen, devices []v1alpha1.ZFSDevice, local bool) error {
	before := len(seen.Made.Consents)
	seen.Made.Use(devices, *seen, n.Clock.Now(), local)
	if n.DryRun != nil || before+len(seen.Made.Consents) == 0 {
		return nil
	}
	return n.made(s).save(seen.Made)
}
