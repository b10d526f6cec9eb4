package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

const gib = 1 << 30

// fake is a machine with two blank disks and a pool that is as storage() declares. It
// answers commands as the programs do, but knows no state: a test says what a change
// changes. What host.Exec refuses, it refuses.
type fake struct {
	root    string
	clock   *clocktesting.FakePassiveClock
	answers []answer
	reads   []string
	changes []string
	// effects of every kind in their order, each with what the agent's record on disk
	// says while it happens.
	effects []string
}

// answer to the commands that begin and end so.
type answer struct {
	begin, end string
	stdout     string
	// stderr makes it fail, with this exit code or cause.
	stderr string
	exit   int
	err    error
	// then happens with it.
	then func(f *fake)
}

func newFake(t *testing.T, changes ...func(*fake)) *fake {
	t.Helper()
	f := &fake{
		root:  t.TempDir(),
		clock: clocktesting.NewFakePassiveClock(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)),
		answers: []answer{
			{begin: "lsblk", end: "LABEL", stdout: `{"blockdevices": [` + vdb + "," + vdc + `]}`},
			{begin: "lsblk", end: "/wwn-b", stdout: `{"blockdevices": [` + vdb + `]}`},
			{begin: "lsblk", end: "/wwn-c", stdout: `{"blockdevices": [` + vdc + `]}`},
			{begin: "lsblk", stderr: "lsblk: /dev/disk/by-id/x: not a block device\n", exit: 32},
			{begin: "zfs version", stdout: "zfs-2.2.4-1\nzfs-kmod-2.2.4-1\n"},
			{begin: "zpool get", stdout: poolGet},
			{begin: "zpool status", stdout: poolStatus},
			{begin: "zfs get", stdout: zfsGet},
			{begin: "zpool import -d /dev/disk/by-id/wwn-b -d", stderr: "no pools available to import\n", exit: 1},
			{begin: "wipefs -J"},
			{begin: "blkid", exit: 2},
			{begin: "udevadm settle"},
		},
	}
	f.write("sys/module/zfs/parameters/zfs_arc_max", fmt.Sprint(8*gib))
	if err := os.MkdirAll(filepath.Join(f.root, "dev/disk/by-id"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"b", "c"} {
		f.write("dev/vd"+d, "")
		if err := os.Truncate(filepath.Join(f.root, "dev/vd"+d), 8<<20); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../../vd"+d, filepath.Join(f.root, "dev/disk/by-id/wwn-"+d)); err != nil {
			t.Fatal(err)
		}
	}
	for _, change := range changes {
		change(f)
	}
	return f
}

func (f *fake) node() *Node {
	n := New(f.root, f)
	n.Clock = f.clock
	n.Kernel.FS = heeding{os.DirFS(f.root)}
	return n
}

func (f *fake) write(name, text string) {
	path := filepath.Join(f.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		panic(err)
	}
}

// put answers ahead of those that are there.
func put(all ...answer) func(*fake) {
	return func(f *fake) { f.answers = append(slices.Clone(all), f.answers...) }
}

func (f *fake) Run(ctx context.Context, program string, args ...string) (host.Output, error) {
	return f.answer(ctx, false, &f.reads, append([]string{program}, args...))
}

func (f *fake) Change(ctx context.Context, program string, args ...string) (host.Output, error) {
	return f.answer(ctx, true, &f.changes, append([]string{program}, args...))
}

func (f *fake) answer(ctx context.Context, change bool, seen *[]string, argv []string) (host.Output, error) {
	failed := &host.Error{Argv: argv[:min(2, len(argv))], ExitCode: -1}
	if failed.Err = host.Check(ctx, change, argv[0], argv[1:]...); failed.Err != nil {
		return host.Output{}, failed
	}
	line := strings.Join(argv, " ")
	*seen = append(*seen, line)
	if change {
		f.effect(line)
	}
	for _, a := range f.answers {
		// The search for pools begins as their import.
		reads := strings.HasPrefix(a.begin, "zpool import -d")
		if !strings.HasPrefix(line, a.begin) || !strings.HasSuffix(line, a.end) || reads && change {
			continue
		}
		if a.then != nil {
			a.then(f)
		}
		if a.err != nil || a.exit != 0 {
			failed.ExitCode, failed.Stderr, failed.Err = a.exit, a.stderr, a.err
			if a.err == nil {
				failed.Err = fmt.Errorf("exit status %d", a.exit)
			}
			return host.Output{}, failed
		}
		return host.Output{Stdout: []byte(a.stdout)}, nil
	}
	if change {
		return host.Output{}, nil
	}
	failed.Err = hosttest.ErrNoAnswer
	return host.Output{}, failed
}

// heeding is the /proc and /sys of a kernel that heeds zfs_arc_max up to 64Gi.
type heeding struct{ fs.FS }

func (h heeding) Open(name string) (fs.File, error) {
	if name != "proc/spl/kstat/zfs/arcstats" {
		return h.FS.Open(name)
	}
	limit, err := fs.ReadFile(h.FS, "sys/module/zfs/parameters/zfs_arc_max")
	if err != nil {
		return nil, err
	}
	if len(limit) > len("68719476736") {
		limit = fmt.Append(nil, 16*gib)
	}
	text := "12 1 0x01 123 33456 7515657000 129164015290\nname type data\n"
	for name, value := range map[string]string{
		"size": "4294967296", "c": "4294967296", "c_min": "1073741824", "c_max": string(limit),
		"hits": "9", "misses": "1", "l2_hits": "0", "l2_misses": "0", "l2_size": "0", "l2_hdr_size": "0",
	} {
		text += name + " 4 " + value + "\n"
	}
	return fstest.MapFS{name: {Data: []byte(text)}}.Open(name)
}

const (
	vdb = `{"name": "/dev/vdb", "kname": "/dev/vdb", "type": "disk", "size": 8388608, "model": "Disk"}`
	vdc = `{"name": "/dev/vdc", "kname": "/dev/vdc", "type": "disk", "size": 8388608, "model": "Disk"}`

	poolGet = "size\t107374182400\t-\ncapacity\t40\t-\nhealth\tONLINE\t-\nguid\t42\t-\nfree\t64424509440\t-\nallocated\t42949672960\t-\n" +
		"fragmentation\t12\t-\nfailmode\twait\tlocal\nautotrim\ton\tlocal\n"
	poolStatus = `  pool: tank
 state: ONLINE
  scan: none requested
config:

	NAME                              STATE     READ WRITE CKSUM
	tank                              ONLINE       0     0     0
	  mirror-0                        ONLINE       0     0     0
	    /dev/disk/by-id/wwn-b-part1   ONLINE       0     0     0
	    /dev/disk/by-id/wwn-c-part1   ONLINE       0     0     0

errors: No known data errors
`
	zfsGet = "tank\ttype\tfilesystem\t-\ntank\tused\t42949672960\t-\n" +
		"tank/pgdata\ttype\tfilesystem\t-\ntank/pgdata\tused\t32212254720\t-\ntank/pgdata\tavailable\t59055800320\t-\n" +
		"tank/pgdata\trecordsize\t8192\tlocal\ntank/pgdata\tcompression\tlz4\tlocal\n" +
		"tank/pgwal\ttype\tfilesystem\t-\ntank/pgwal\trecordsize\t131072\tlocal\n" +
		"tank/pgdata/pvc-1\ttype\tfilesystem\t-\ntank/pgdata/pvc-1\trecordsize\t8192\tinherited from tank/pgdata\n"

	blankPool = "   pool: tank\n     id: 42\n  state: ONLINE\n action: The pool can be imported using its name or numeric identifier.\n config:\n\n\ttank        ONLINE\n\t  wwn-b     ONLINE\n"
)

// replaced text of an answer.
func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

// gone is the pool: neither imported nor importable.
func gone(f *fake) {
	put(answer{begin: "zpool get", stderr: "cannot open 'tank': no such pool\n", exit: 1})(f)
}

// exported pool: not imported, importable.
func exported(f *fake) {
	gone(f)
	put(answer{begin: "zpool import -d", stdout: blankPool})(f)
}

// storage that the fake's pool is as; it was once found so.
func storage(changes ...func(*v1alpha1.PgNodeStorage)) *v1alpha1.PgNodeStorage {
	property := func(name, value string) v1alpha1.ZFSProperty {
		return v1alpha1.ZFSProperty{Name: name, Value: value}
	}
	s := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: "fast-n1", Generation: 3},
		Spec: v1alpha1.PgNodeStorageSpec{
			NodeName: "n1", Profile: "fast",
			Pool: v1alpha1.NodePool{Name: "tank", Properties: []v1alpha1.ZFSProperty{property("failmode", "wait"), property("autotrim", "on")}},
			Datasets: []v1alpha1.NodeDataset{
				{Name: "tank/pgdata", Properties: []v1alpha1.ZFSProperty{property("recordsize", "8192"), property("compression", "lz4")}},
				{Name: "tank/pgwal", Properties: []v1alpha1.ZFSProperty{property("recordsize", "131072")}},
			},
			ARCMax:      new(resource.MustParse("8Gi")),
			DriftPolicy: v1alpha1.DriftRepair,
		},
		Status: v1alpha1.PgNodeStorageStatus{
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionPropertiesApplied, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonApplied, ObservedGeneration: 3}},
			Pool:       &v1alpha1.ObservedPool{Name: "tank", GUID: "42"},
		},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

func fresh(s *v1alpha1.PgNodeStorage) { s.Status = v1alpha1.PgNodeStorageStatus{} }

func reports(s *v1alpha1.PgNodeStorage) { s.Spec.DriftPolicy = v1alpha1.DriftReport }

// creates a mirror of devices; those with ! are wiped.
func creates(devices ...string) func(*v1alpha1.PgNodeStorage) {
	v := v1alpha1.ZFSVdev{Type: v1alpha1.VdevMirror}
	for _, d := range devices {
		name, wipe := strings.CutSuffix(d, "!")
		v.Devices = append(v.Devices, v1alpha1.ZFSDevice{Path: "/dev/disk/by-id/wwn-" + name, Wipe: new(wipe)})
	}
	return func(s *v1alpha1.PgNodeStorage) {
		s.Spec.Pool.Create = &v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{v}, Ashift: new(int32(12))}
	}
}

// selects so many disks.
func selects(count int32) func(*v1alpha1.PgNodeStorage) {
	return func(s *v1alpha1.PgNodeStorage) {
		v := v1alpha1.ZFSVdev{Type: v1alpha1.VdevStripe, Selector: &v1alpha1.ZFSDeviceSelector{Count: count}}
		s.Spec.Pool.Create = &v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{v}, Ashift: new(int32(12))}
	}
}

// store what a pass has found, as the controller does.
func store(s *v1alpha1.PgNodeStorage, r PassResult, now time.Time) {
	conditions := status.Conditions(s.Status.Conditions, s.Generation, metav1.NewTime(now), r.Outcomes)
	s.Status = *r.Status.DeepCopy()
	s.Status.Conditions = conditions
}

// line of an outcome, so that a table shows all of it.
func line(o outcome.Outcome) string {
	kind := map[outcome.Kind]string{outcome.Done: "done", outcome.Wait: "wait", outcome.Invalid: "invalid"}[o.Kind]
	if o.Unknown {
		kind += " unknown"
	}
	return fmt.Sprintf("%s %s %s: %s", o.Condition, kind, o.Reason, o.Message)
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}
