package zfs

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

// sample is an output of OpenZFS 2.1.11 on Linux 6.1, of pools made for it.
func sample(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// answering gives a client for which one command has an answer, and any other none.
func answering(command string, a hosttest.Answer) (*Client, *hosttest.Replay) {
	r := &hosttest.Replay{Answers: map[string]hosttest.Answer{command: a}}
	return &Client{Runner: r}, r
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwanted\n%+v", got, want)
	}
}

func TestErrorsHaveMeanings(t *testing.T) {
	for _, c := range []struct {
		stderr string
		want   error
	}{
		// Of 2.1.11.
		{"cannot open 'nothere': no such pool", ErrNoSuchPool},
		{"cannot import 'nothere': no such pool available", ErrNoSuchPool},
		{"Unable to parse pools/vdevs list.", ErrNoSuchPool},
		{"cannot open 'stripe/nothere': dataset does not exist", ErrNoSuchDataset},
		{"cannot create 'stripe/a/b': parent does not exist", ErrNoSuchDataset},
		{"cannot create 'stripe/pgdata': dataset already exists", ErrExists},
		{"cannot create 'stripe': pool already exists", ErrExists},
		{"/dev/disk/by-id/virtio-disk0 is in use and contains a unknown filesystem.", ErrInUse},
		{"invalid vdev specification\nuse '-f' to override the following errors:\n" +
			"/dev/disk/by-id/virtio-disk11 contains a filesystem of type 'ext4'", ErrInUse},
		{"invalid vdev specification\nuse '-f' to override the following errors:\n" +
			"/dev/disk/by-id/virtio-disk0-part1 is part of exported pool 'stripe'", ErrInUse},
		{"cannot import 'stripe': one or more devices is currently unavailable", ErrUnavailable},
		// These are from the sources of ZFS.
		{"cannot import 'tank': pool is imported on node-1 (hostid: 0x1)\nExport the pool", ErrInUse},
		{"cannot import 'tank': pool was previously in use from another system.", ErrInUse},
		{"The ZFS modules are not loaded.\nTry running '/sbin/modprobe zfs' as root to load them.", ErrNotLoaded},
		{"The ZFS modules cannot be auto-loaded.", ErrNotLoaded},
		{"internal error: out of memory", nil},
	} {
		client, _ := answering("zfs version", hosttest.Answer{Stderr: c.stderr, Exit: 1})
		_, err := client.Version(t.Context())
		if _, ok := errors.AsType[*host.Error](err); !ok {
			t.Errorf("%q: the command is lost: %v", c.stderr, err)
		}
		for _, s := range said {
			if is := errors.Is(err, s.meaning); is != errors.Is(c.want, s.meaning) {
				t.Errorf("%q is %v: %v", c.stderr, s.meaning, is)
			}
		}
	}
	if err := explain(host.ErrStuck); !errors.Is(err, host.ErrStuck) {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	for _, good := range []string{"tank", "pg_data.1", "Tank-2:x"} {
		if err := ValidPoolName(good); err != nil {
			t.Error(err)
		}
		if err := ValidDatasetName(good + "/0-pvc/_x:y"); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{
		"", "-f", "0tank", "ta nk", "tank/x", "tank@a", "tank#a", "mirror", "mirror1", "raidz2", "draid1", "spare",
		"log", "c0t0", "tank\n", "täank", "_tank", strings.Repeat("a", 256), "tank;ls", "tank%recv",
	} {
		if err := ValidPoolName(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("pool %q: %v", bad, err)
		}
	}
	for _, bad := range []string{
		"", "/", "tank/", "tank//x", "/tank", "tank/-f", "tank/x@a", "tank/..", "tank/.", "tank/a b", "mirror/x",
		"tank/" + strings.Repeat("a", 255), "tank/x\n",
	} {
		if err := ValidDatasetName(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("dataset %q: %v", bad, err)
		}
	}
	if err := ValidPoolName("logs"); err != nil {
		t.Errorf("only log itself is reserved: %v", err)
	}
}

// No method runs a command with a name that is none.
func TestBadNamesRunNothing(t *testing.T) {
	r := &hosttest.Replay{}
	c := &Client{Runner: r}
	ctx := t.Context()
	for what, call := range map[string]func(name string) error{
		"Pool":       func(n string) error { _, err := c.Pool(ctx, n); return err },
		"Status":     func(n string) error { _, err := c.Status(ctx, n); return err },
		"Datasets":   func(n string) error { _, err := c.Datasets(ctx, n); return err },
		"Dataset":    func(n string) error { _, err := c.Dataset(ctx, n); return err },
		"Histograms": func(n string) error { _, err := c.IostatHistograms(ctx, n); return err },
		"SetPool":    func(n string) error { return c.SetPool(ctx, n, map[string]string{"autotrim": "on"}) },
		"SetDataset": func(n string) error { return c.SetDataset(ctx, n, map[string]string{"atime": "off"}) },
		"Create":     func(n string) error { return c.CreateDataset(ctx, n, nil) },
		"CreatePool": func(n string) error {
			return c.CreatePool(ctx, PoolSpec{Name: n, Vdevs: []Vdev{{Devices: []string{"/dev/a"}}}})
		},
	} {
		for _, name := range []string{"", "-f", "tank;x", "a b/c"} {
			if err := call(name); !errors.Is(err, ErrInvalid) {
				t.Errorf("%s of %q: %v", what, name, err)
			}
		}
	}
	if ran := append(r.Reads(), r.Changes()...); len(ran) > 0 {
		t.Errorf("ran %q", ran)
	}
}

// A failure of the command reaches the caller of every read.
func TestFailedReads(t *testing.T) {
	c := &Client{Runner: &hosttest.Replay{}, Userland: Version{Major: 2, Minor: 3}}
	ctx := t.Context()
	for what, call := range map[string]func() error{
		"Pools":      func() error { _, err := c.Pools(ctx); return err },
		"Pool":       func() error { _, err := c.Pool(ctx, "tank"); return err },
		"Status":     func() error { _, err := c.Status(ctx, "tank"); return err },
		"StatusText": func() error { _, err := (&Client{Runner: c.Runner}).Status(ctx, "tank"); return err },
		"Datasets":   func() error { _, err := c.Datasets(ctx, "tank"); return err },
		"Dataset":    func() error { _, err := c.Dataset(ctx, "tank"); return err },
		"Importable": func() error { _, err := c.Importable(ctx); return err },
		"Histograms": func() error { _, err := c.IostatHistograms(ctx, "tank"); return err },
		"Version":    func() error { _, err := c.Version(ctx); return err },
	} {
		if err := call(); !errors.Is(err, hosttest.ErrNoAnswer) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestVersion(t *testing.T) {
	c, _ := answering("zfs version", hosttest.Answer{Stdout: "zfs-2.1.11-1+deb12u1\nzfs-kmod-2.1.11-1+deb12u1\n"})
	v, err := c.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, v, Versions{
		Userland: Version{2, 1, 11, "zfs-2.1.11-1+deb12u1"}, Kernel: Version{2, 1, 11, "zfs-kmod-2.1.11-1+deb12u1"},
	})
	for _, s := range []struct {
		out  string
		want Versions
		err  error
	}{
		{"zfs-2.4.0-rc1\nzfs-kmod-v2.4.0-rc1\n", Versions{
			Version{2, 4, 0, "zfs-2.4.0-rc1"}, Version{2, 4, 0, "zfs-kmod-v2.4.0-rc1"},
		}, nil},
		{"zfs-2.3\nzfs-kmod-2.3\n", Versions{Version{2, 3, 0, "zfs-2.3"}, Version{2, 3, 0, "zfs-kmod-2.3"}}, nil},
		{"zfs-2.2.2\n", Versions{Userland: Version{2, 2, 2, "zfs-2.2.2"}}, ErrNotLoaded},
		{"", Versions{}, ErrFormat},
		{"zfs-kmod-2.2.2", Versions{Kernel: Version{2, 2, 2, "zfs-kmod-2.2.2"}}, ErrFormat},
	} {
		got, err := parseVersions(s.out)
		if !errors.Is(err, s.err) {
			t.Errorf("%q: %v", s.out, err)
		}
		equal(t, got, s.want)
	}
	// Without the module, zfs still prints the version of the userland.
	c, _ = answering("zfs version", hosttest.Answer{
		Stdout: "zfs-2.1.11-1\n", Stderr: "The ZFS modules are not loaded.", Exit: 1,
	})
	v, err = c.Version(t.Context())
	if !errors.Is(err, ErrNotLoaded) || v.Userland.Minor != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestAtLeast(t *testing.T) {
	v := Version{Major: 2, Minor: 2, Patch: 4}
	for _, c := range []struct {
		major, minor, patch int
		want                bool
	}{{2, 2, 4, true}, {2, 2, 5, false}, {2, 1, 9, true}, {2, 3, 0, false}, {1, 9, 9, true}, {3, 0, 0, false}} {
		if got := v.AtLeast(c.major, c.minor, c.patch); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
