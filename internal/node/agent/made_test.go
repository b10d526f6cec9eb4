package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/testing/facts"
)

const (
	makesIt = "zpool create -o ashift=12 -o autotrim=on -o failmode=wait -O canmount=off -O mountpoint=none tank mirror /dev/disk/by-id/wwn-b /dev/disk/by-id/wwn-c"
	wipesIt = "wipefs -a /dev/disk/by-id/wwn-c"
	ext4    = `{"signatures": [{"type": "ext4", "offset": "0x438"}]}`
)

// carries ext4 on the second disk until it is wiped.
func carries(f *fake) {
	put(answer{begin: "wipefs -J", end: "wwn-c", stdout: ext4},
		answer{begin: "wipefs -a", then: put(answer{begin: "wipefs -J", end: "wwn-c"})})(f)
}

// onePass as the controller does it, and what PoolReady says.
func onePass(t *testing.T, f *fake, s *v1alpha1.PgNodeStorage) string {
	t.Helper()
	f.changes = nil
	r, err := f.node().Pass(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	store(s, r, f.clock.Now())
	return line(r.Outcomes[0])
}

// recreated is the PgNodeStorage after the object, or its Node, was deleted: the manager
// makes it again, and nothing is left of its status.
func recreated(s *v1alpha1.PgNodeStorage, changes ...func(*v1alpha1.PgNodeStorage)) *v1alpha1.PgNodeStorage {
	out := &v1alpha1.PgNodeStorage{ObjectMeta: s.ObjectMeta, Spec: *s.Spec.DeepCopy()}
	for _, change := range changes {
		change(out)
	}
	return out
}

func abandons(guid v1alpha1.PoolGUID) func(*v1alpha1.PgNodeStorage) {
	return func(s *v1alpha1.PgNodeStorage) { s.Spec.Pool.AbandonedGUIDs = append(s.Spec.Pool.AbandonedGUIDs, guid) }
}

// The agent does not create a pool again, on blank disks or by a wipe, though every object that
// had its GUID was deleted. Once an administrator abandons the pool, the agent creates one
// more.
func TestAPoolIsMadeOnce(t *testing.T) {
	f, s := newFake(t, gone, carries), storage(fresh, creates("b!", "c!"))
	healthy := newFake(t).answers
	if says := onePass(t, f, s); !strings.Contains(says, "CreatingPool") || strings.Join(f.changes, "\n") != wipesIt+"\n"+makesIt {
		t.Fatalf("%s: ran %q", says, f.changes)
	}
	lost := f.answers
	f.answers = healthy
	if says := onePass(t, f, s); !strings.Contains(says, "PoolOnline") {
		t.Fatal(says)
	}
	f.answers = lost
	carries(f)
	must(os.Symlink("../../vdc", filepath.Join(f.root, "dev/disk/by-id/wwn-c-too")))
	put(answer{begin: "lsblk", end: "/wwn-c-too", stdout: `{"blockdevices": [` + vdc + `]}`}, answer{begin: "wipefs -J", end: "wwn-c-too", stdout: ext4})(f)
	const still = "PoolReady invalid PoolLost: … tank (GUID 42) … 42 in pool.abandonedGUIDs …"
	for name, again := range map[string]*v1alpha1.PgNodeStorage{
		"the same object":               s,
		"the object made again":         recreated(s),
		"of another profile":            recreated(s, func(s *v1alpha1.PgNodeStorage) { s.Name, s.Spec.Profile = "slow.n1", "slow" }),
		"another pool abandoned":        recreated(s, abandons("43")),
		"the same disk by another path": recreated(s, creates("b!", "c-too!")),
	} {
		if says := onePass(t, f, again); !facts.Match(says, still) || len(f.changes) > 0 {
			t.Errorf("%s: %s\nran %q", name, says, f.changes)
		}
	}

	// The node was installed again, and only the profile's status knows.
	must(os.RemoveAll(filepath.Join(f.root, recordDir)))
	told := recreated(s, func(s *v1alpha1.PgNodeStorage) { s.Spec.Pool.GUID = "42" })
	if says := onePass(t, f, told); !facts.Match(says, still) || len(f.changes) > 0 {
		t.Errorf("told by the profile: %s\nran %q", says, f.changes)
	}

	f.answers = append(lost, healthy...)
	replacement := recreated(told, abandons("42"), creates("b", "c"))
	put(answer{begin: "wipefs -J", end: "wwn-c"})(f)
	if says := onePass(t, f, replacement); !strings.Contains(says, "CreatingPool") || strings.Join(f.changes, "\n") != makesIt {
		t.Errorf("abandoned: %s\nran %q", says, f.changes)
	}
	f.answers = healthy
	put(answer{begin: "zpool get", stdout: replaced(poolGet, "guid\t42", "guid\t44")})(f)
	if says := onePass(t, f, replacement); !strings.Contains(says, "PoolOnline") || replacement.Status.Pool.GUID != "44" {
		t.Errorf("the new pool: %s, %+v", says, replacement.Status.Pool)
	}
	f.answers = lost
	put(answer{begin: "wipefs -J", end: "wwn-c"})(f)
	if says := onePass(t, f, recreated(replacement)); !strings.Contains(says, "PoolLost: pool tank (GUID 44)") || len(f.changes) > 0 {
		t.Errorf("the consent to abandon one is none to abandon the next: %s, ran %q", says, f.changes)
	}
}

// A wipe: true is used up with the pool that was created. It wipes nothing for the next pool,
// until an administrator names the disk by its serial number.
func TestAWipeIsUsedUp(t *testing.T) {
	disk := func(serial string) func(*fake) {
		with := replaced(vdc, `"model": "Disk"`, `"model": "Disk", "serial": "`+serial+`"`)
		return put(answer{begin: "lsblk", end: "LABEL", stdout: `{"blockdevices": [` + vdb + "," + with + `]}`},
			answer{begin: "lsblk", end: "/wwn-c", stdout: `{"blockdevices": [` + with + `]}`})
	}
	f, s := newFake(t, gone, carries, disk("S1")), storage(fresh, creates("b", "c!"))
	onePass(t, f, s)
	if strings.Join(f.changes, "\n") != wipesIt+"\n"+makesIt {
		t.Fatalf("ran %q", f.changes)
	}
	lost := f.answers
	f.answers = newFake(t).answers
	onePass(t, f, s)
	f.answers = lost
	carries(f)
	again := recreated(s, abandons("42"))
	const spent = "PoolReady invalid WipeRefused: pool.create.vdevs[0]: /dev/disk/by-id/wwn-c is not blank (ext4) and is not touched: its wipe: true was used up for pool GUID 42 on 2026-11-21T08:00:00Z; add serial: S1 to consent to this disk, if nothing on it is needed"
	if says := onePass(t, f, again); says != spent || len(f.changes) > 0 {
		t.Errorf("%s\nran %q", says, f.changes)
	}
	serial := func(is string) func(*v1alpha1.PgNodeStorage) {
		return func(s *v1alpha1.PgNodeStorage) { s.Spec.Pool.Create.Vdevs[0].Devices[1].Serial = is }
	}
	const other = `PoolReady wait DeviceNotFound: pool.create.vdevs[0]: the disk at /dev/disk/by-id/wwn-c has serial "S1", and serial: S2 is declared; it is not touched. Attach that disk, or correct path or serial (lsblk -o NAME,SERIAL,WWN on the node)`
	if says := onePass(t, f, recreated(again, serial("S2"))); says != other || len(f.changes) > 0 {
		t.Errorf("%s\nran %q", says, f.changes)
	}
	if says := onePass(t, f, recreated(again, serial("S1"))); !strings.Contains(says, "CreatingPool") || strings.Join(f.changes, "\n") != wipesIt+"\n"+makesIt {
		t.Errorf("%s\nran %q", says, f.changes)
	}
}

// A wipe whose creation failed is tried again on the same disk, and not on another one
// that came to its path.
func TestAWipeIsOfOneDisk(t *testing.T) {
	disk := func(wwn string) func(*fake) {
		with := replaced(vdc, `"model": "Disk"`, `"model": "Disk", "wwn": "`+wwn+`"`)
		return put(answer{begin: "lsblk", end: "LABEL", stdout: `{"blockdevices": [` + vdb + "," + with + `]}`},
			answer{begin: "lsblk", end: "/wwn-c", stdout: `{"blockdevices": [` + with + `]}`})
	}
	refusing := put(answer{begin: "zpool create", stderr: "is in use\n", exit: 1})
	f, s := newFake(t, gone, carries, disk("0x1"), refusing), storage(fresh, creates("b", "c!"))
	for range 2 {
		onePass(t, f, s)
		if strings.Join(f.changes, "\n") != wipesIt+"\n"+makesIt {
			t.Fatalf("ran %q", f.changes)
		}
		carries(f)
	}
	disk("0x2")(f)
	const want = `PoolReady invalid WipeRefused: pool.create.vdevs[0]: /dev/disk/by-id/wwn-c is not blank (ext4) and is not touched: its wipe: true was used for disk "0x1" on 2026-11-21T08:00:00Z, and the path names disk "0x2" now; add serial: 0x2 to consent to this disk, if nothing on it is needed`
	if says := onePass(t, f, s); says != want || len(f.changes) > 0 {
		t.Errorf("%s\nran %q", says, f.changes)
	}
}

// A path that names a slot, or what is written on a disk, is wiped only with a serial
// number.
func TestAWipeIsBoundToADisk(t *testing.T) {
	for _, path := range []string{
		"/dev/disk/by-path/pci-0000:00:04.0", "/dev/disk/by-partlabel/data", "/dev/disk/by-partuuid/1", "/dev/disk/by-id/dm-name-x", "/dev/disk/by-id/lvm-pv-uuid-x", "/dev/vdc",
	} {
		f := newFake(t, gone, put(
			answer{begin: "lsblk", end: path, stdout: `{"blockdevices": [` + replaced(vdc, `"model": "Disk"`, `"model": "Disk", "serial": "S1"`) + `]}`},
			answer{begin: "zpool import -d", stderr: "no pools available to import\n", exit: 1},
			answer{begin: "wipefs -J", end: path, stdout: `{"signatures": [{"type": "ext4", "offset": "0x438"}]}`},
			answer{begin: "wipefs -a", then: put(answer{begin: "wipefs -J", end: path})},
		))
		must(os.MkdirAll(filepath.Join(f.root, filepath.Dir(path)), 0o700))
		if path != "/dev/vdc" {
			must(os.Symlink("/dev/vdc", filepath.Join(f.root, path)))
		}
		s := storage(fresh, creates("b", "c!"))
		device := &s.Spec.Pool.Create.Vdevs[0].Devices[1]
		device.Path = path
		n := f.node()
		n.Devices.Open = func(string) (blockdev.Content, error) { return os.Open(filepath.Join(f.root, "dev/vdc")) }
		says := func() string {
			f.changes = nil
			r, err := n.Pass(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			return line(r.Outcomes[0])
		}
		if got := says(); !strings.Contains(got, "WipeRefused") || !strings.Contains(got, "add serial: S1 ") || len(f.changes) > 0 {
			t.Errorf("%s: %s\nran %q", path, got, f.changes)
		}
		device.Serial = "S1"
		if got := says(); !strings.Contains(got, "CreatingPool") || len(f.changes) != 2 {
			t.Errorf("%s: %s\nran %q", path, got, f.changes)
		}
	}
}

// A record that cannot be read or written ends the pass before any change. It may name a pool
// that must not be created again.
func TestARecordThatCannotBeRead(t *testing.T) {
	const record = recordDir + "/pools/disks/tank.json"
	for name, c := range map[string]struct {
		f *fake
		s *v1alpha1.PgNodeStorage
	}{
		"read before a creation":   {newFake(t, gone, func(f *fake) { f.write(record, "{") }), storage(fresh, creates("b", "c"))},
		"written before a dataset": {newFake(t, put(answer{begin: "zfs get", stdout: replaced(zfsGet, "tank/pgwal\t", "tank/other\t")}), func(f *fake) { f.write(recordDir+"/pools/disks", "no folder") }), storage()},
		"written before a wipe":    {newFake(t, gone, carries, func(f *fake) { f.write(recordDir+"/pools", "no folder") }), storage(fresh, creates("b", "c!"))},
	} {
		r, err := c.f.node().Pass(t.Context(), c.s)
		if err == nil && !strings.Contains(line(r.Outcomes[0]), "HostCommandFailed") || len(c.f.changes) > 0 {
			t.Errorf("%s: %v, ran %q", name, err, c.f.changes)
		}
	}
}

// Another disk comes to the path between the look and the wipe.
func TestADiskThatIsReplacedIsNotWiped(t *testing.T) {
	f := newFake(t, carries)
	if _, err := f.node().Devices.Wipe(t.Context(), "/dev/disk/by-id/wwn-c", blockdev.Identity{Kernel: "/dev/vdc", Serial: "S0", Size: 8 << 20}); !errors.Is(err, blockdev.ErrReplaced) || len(f.changes) > 0 {
		t.Errorf("%v, ran %q", err, f.changes)
	}
}
