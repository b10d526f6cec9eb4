package zfs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

func changes(t *testing.T, call func(*Client) error, want ...string) {
	t.Helper()
	r := &hosttest.Replay{}
	if err := call(&Client{Runner: r}); err != nil {
		t.Error(err)
	}
	if got := r.Changes(); !slices.Equal(got, want) {
		t.Errorf("ran\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCreatePool(t *testing.T) {
	changes(t, func(c *Client) error {
		return c.CreatePool(t.Context(), PoolSpec{
			Name: "tank",
			Vdevs: []Vdev{
				{Type: "mirror", Devices: []string{"/dev/disk/by-id/a", "/dev/disk/by-id/b"}},
				{Type: "mirror", Devices: []string{"/dev/disk/by-id/c", "/dev/disk/by-id/d"}},
			},
			Special:      []Vdev{{Type: "mirror", Devices: []string{"/dev/e", "/dev/f"}}},
			Logs:         []Vdev{{Devices: []string{"/dev/g"}}},
			Caches:       []string{"/dev/h", "/dev/i"},
			Properties:   map[string]string{"autotrim": "on", "ashift": "12", "compatibility": "openzfs-2.1-linux"},
			FSProperties: map[string]string{"mountpoint": "none", "compression": "lz4", "recordsize": "16k"},
		})
	}, "zpool create -o ashift=12 -o autotrim=on -o compatibility=openzfs-2.1-linux "+
		"-O compression=lz4 -O mountpoint=none -O recordsize=16384 tank "+
		"mirror /dev/disk/by-id/a /dev/disk/by-id/b mirror /dev/disk/by-id/c /dev/disk/by-id/d "+
		"special mirror /dev/e /dev/f log /dev/g cache /dev/h /dev/i")
	changes(t, func(c *Client) error {
		return c.CreatePool(t.Context(), PoolSpec{Name: "tank", Vdevs: []Vdev{{Devices: []string{"/dev/nbd0"}}}})
	}, "zpool create tank /dev/nbd0")
	changes(t, func(c *Client) error {
		return c.CreatePool(t.Context(), PoolSpec{
			Name:    "tank",
			Vdevs:   []Vdev{{Type: "mirror", Devices: []string{"/dev/a", "/dev/b"}}, {Devices: []string{"/dev/c"}}},
			Special: []Vdev{{Type: "mirror", Devices: []string{"/dev/d", "/dev/e"}}, {Type: "mirror", Devices: []string{"/dev/f", "/dev/g"}}},
			Logs:    []Vdev{{Type: "mirror", Devices: []string{"/dev/h", "/dev/i"}}, {Devices: []string{"/dev/j"}}},
		})
	}, "zpool create tank /dev/c mirror /dev/a /dev/b special mirror /dev/d /dev/e mirror /dev/f /dev/g log /dev/j mirror /dev/h /dev/i")
}

var errExit = errors.New("exit status 1")

// late is a runner whose first changes fail.
type late struct {
	hosttest.Replay
	stderr string
	fails  int
}

func (l *late) Change(ctx context.Context, program string, args ...string) (host.Output, error) {
	out, err := l.Replay.Change(ctx, program, args...)
	if l.fails--; l.fails >= 0 && err == nil {
		err = &host.Error{Argv: append([]string{program}, args...), ExitCode: 1, Stderr: l.stderr, Err: errExit}
	}
	return out, err
}

// zpool partitions a device and does not find the partition: the client repeats the command. A
// refusal for any other reason stays one.
func TestPartitionsThatAreNamedLate(t *testing.T) {
	const gone = "cannot label 'vdd': failed to detect device partitions on '/dev/disk/by-id/a-part1': 19\ncannot create 'tank': unknown error"
	for _, tc := range []struct {
		name, stderr string
		fails, runs  int
		want         error
	}{
		{"by zpool", gone, 1, 2, nil},
		{"by zpool, twice", gone, 2, 3, nil},
		{"by the kernel", "cannot create 'tank': no such pool or dataset", 1, 2, nil},
		{"by the kernel's pool", "cannot create 'tank': one or more devices is currently unavailable", 1, 2, nil},
		{"by an older zpool", "cannot resolve path '/dev/disk/by-id/a-part1': 2", 1, 2, nil},
		{"for ever", gone, 9, partitionings, ErrUnavailable},
		{"in use", "/dev/disk/by-id/a contains a filesystem of type 'xfs'", 1, 1, ErrInUse},
		{"too small", "cannot create 'tank': one or more devices is less than the minimum size (64M)", 1, 1, errExit},
	} {
		for _, command := range []func(*Client) error{
			func(c *Client) error {
				return c.CreatePool(t.Context(), PoolSpec{Name: "tank", Vdevs: []Vdev{{Devices: []string{"/dev/disk/by-id/a"}}}})
			},
			func(c *Client) error { return c.AddLog(t.Context(), "tank", "/dev/disk/by-id/a") },
			func(c *Client) error { return c.AddCaches(t.Context(), "tank", "/dev/disk/by-id/a") },
		} {
			t.Run(tc.name, func(t *testing.T) {
				r := &late{stderr: tc.stderr, fails: tc.fails}
				if err := command(&Client{Runner: r}); !errors.Is(err, tc.want) {
					t.Errorf("%v, want %v", err, tc.want)
				}
				if got := r.Changes(); len(got) != tc.runs {
					t.Errorf("ran %q, want %d", got, tc.runs)
				}
			})
		}
	}
}

func TestPoolsThatAreNotMade(t *testing.T) {
	dev := func(names ...string) []Vdev { return []Vdev{{Devices: names}} }
	for says, spec := range map[string]PoolSpec{
		"has no vdev":       {Name: "tank"},
		"vdev type":         {Name: "tank", Vdevs: []Vdev{{Type: "raid5", Devices: []string{"/dev/a"}}}},
		"at least 2":        {Name: "tank", Vdevs: []Vdev{{Type: "mirror", Devices: []string{"/dev/a"}}}},
		"at least 1":        {Name: "tank", Vdevs: dev("/dev/a"), Logs: dev()},
		"a log cannot be":   {Name: "tank", Vdevs: dev("/dev/a"), Logs: []Vdev{{Type: "raidz1", Devices: []string{"/dev/a", "/dev/b", "/dev/c"}}}},
		"named twice":       {Name: "tank", Vdevs: dev("/dev/a"), Caches: []string{"/dev/a"}},
		`"-f"`:              {Name: "tank", Vdevs: dev("-f")},
		`"sda"`:             {Name: "tank", Vdevs: dev("sda")},
		`"/dev/../etc/x"`:   {Name: "tank", Vdevs: dev("/dev/../etc/x")},
		`"/dev/a b"`:        {Name: "tank", Vdevs: dev("/dev/a b")},
		`"/"`:               {Name: "tank", Vdevs: dev("/dev/a"), Special: dev("/")},
		"reserved":          {Name: "mirror", Vdevs: dev("/dev/a")},
		"ashift=99":         {Name: "tank", Vdevs: dev("/dev/a"), Properties: map[string]string{"ashift": "99"}},
		"altroot":           {Name: "tank", Vdevs: dev("/dev/a"), Properties: map[string]string{"altroot": "/x"}},
		"sync=disabled":     {Name: "tank", Vdevs: dev("/dev/a"), FSProperties: map[string]string{"sync": "disabled"}},
		"filesystem has no": {Name: "tank", Vdevs: dev("/dev/a"), FSProperties: map[string]string{"volblocksize": "16k"}},
	} {
		r := &hosttest.Replay{}
		err := (&Client{Runner: r}).CreatePool(t.Context(), spec)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), says) || len(r.Changes()) > 0 {
			t.Errorf("%v, wanted one that says %s; ran %q", err, says, r.Changes())
		}
	}
}

// In use: zpool says "use -f", which pgstorage never does.
func TestCreatePoolInUse(t *testing.T) {
	c, _ := answering("zpool create tank /dev/a", hosttest.Answer{Exit: 1, Stderr: "invalid vdev specification\n" +
		"use '-f' to override the following errors:\n/dev/a is part of exported pool 'stripe'\n"})
	err := c.CreatePool(t.Context(), PoolSpec{Name: "tank", Vdevs: []Vdev{{Devices: []string{"/dev/a"}}}})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "exported pool 'stripe'") {
		t.Error(err)
	}
}

func TestImport(t *testing.T) {
	changes(t, func(c *Client) error {
		c.SearchDirs = []string{"/dev/disk/by-id", "/dev"}
		return c.Import(t.Context(), 18054574517497624620)
	}, "zpool import -N -d /dev/disk/by-id -d /dev 18054574517497624620")
	r := &hosttest.Replay{}
	if err := (&Client{Runner: r}).Import(t.Context(), 0); !errors.Is(err, ErrInvalid) || len(r.Changes()) > 0 {
		t.Error(err)
	}
}

func TestSetPool(t *testing.T) {
	changes(t, func(c *Client) error {
		return c.SetPool(t.Context(), "tank", map[string]string{"failmode": "panic", "autotrim": "on"})
	}, "zpool set autotrim=on tank", "zpool set failmode=panic tank")
	changes(t, func(c *Client) error { return c.SetPool(t.Context(), "tank", nil) })

	c, r := answering("zpool set autotrim=on tank", hosttest.Answer{Stderr: "no such pool", Exit: 1})
	err := c.SetPool(t.Context(), "tank", map[string]string{"failmode": "panic", "autotrim": "on"})
	if !errors.Is(err, ErrNoSuchPool) || len(r.Changes()) != 1 {
		t.Errorf("%v after %q", err, r.Changes())
	}
	for _, props := range []map[string]string{{"ashift": "12"}, {"guid": "1"}, {"autotrim": "yes"}} {
		c, r := answering("", hosttest.Answer{})
		if err := c.SetPool(t.Context(), "tank", props); !errors.Is(err, ErrInvalid) || len(r.Changes()) > 0 {
			t.Errorf("%v: %v", props, err)
		}
	}
}

func TestSetDataset(t *testing.T) {
	changes(t, func(c *Client) error {
		return c.SetDataset(t.Context(), "tank/pgdata", map[string]string{
			"recordsize": "16K", "atime": "off", "quota": "none", "compression": "gzip-6",
		})
	}, "zfs set atime=off compression=gzip quota=none recordsize=16384 tank/pgdata")
	changes(t, func(c *Client) error { return c.SetDataset(t.Context(), "tank/pgdata", nil) })
	for says, props := range map[string]map[string]string{
		"cannot change":       {"volblocksize": "16k"},
		"not a dataset":       {"setuid": "on"},
		"before they are":     {"sync": "disabled"},
		"torn pages":          {"checksum": "off"},
		"spans two records":   {"recordsize": "4k"},
		"power of two from 8": {"recordsize": "24k"},
	} {
		c, r := answering("", hosttest.Answer{})
		err := c.SetDataset(t.Context(), "tank/pgdata", props)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), says) || len(r.Changes()) > 0 {
			t.Errorf("%v: %v", props, err)
		}
	}
}

func TestCreateDataset(t *testing.T) {
	changes(t, func(c *Client) error {
		return c.CreateDataset(t.Context(), "tank/pgdata", map[string]string{"xattr": "sa", "atime": "off"})
	}, "zfs create -o atime=off -o xattr=sa tank/pgdata")
	changes(t, func(c *Client) error { return c.CreateDataset(t.Context(), "tank/x", nil) }, "zfs create tank/x")
	for name, props := range map[string]map[string]string{
		"tank":   nil,
		"tank/a": {"volsize": "1G"},
		"tank/b": {"atime": "maybe"},
		"tank/c": {"keyformat": "raw"},
	} {
		c, r := answering("", hosttest.Answer{})
		if err := c.CreateDataset(t.Context(), name, props); !errors.Is(err, ErrInvalid) || len(r.Changes()) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, _ := answering("zfs create tank/x", hosttest.Answer{Exit: 1, Stderr: "cannot create 'tank/x': dataset already exists"})
	if err := c.CreateDataset(t.Context(), "tank/x", nil); !errors.Is(err, ErrExists) {
		t.Error(err)
	}
}

// ZFS prints that there is none as 0, and takes only the word.
func TestNoQuotaIsSetAsNone(t *testing.T) {
	none := map[string]string{"quota": "0", "refquota": "none", "reservation": "0k", "refreservation": "none"}
	const set = "quota=none refquota=none refreservation=none reservation=none"
	changes(t, func(c *Client) error { return c.SetDataset(t.Context(), "tank/a", none) }, "zfs set "+set+" tank/a")
	changes(t, func(c *Client) error {
		return c.SetDataset(t.Context(), "tank/a", map[string]string{"special_small_blocks": "0", "quota": "1G"})
	}, "zfs set quota=1073741824 special_small_blocks=0 tank/a")
}

// Force is used for a pool of another machine alone, and then by its GUID.
func TestTakeOver(t *testing.T) {
	changes(t, func(c *Client) error {
		c.CacheFile, c.SearchDirs = "none", []string{"/run/pgstorage/fast"}
		return c.TakeOver(t.Context(), 42)
	}, "zpool import -N -f -o cachefile=none -d /run/pgstorage/fast 42")
	r := &hosttest.Replay{}
	if err := (&Client{Runner: r}).TakeOver(t.Context(), 0); !errors.Is(err, ErrInvalid) || len(r.Changes()) > 0 {
		t.Error(err)
	}
}
