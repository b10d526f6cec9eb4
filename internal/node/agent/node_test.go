package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/testing/facts"
)

// A pass on a node that is as declared runs five commands, and the next one four. It changes
// nothing, and its status equals that of the pass before.
func TestPassAtRest(t *testing.T) {
	f, s := newFake(t), storage()
	n := f.node()
	before := ""
	for pass, want := range []string{
		"lsblk -J, zfs version, zpool get, zpool status, zfs get",
		"lsblk -J, zpool get, zpool status, zfs get",
		"lsblk -J, zpool get, zpool status, zfs get",
	} {
		f.reads = nil
		r, err := n.Pass(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "commands", brief(f.reads), want)
		if len(f.reads) > 5 || len(f.changes) > 0 || r.Changed || len(r.Drift) > 0 {
			t.Errorf("ran %q, changed %q", f.reads, f.changes)
		}
		var got []string
		for _, o := range r.Outcomes {
			got = append(got, line(o))
		}
		same(t, "outcomes", strings.Join(got, "\n"), strings.Join([]string{
			"PoolReady done PoolOnline: pool tank is imported, ONLINE",
			"PropertiesApplied done Applied: 6 properties were read back as declared",
			"DevicesHealthy done Healthy: every device of the pool works and none has counted an error",
			"CapacityHealthy done Healthy: at least 20% of the pool is free",
		}, "\n"))
		if r.Seen.Pool["guid"].Value != "42" || len(r.Seen.Devices) != 2 {
			t.Errorf("seen %+v", r.Seen)
		}
		store(s, r, f.clock.Now())
		now := asStored(t, s)
		if pass > 0 && now != before {
			t.Error(cmp.Diff(before, now))
		}
		before = now
		f.clock.SetTime(f.clock.Now().Add(time.Minute))
	}
}

func asStored(t *testing.T, s *v1alpha1.PgNodeStorage) string {
	t.Helper()
	out, err := json.MarshalIndent(s.Status, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// brief has the first two words of each command.
func brief(commands []string) string {
	var out []string
	for _, c := range commands {
		out = append(out, strings.Join(strings.Fields(c)[:2], " "))
	}
	return strings.Join(out, ", ")
}

// These are the changes of a pass, one after the other, and its status of the pool and the
// properties.
func TestPass(t *testing.T) {
	const (
		online    = "done PoolOnline: pool tank is imported, ONLINE"
		applied   = "done Applied: 6 properties were read back as declared"
		setting   = "wait Progressing: …"
		unread    = "wait unknown NotReadBack: …"
		stillTrue = "wait unknown Applied: …"
		lost      = "invalid PoolLost: … tank (GUID 42) … 42 in pool.abandonedGUIDs …"
		making    = "… tank … /dev/disk/by-id/wwn-b, /dev/disk/by-id/wwn-c"
		makeIt    = "zpool create -o ashift=12 -o autotrim=on -o failmode=wait -O canmount=off -O mountpoint=none tank mirror /dev/disk/by-id/wwn-b /dev/disk/by-id/wwn-c"
		importIt  = "zpool import -N -d /dev/disk/by-id/wwn-b -d /dev/disk/by-id/wwn-c -d /dev/vdb -d /dev/vdc 42"
	)
	drifted := put(
		answer{begin: "zpool get", stdout: replaced(poolGet, "failmode\twait", "failmode\tpanic", "autotrim\ton", "autotrim\toff")},
		answer{begin: "zfs get", stdout: replaced(zfsGet, "compression\tlz4\tlocal", "compression\tzstd\tlocal", "tank/pgwal\t", "tank/other\t")},
	)
	drift := "failmode of tank is panic, declared is wait; autotrim of tank is off, declared is on; compression of tank/pgdata is zstd, declared is lz4; tank/pgwal does not exist"
	repair := []string{
		"zpool set autotrim=on tank", "zpool set failmode=wait tank", "zfs set compression=lz4 tank/pgdata",
		"zfs create -o canmount=off -o mountpoint=none -o recordsize=131072 tank/pgwal",
	}
	health := func(h, see string) func(*fake) {
		return put(
			answer{begin: "zpool get", stdout: replaced(poolGet, "ONLINE", h)},
			answer{begin: "zpool status", stdout: replaced(poolStatus, " state: ONLINE", " state: "+h+"\nstatus: Devices are gone.\naction: Attach them."+see)},
			answer{begin: "zfs get", err: errors.New("must not be read")},
		)
	}
	ext4 := answer{begin: "wipefs -J", end: "wwn-c", stdout: `{"signatures": [{"type": "ext4", "offset": "0x438"}]}`}
	wiped := answer{begin: "wipefs -a", then: put(answer{begin: "wipefs -J", end: "wwn-c"})}
	refusing := func(begin, stderr string) func(*fake) { return put(answer{begin: begin, stderr: stderr, exit: 1}) }
	for _, c := range []struct {
		name    string
		s       *v1alpha1.PgNodeStorage
		f       *fake
		changes []string
		drift   string
		pool    string
		props   string
	}{
		// Properties.
		{"drift is repaired, pool first, then datasets", storage(), newFake(t, drifted), repair, drift, online, setting},
		{"what was never applied is no drift", storage(fresh), newFake(t, drifted), repair, "", online, setting},
		{
			"drift is reported and left", storage(reports), newFake(t, drifted), nil, "", online,
			"invalid PropertyDrift: changed by hand, and driftPolicy is Report: autotrim of tank is off, declared is on; compression of tank/pgdata is zstd, declared is lz4; failmode of tank is panic, declared is wait; tank/pgwal does not exist",
		},
		{"what was never applied is set though drift is reported", storage(fresh, reports), newFake(t, drifted), repair, "", online, setting},
		{"nothing to report", storage(reports), newFake(t), nil, "", online, applied},
		{
			"one refused, all others made, and no drift told as repaired", storage(), newFake(t, drifted, refusing("zfs set", "cannot set property for 'tank/pgdata': pool must be upgraded\n")),
			repair, "", online,
			"invalid PropertyRefused: … minute: zfs set: exit status 1: cannot set property for 'tank/pgdata': pool must be upgraded",
		},
		{
			"two refused", storage(), newFake(t, drifted, refusing("zfs", "no\n"), refusing("zpool set failmode", "never\n"), put(answer{begin: "zfs get", stdout: replaced(zfsGet, "\tlz4\t", "\tzstd\t")}, answer{begin: "zfs version", stdout: "zfs-2.2.4-1\nzfs-kmod-2.2.4-1\n"})),
			repair[:3], "", online,
			"invalid PropertyRefused: … minute: zpool set: exit status 1: never; zfs set: exit status 1: no",
		},
		{
			"what does not end keeps the rest from being tried", storage(), newFake(t, drifted, put(answer{begin: "zpool set failmode", err: host.ErrStuck})),
			repair[:2], "", online,
			"invalid PropertyRefused: … minute: zpool set: stuck in the kernel",
		},
		{
			"a value that this ZFS does not know", storage(func(s *v1alpha1.PgNodeStorage) {
				s.Spec.Datasets[0].Properties[1] = v1alpha1.ZFSProperty{Name: "checksum", Value: "blake3"}
			}), newFake(t, drifted, put(answer{begin: "zfs version", stdout: "zfs-2.1.11-1\nzfs-kmod-2.1.11-1\n"})),
			[]string{repair[0], repair[1], repair[3]}, "failmode of tank is panic, declared is wait; autotrim of tank is off, declared is on; tank/pgwal does not exist", online,
			"invalid PropertyRefused: … applied: tank/pgdata: invalid: checksum=blake3 needs ZFS 2.2.0 and the node has zfs-2.1.11-1; use another value or upgrade the node",
		},
		// Pool.
		{
			"no module", storage(), newFake(t, func(f *fake) { must(os.RemoveAll(filepath.Join(f.root, "sys"))) }), nil, "",
			"wait ZFSNotLoaded: the node's kernel has no ZFS module loaded; install OpenZFS on the node (zfs-dkms, or the distribution's package) and run modprobe zfs", stillTrue,
		},
		{"importable", storage(fresh), newFake(t, exported), []string{importIt}, "", "wait ImportingPool: … tank (GUID 42) …", unread},
		{
			"import refused", storage(fresh), newFake(t, exported, refusing("zpool import -N", "cannot import 'tank': pool was previously in use from another system.\n")), []string{importIt}, "",
			"invalid HostCommandFailed: … tank (GUID 42) … … in use: zpool import: exit status 1: cannot import 'tank': pool was previously in use from another system.", unread,
		},
		{
			// Its devices are not looked at: one that cannot be read must not keep a
			// degraded pool from being imported.
			"importable, with a device that cannot be read", storage(creates("b", "c")), newFake(t, exported, refusing("blkid", "Input/output error\n")),
			[]string{importIt}, "", "wait ImportingPool: … tank (GUID 42) …", stillTrue,
		},
		{"lost", storage(), newFake(t, gone), nil, "", lost, stillTrue},
		{"lost, and its devices cannot be read", storage(creates("b", "c")), newFake(t, gone, refusing("blkid", "Input/output error\n")), nil, "", lost, stillTrue},
		{"made", storage(fresh, creates("b", "c")), newFake(t, gone), []string{makeIt}, "", "wait CreatingPool: " + making, unread},
		{
			"made, once it was wiped", storage(fresh, creates("b!", "c!")), newFake(t, gone, put(ext4, wiped)), []string{"wipefs -a /dev/disk/by-id/wwn-c", makeIt}, "",
			"wait CreatingPool: " + making, unread,
		},
		{
			"not made for want of a wipe", storage(fresh, creates("b!", "c")), newFake(t, gone, put(ext4)), nil, "",
			"invalid DeviceNotBlank: pool.create.vdevs[0]: /dev/disk/by-id/wwn-c is not blank (ext4) and is not touched; name another device, or set wipe: true for it if nothing on it is needed", unread,
		},
		{
			"not made for want of a device", storage(fresh, creates("b", "x")), newFake(t, gone), nil, "",
			"wait DeviceNotFound: pool.create.vdevs[0]: the node has no device /dev/disk/by-id/wwn-x; correct the path, or attach the device (ls -l /dev/disk/by-id on the node)", unread,
		},
		{
			"not made, as data is on it that nothing knows", storage(fresh, creates("b", "c")), newFake(t, gone, func(f *fake) { f.write("dev/vdc", "database"+string(make([]byte, 8<<20))) }), nil, "",
			"invalid DeviceNotBlank: pool.create.vdevs[0]: /dev/disk/by-id/wwn-c is not blank (data without a known signature) and is not touched; name another device, or set wipe: true for it if nothing on it is needed", unread,
		},
		{
			"not made, as a device cannot be read", storage(fresh, creates("b!", "c!")), newFake(t, gone, put(answer{begin: "blkid", end: "wwn-b", stderr: "Input/output error\n", exit: 1})), nil, "",
			"wait HostCommandFailed: pool.create.vdevs[0]: what is on /dev/disk/by-id/wwn-b could not be read: probe of /dev/disk/by-id/wwn-b: blkid -p: exit status 1: Input/output error", unread,
		},
		{
			"not made, as a device does not answer", storage(fresh, creates("b!", "c!")), newFake(t, gone, put(answer{begin: "wipefs -J", end: "wwn-b", err: host.ErrStuck}, answer{begin: "wipefs -J", end: "wwn-c", err: errors.New("must not be read")})), nil, "",
			"wait HostCommandFailed: pool.create.vdevs[0]: what is on /dev/disk/by-id/wwn-b could not be read: probe of /dev/disk/by-id/wwn-b: wipefs -J: stuck in the kernel", unread,
		},
		{
			"made of others, as one that a selector matches cannot be read", storage(fresh, selects(1)), newFake(t, gone, put(answer{begin: "wipefs -J", end: "wwn-b", stderr: "Input/output error\n", exit: 1})),
			[]string{"zpool create -o ashift=12 -o autotrim=on -o failmode=wait -O canmount=off -O mountpoint=none tank /dev/disk/by-id/wwn-c"}, "", "wait CreatingPool: … tank … /dev/disk/by-id/wwn-c", unread,
		},
		{
			"making refused", storage(fresh, creates("b", "c")), newFake(t, gone, refusing("zpool create", "invalid vdev specification\nuse '-f' to override the following errors:\n/dev/disk/by-id/wwn-c is in use\n")), []string{makeIt}, "",
			"invalid HostCommandFailed: " + making + " … in use: zpool create: exit status 1: invalid vdev specification; use '-f' to override the following errors:; /dev/disk/by-id/wwn-c is in use", unread,
		},
		{
			"not made, as the wipe was refused", storage(fresh, creates("b", "c!")), newFake(t, gone, put(ext4, answer{begin: "wipefs -a", stderr: "probing initialization failed: Device or resource busy\n", exit: 1})), []string{"wipefs -a /dev/disk/by-id/wwn-c"}, "",
			"invalid HostCommandFailed: " + making + " … wipefs -a: exit status 1: probing initialization failed: Device or resource busy", unread,
		},
		{
			"not made, as something is left after the wipe", storage(fresh, creates("b", "c!")), newFake(t, gone, put(ext4)), []string{"wipefs -a /dev/disk/by-id/wwn-c"}, "",
			"invalid HostCommandFailed: " + making + " … not wiped: /dev/disk/by-id/wwn-c: ext4; overwrite the device by hand if nothing of it is needed", unread,
		},
		{
			"suspended: nothing of its datasets is read or set", storage(), newFake(t, health("SUSPENDED", "")), nil, "",
			"invalid PoolSuspended: pool tank is suspended: all I/O to it waits. ZFS says: Devices are gone. Attach them. Bring its devices back, then run zpool clear tank on the node", stillTrue,
		},
		{
			"suspended as failmode continue shows it", storage(fresh), newFake(t, health("ONLINE", "\n   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-JQ")), nil, "",
			"invalid PoolSuspended: pool tank is suspended: all I/O to it waits. ZFS says: Devices are gone. Attach them. Bring its devices back, then run zpool clear tank on the node", unread,
		},
		{"faulted: its datasets cannot be read", storage(), newFake(t, health("FAULTED", "")), nil, "", "invalid PoolUnhealthy: pool tank is FAULTED. ZFS says: Devices are gone. Attach them.", stillTrue},
		{"another pool of its name", storage(), newFake(t, drifted, func(f *fake) {
			put(answer{begin: "zpool get", stdout: replaced(poolGet, "guid\t42", "guid\t43")})(f)
		}), nil, "", "invalid PoolReplaced: the imported pool tank has GUID 43, but the pool of this node had 42. Export the wrong one and import the right one by GUID, or list 42 in pool.abandonedGUIDs of the profile to adopt the new one", stillTrue},
	} {
		r, err := c.f.node().Pass(t.Context(), c.s)
		if err != nil || len(r.Outcomes) != 4 {
			t.Errorf("%s: %v, %d outcomes", c.name, err, len(r.Outcomes))
			continue
		}
		same(t, c.name, strings.Join(c.f.changes, "\n"), strings.Join(c.changes, "\n"))
		same(t, c.name+", drift", strings.Join(r.Drift, "; "), c.drift)
		facts.Same(t, c.name, line(r.Outcomes[0]), "PoolReady "+c.pool)
		facts.Same(t, c.name, line(r.Outcomes[1]), "PropertiesApplied "+c.props)
		if r.Changed != (len(c.changes) > 0) {
			t.Errorf("%s: changed %v", c.name, r.Changed)
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A read that fails ends the pass: nothing is changed, every condition is unknown, and
// what the properties were once applied for is not forgotten.
func TestPassUnread(t *testing.T) {
	const stuck = "a command on the node does not end … "
	failing := func(begin, stderr string) func(*fake) { return put(answer{begin: begin, stderr: stderr, exit: 1}) }
	ending := func(begin string, err error) func(*fake) { return put(answer{begin: begin, err: err}) }
	for _, c := range []struct {
		name string
		s    *v1alpha1.PgNodeStorage
		f    *fake
		want string
		is   error
	}{
		{"devices", storage(), newFake(t, failing("lsblk", "lsblk: failed to access sysfs directory\n")), "wait unknown HostCommandFailed: the node could not be read: list devices: lsblk -J: exit status 1: lsblk: failed to access sysfs directory", nil},
		{"devices in another form", storage(), newFake(t, put(answer{begin: "lsblk", stdout: "NAME"})), "wait unknown HostCommandFailed: the node could not be read: list devices: unknown output format: lsblk: invalid character 'N' looking for beginning of value", nil},
		{"no lsblk", storage(), newFake(t, ending("lsblk", host.ErrNotInstalled)), "wait unknown HostCommandFailed: the node could not be read: list devices: lsblk -J: program is not installed on the node", host.ErrNotInstalled},
		{"version", storage(), newFake(t, put(answer{begin: "zfs version", stdout: "zfs-2.2.4-1\n"})), "wait unknown HostCommandFailed: the node could not be read: read ZFS version: the zfs kernel module is not loaded", zfs.ErrNotLoaded},
		{"ARC", storage(), newFake(t, func(f *fake) { must(os.Remove(filepath.Join(f.root, "sys/module/zfs/parameters/zfs_arc_max"))) }), "wait unknown HostCommandFailed: the node could not be read: read ARC: the zfs kernel module is not loaded: open sys/module/zfs/parameters/zfs_arc_max: no such file or directory", zfs.ErrNotLoaded},
		{"pool", storage(), newFake(t, failing("zpool get", "internal error\n")), "wait unknown HostCommandFailed: the node could not be read: read pool: zpool get: exit status 1: internal error", nil},
		{"pool that does not answer", storage(), newFake(t, ending("zpool get", host.ErrStuck)), "invalid PoolSuspended: " + stuck + "read pool: zpool get: stuck in the kernel", host.ErrStuck},
		{"status", storage(), newFake(t, put(answer{begin: "zpool status"})), "wait unknown HostCommandFailed: the node could not be read: read pool status: unknown output format: zpool status of tank has 0 pools", zfs.ErrFormat},
		{"status that does not answer", storage(), newFake(t, ending("zpool status", host.ErrStuck)), "invalid PoolSuspended: " + stuck + "read pool status: zpool status: stuck in the kernel", host.ErrStuck},
		{"status that takes too long", storage(), newFake(t, ending("zpool status", context.DeadlineExceeded)), "invalid PoolSuspended: " + stuck + "read pool status: zpool status: context deadline exceeded", context.DeadlineExceeded},
		{"datasets", storage(), newFake(t, failing("zfs get", "cannot open 'tank': I/O error\n")), "wait unknown HostCommandFailed: the node could not be read: read datasets: zfs get: exit status 1: cannot open 'tank': I/O error", nil},
		{"datasets that do not answer", storage(), newFake(t, ending("zfs get", host.ErrStuck)), "invalid PoolSuspended: " + stuck + "read datasets: zfs get: stuck in the kernel", host.ErrStuck},
		{"importable pools", storage(), newFake(t, gone, failing("zpool import -d", "internal error\n")), "wait unknown HostCommandFailed: the node could not be read: look for pools to import: zpool import: exit status 1: internal error", nil},
		{"importable pools, a device of which does not answer", storage(), newFake(t, gone, ending("zpool import -d", host.ErrStuck)), "invalid PoolSuspended: " + stuck + "look for pools to import: zpool import: stuck in the kernel", host.ErrStuck},
	} {
		r, err := c.f.node().Pass(t.Context(), c.s)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || r.Changed || len(c.f.changes) > 0 {
			t.Errorf("%s: %v, changed %q", c.name, err, c.f.changes)
		}
		var got []string
		for _, o := range r.Outcomes {
			got = append(got, line(o))
		}
		was := "Applied"
		if c.s.Spec.Pool.Create != nil {
			was = "NotReadBack"
		}
		facts.Same(t, c.name, strings.Join(got, "\n"), strings.Join([]string{
			"PoolReady " + c.want,
			"PropertiesApplied wait unknown " + was + ": …",
			"DevicesHealthy wait unknown NotReadBack: …",
			"CapacityHealthy wait unknown NotReadBack: …",
		}, "\n"))
	}
}

// A read that failed once, or a pool that was away, does not turn drift that is to be
// reported into a first application.
func TestDriftIsReportedAfterAFailure(t *testing.T) {
	for name, fault := range map[string]func(*fake){
		"a read failed":     put(answer{begin: "zpool status", stderr: "internal error\n", exit: 1}),
		"nothing answered":  put(answer{begin: "zpool get", err: host.ErrStuck}),
		"the pool was gone": gone,
	} {
		f, s := newFake(t), storage(reports)
		n := f.node()
		healthy := f.answers
		drift := put(answer{begin: "zfs get", stdout: replaced(zfsGet, "\tlz4\t", "\tzstd\t")})
		for _, step := range []func(*fake){drift, fault, fault, drift, fault, drift} {
			f.answers = healthy
			step(f)
			r, err := n.Pass(t.Context(), s)
			if err != nil {
				r.Status = *s.Status.DeepCopy()
			}
			store(s, r, f.clock.Now())
		}
		if len(f.changes) > 0 {
			t.Errorf("%s: changed %q", name, f.changes)
		}
	}
}

// The agent writes the ARC's limit to the module in bytes, and reads it back at once. The
// module accepts any number and applies only some.
func TestARCMax(t *testing.T) {
	for _, c := range []struct {
		name, before string
		s            *v1alpha1.PgNodeStorage
		change       func(*fake)
		after, props string
	}{
		{"as declared", fmt.Sprint(8 * gib), storage(), nil, fmt.Sprint(8 * gib), "done Applied: 6 properties were read back as declared"},
		{"set", fmt.Sprint(4 * gib), storage(), nil, fmt.Sprint(8 * gib), "wait Progressing: …"},
		{"reported", fmt.Sprint(4 * gib), storage(reports), nil, fmt.Sprint(4 * gib), "invalid PropertyDrift: changed by hand, and driftPolicy is Report: zfs_arc_max of the node is 4294967296, declared is 8Gi"},
		{
			"not heeded", fmt.Sprint(4 * gib), storage(func(s *v1alpha1.PgNodeStorage) { s.Spec.ARCMax.Set(200 * gib) }), nil, fmt.Sprint(200 * gib),
			"invalid PropertyRefused: … arcMax of 214748364800 bytes … 17179869184 … 1073741824 bytes … 64Mi …",
		},
	} {
		f := newFake(t, func(f *fake) { f.write("sys/module/zfs/parameters/zfs_arc_max", c.before) })
		r, err := f.node().Pass(t.Context(), c.s)
		if err != nil {
			t.Fatal(err)
		}
		facts.Same(t, c.name, line(r.Outcomes[1]), "PropertiesApplied "+c.props)
		after, err := os.ReadFile(filepath.Join(f.root, "sys/module/zfs/parameters/zfs_arc_max"))
		if err != nil || string(after) != c.after || len(f.changes) > 0 {
			t.Errorf("%s: %q, %v, changed %q", c.name, after, err, f.changes)
		}
	}
}

// Another PgNodeStorage of the node is older, so its limit stays.
func TestARCMaxOfTwoProfiles(t *testing.T) {
	s, other := storage(), storage(func(s *v1alpha1.PgNodeStorage) { s.Name = "older.n1"; s.Spec.ARCMax.Set(4 * gib) })
	s.CreationTimestamp = metav1.Unix(2, 0)
	other.CreationTimestamp = metav1.Unix(1, 0)
	f := newFake(t, func(f *fake) { f.write("sys/module/zfs/parameters/zfs_arc_max", fmt.Sprint(4*gib)) })
	n := f.node()
	n.Declared = func(context.Context) ([]v1alpha1.PgNodeStorage, error) {
		return []v1alpha1.PgNodeStorage{*s, *other}, nil
	}
	for _, c := range []struct {
		s    *v1alpha1.PgNodeStorage
		want string
	}{
		{s, "invalid PropertyRefused: … arcMax: … older.n1 limits to 4Gi…"},
		{other, "done Applied: 6 properties were read back as declared"},
	} {
		r, err := n.Pass(t.Context(), c.s)
		if err != nil {
			t.Fatal(err)
		}
		facts.Same(t, c.s.Name, line(r.Outcomes[1]), "PropertiesApplied "+c.want)
	}
	after, err := os.ReadFile(filepath.Join(f.root, "sys/module/zfs/parameters/zfs_arc_max"))
	if err != nil || string(after) != fmt.Sprint(4*gib) {
		t.Errorf("the ARC is limited to %s, %v", after, err)
	}
}

func TestARCMaxThatCannotBeWritten(t *testing.T) {
	n := newFake(t).node()
	n.Root = filepath.Join(n.Root, "none")
	err := n.setARCMax(gib)
	same(t, "error", err, "set zfs_arc_max: open "+n.Root+"/sys/module/zfs/parameters/zfs_arc_max: no such file or directory")
}

// From nothing to a pool that is as declared: it is made, its datasets are, and then
// nothing is.
func TestPassesToRest(t *testing.T) {
	f, s := newFake(t, gone), storage(fresh, creates("b", "c"))
	made := answer{begin: "zpool get", stdout: replaced(poolGet, "guid\t42", "guid\t99")}
	empty := answer{begin: "zfs get", stdout: "tank\ttype\tfilesystem\t-\n"}
	put(
		answer{begin: "zpool create", then: put(made, empty)},
		answer{begin: "zfs create", end: "tank/pgwal", then: put(answer{begin: "zfs get", stdout: zfsGet})},
	)(f)
	n := f.node()
	var changed []bool
	for range 4 {
		r, err := n.Pass(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		changed = append(changed, r.Changed)
		store(s, r, f.clock.Now())
	}
	same(t, "changed", changed, []bool{true, true, false, false})
	same(t, "changes", strings.Join(f.changes, "\n"), strings.Join([]string{
		"zpool create -o ashift=12 -o autotrim=on -o failmode=wait -O canmount=off -O mountpoint=none tank mirror /dev/disk/by-id/wwn-b /dev/disk/by-id/wwn-c",
		"zfs create -o canmount=off -o compression=lz4 -o mountpoint=none -o recordsize=8192 tank/pgdata",
		"zfs create -o canmount=off -o mountpoint=none -o recordsize=131072 tank/pgwal",
	}, "\n"))
	if s.Status.Pool.GUID != "99" {
		t.Errorf("GUID %s", s.Status.Pool.GUID)
	}
	// The pool is lost, and blank devices are there: the agent does not create it again.
	gone(f)
	before := len(f.changes)
	for range 2 {
		r, err := n.Pass(t.Context(), s)
		if err != nil || r.Outcomes[0].Reason != v1alpha1.ReasonPoolLost {
			t.Errorf("%v, %s", err, line(r.Outcomes[0]))
		}
		store(s, r, f.clock.Now())
	}
	if len(f.changes) != before {
		t.Errorf("changed %q", f.changes[before:])
	}
}

// A pool that fills is foretold from what a day of passes has seen, and a forecast that
// wavers makes no other status.
func TestFullAt(t *testing.T) {
	f, s := newFake(t), storage()
	n := f.node()
	healthy := f.answers
	seen := map[string]bool{}
	for minute := range 240 {
		allocated := uint64(40*gib + minute*10<<20 + minute*7919%97<<20) // 10 MiB a minute, up to 97 MiB off
		f.answers = healthy
		put(answer{begin: "zpool get", stdout: replaced(poolGet, "42949672960", fmt.Sprint(allocated), "64424509440", fmt.Sprint(100*gib-allocated))})(f)
		r, err := n.Pass(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		store(s, r, f.clock.Now())
		at := s.Status.Pool.FullAt
		if (at != nil) != (minute >= 60) {
			t.Fatalf("minute %d: %v", minute, at)
		}
		if at != nil {
			seen[at.UTC().Format(time.RFC3339)] = true
		}
		f.clock.SetTime(f.clock.Now().Add(time.Minute))
	}
	// 60 GiB at 600 MiB an hour are 102 hours.
	ahead := s.Status.Pool.FullAt.Sub(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC))
	if ahead < 90*time.Hour || ahead > 115*time.Hour || len(seen) > 3 {
		t.Errorf("full in %s; told %v", ahead, seen)
	}
	// The trend of a forgotten pool starts again.
	n.forget(s.Name)
	r, err := n.Pass(t.Context(), s)
	if err != nil || r.Status.Pool.FullAt != nil {
		t.Errorf("%v, %v", r.Status.Pool.FullAt, err)
	}
}

// The agent reads the version again after the module was reloaded.
func TestVersionOfAModuleLoadedAnew(t *testing.T) {
	f := newFake(t)
	n := f.node()
	module := filepath.Join(f.root, "sys/module/zfs")
	for _, c := range []struct {
		change  func()
		version string
		reads   int
	}{
		{func() {}, "zfs-kmod-2.2.4-1", 1},
		{func() {}, "zfs-kmod-2.2.4-1", 1},
		{func() { must(os.Rename(module, module+"-unloaded")) }, "", 1},
		{func() {
			must(os.Rename(module+"-unloaded", module))
			put(answer{begin: "zfs version", stdout: "zfs-2.2.4-1\nzfs-kmod-2.2.5-1\n"})(f)
		}, "zfs-kmod-2.2.5-1", 2},
	} {
		c.change()
		r, err := n.Pass(t.Context(), storage())
		if err != nil {
			t.Fatal(err)
		}
		same(t, "version", r.Seen.Version.Kernel.Text, c.version)
		if got := strings.Count(strings.Join(f.reads, "\n"), "zfs version"); got != c.reads {
			t.Errorf("read %d times, wanted %d", got, c.reads)
		}
	}
	if n.ZFS.Userland.Text != "zfs-2.2.4-1" {
		t.Errorf("userland %+v", n.ZFS.Userland)
	}
}

// The node's / is the agent's own where none is given.
func TestNew(t *testing.T) {
	for root, want := range map[string]string{"": "/", "/host": "/host"} {
		n := New(root, newFake(t))
		if n.Root != want || n.ZFS == nil || n.Devices == nil || n.Clock == nil {
			t.Errorf("%q: %+v", root, n)
		}
	}
}

// A dry run prints and changes nothing, says so in each condition that waits for a
// change, and is not due again at once.
func TestDryRun(t *testing.T) {
	f := newFake(t, func(f *fake) { f.write("sys/module/zfs/parameters/zfs_arc_max", fmt.Sprint(4*gib)) },
		put(answer{begin: "zfs get", stdout: replaced(zfsGet, "\tlz4\t", "\tzstd\t")}))
	var printed []string
	report := func(argv []string) { printed = append(printed, strings.Join(argv, " ")) }
	n := f.node()
	n.ZFS.Runner = host.DryRun(f, report)
	n.DryRun = report
	r, err := n.Pass(t.Context(), storage())
	if err != nil {
		t.Fatal(err)
	}
	facts.Same(t, "condition", line(r.Outcomes[1]), "PropertiesApplied wait Progressing: … (dry run: …")
	if r.Changed || len(r.Drift) > 0 || len(f.changes) > 0 {
		t.Errorf("changed %t %q, drift %q", r.Changed, f.changes, r.Drift)
	}
	after, err := os.ReadFile(filepath.Join(f.root, "sys/module/zfs/parameters/zfs_arc_max"))
	if err != nil || string(after) != fmt.Sprint(4*gib) {
		t.Errorf("ARC %q, %v", after, err)
	}
	if len(printed) != 2 || !strings.HasPrefix(printed[0], "zfs set") || !strings.HasPrefix(printed[1], "write 8589934592 ") {
		t.Errorf("printed %q", printed)
	}
}
