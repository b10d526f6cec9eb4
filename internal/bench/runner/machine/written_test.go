package machine

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// served is a pod with its data on a dataset or on an image of RBD. Its WAL is on a partition,
// and devices of nbd are below the pool.
func served(data string) map[string]string {
	return map[string]string{
		mountInfo: `700 600 0:300 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/a
701 700 ` + data + `
702 700 254:3 /wal /var/lib/postgresql/wal rw,relatime shared:9 master:2 - ext4 /dev/vda3 rw
cut off
`,
		diskStats: ` 254       0 vda 10 0 80 5 200 3 4000 9 0 10 14 0 0 0 0 50 7
 254       3 vda3 5 0 40 2 120 1 3000 6 0 8 9 0 0 0 0 0 0
 252      10 rbd1 1 0 8 1 70 0 1000 5 0 6 7 0 0 0 0 31 4
 252      20 rbd10 1 0 8 1 7 0 100 5 0 6 7 0 0 0 0 3 4
  43       0 nbd0 1 0 8 1 40 0 800 5 0 6 7 0 0 0 0 11 4
  43      32 nbd1 1 0 8 1 60 0 1200 5 0 6 7 0 0 0 0 9 4
  43      64 nbd2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
   8      16 sdb 1 0 8 1 2 0 16 5 0 6 7
`,
		ioStat:                                   "254:0 rbytes=1 wbytes=5120 rios=1 wios=10 dbytes=0 dios=0\n252:10 rbytes=0 wbytes=100 rios=0 wios=2\n7:0\n",
		"/proc/spl/kstat/zfs/tank/objset-0x36":   "28 1 0x01 9 2448 1 2\nname                            type data\ndataset_name                    7    tank/pgdata/pvc-1\nwrites                          4    21\nnwritten                        4    172032\nreads                           4    1\nzil_commit_count                4    17\n",
		"/proc/spl/kstat/zfs/tank/objset-0x37":   "28 1 0x01 9 2448 1 2\nname type data\ndataset_name 7 tank/pgdata/pvc-2\nwrites 4 1\nnwritten 4 8192\n",
		"/proc/spl/kstat/zfs/tank/objset-broken": "dataset_name 7 tank/pgdata/pvc-3\nwrites 4 many\n",
	}
}

const (
	onZFS = `0:61 / /var/lib/postgresql/data rw,noatime - zfs tank/pgdata/pvc-1 rw,xattr`
	onRBD = `252:10 /dir /var/lib/postgresql/data rw,relatime - ext4 /dev/rbd1 rw`
)

func written(bytes, requests float64, flushes ...float64) Written {
	w := Written{Bytes: bytes, Requests: requests}
	if len(flushes) > 0 {
		w.Flushes = &flushes[0]
	}
	return w
}

func TestWritten(t *testing.T) {
	const pgdata, wal = "/var/lib/postgresql/data/pgdata", "/var/lib/postgresql/wal"
	type told struct {
		Source string
		Written
		OK bool
	}
	for name, tc := range map[string]struct {
		data     string
		change   map[string]string
		path     string
		at, own  told
		networks int
	}{
		"a dataset":              {onZFS, nil, pgdata, told{"dataset tank/pgdata/pvc-1", written(172032, 21, 17), true}, told{}, 2},
		"an image":               {onRBD, nil, pgdata, told{"block device rbd1", written(512000, 70, 31), true}, told{"disk rbd1", written(100, 2), true}, 2},
		"a partition":            {onZFS, nil, wal, told{"block device vda3", written(1536000, 120), true}, told{"disk vda", written(5120, 10), true}, 2},
		"an overlay":             {onZFS, nil, "/tmp", told{}, told{}, 2},
		"a dataset not told":     {strings.ReplaceAll(onZFS, "pvc-1", "pvc-3"), nil, pgdata, told{Source: "dataset tank/pgdata/pvc-3"}, told{}, 2},
		"before Linux 5.5":       {`8:16 / /var/lib/postgresql/data rw - xfs /dev/sdb rw`, nil, pgdata, told{"block device sdb", written(8192, 2), true}, told{Source: "disk sdb"}, 2},
		"no statistics of disks": {onRBD, map[string]string{diskStats: ""}, pgdata, told{}, told{}, 0},
		"no mounts":              {onRBD, map[string]string{mountInfo: ""}, pgdata, told{}, told{}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			texts := served(tc.data)
			maps.Copy(texts, tc.change)
			c := ReadCounted(texts)
			var at, own told
			at.Source, at.Written, at.OK = c.At(tc.path)
			own.Source, own.Written, own.OK = c.Own(tc.path)
			if diff := cmp.Diff(tc.at, at) + cmp.Diff(tc.own, own); diff != "" {
				t.Error(diff)
			}
			devices, sum := c.Network()
			if devices != tc.networks || devices == 2 && !cmp.Equal(sum, written(1024000, 100, 20)) {
				t.Errorf("%d devices of nbd: %+v", devices, sum)
			}
		})
	}
}

func TestPoolFolders(t *testing.T) {
	texts := served(onZFS)
	c := ReadCounted(map[string]string{mountInfo: texts[mountInfo]})
	if diff := cmp.Diff([]string{"/proc/spl/kstat/zfs/tank"}, c.PoolFolders("/var/lib/postgresql/data/pgdata", "/var/lib/postgresql/wal")); diff != "" {
		t.Error(diff)
	}
	if got := c.PoolFolders("/var/lib/postgresql/wal"); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

func TestWholeOf(t *testing.T) {
	disks := map[string]disk{}
	for _, name := range []string{"sda", "sda1", "sdp", "sdp1", "nvme0n1", "nvme0n1p2", "rbd1", "rbd10", "rbd1p3", "dm-1", "dm-10", "mmcblk0", "mmcblk0p1"} {
		disks[name] = disk{}
	}
	for part, want := range map[string]string{
		"sda": "sda", "sda1": "sda", "sdp": "sdp", "sdp1": "sdp", "nvme0n1": "nvme0n1", "nvme0n1p2": "nvme0n1", "rbd10": "rbd10",
		"rbd1p3": "rbd1", "dm-10": "dm-10", "mmcblk0p1": "mmcblk0", "sdc1": "sdc1",
	} {
		if got := wholeOf(disks, part); got != want {
			t.Errorf("%s is on %s, want %s", part, got, want)
		}
	}
}

func FuzzReadCounted(f *testing.F) {
	for path, text := range served(onRBD) {
		f.Add(path, text)
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		texts := served(onRBD)
		texts[path] = text
		c := ReadCounted(texts)
		for _, at := range []string{"/var/lib/postgresql/data", "/", ""} {
			if _, w, ok := c.At(at); ok && (w.Bytes < 0 || w.Requests < 0) {
				t.Errorf("%s: %+v", at, w)
			}
			c.Own(at)
		}
		c.Network()
		c.PoolFolders("/")
	})
}
