package zfs

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

func TestPools(t *testing.T) {
	c, _ := answering("zpool list -Hp -o "+poolColumns, hosttest.Answer{Stdout: "" +
		"pmirr\t8159372581058187207\t503316480\t53301248\t450015232\t1\t10\tONLINE\n" +
		"broken\t18446744073709551615\t-\t-\t-\t-\t-\tFAULTED\n"})
	pools, err := c.Pools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, pools, []Pool{
		{"pmirr", 8159372581058187207, Online, 503316480, 53301248, 450015232, 1, 10},
		{Name: "broken", GUID: 1<<64 - 1, Health: Faulted},
	})
	for out, want := range map[string]error{
		"":                               nil,
		"no pools available\n":           nil,
		"a\t1\t2\n":                      ErrFormat,
		"a\tx\t2\t3\t4\t5\t6\tONLINE\n":  ErrFormat,
		"a\t1\t2\t3\t4\t5%\t6\tONLINE\n": nil,
	} {
		if _, err := parsePools(out); !errors.Is(err, want) {
			t.Errorf("%q: %v", out, err)
		}
	}
}

func TestPool(t *testing.T) {
	c, _ := answering("zpool get -Hp -o property,value,source all stripe", hosttest.Answer{Stdout: sample(t, "poolget")})
	p, err := c.Pool(t.Context(), "stripe")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, p["ashift"], Property{"12", "local"})
	equal(t, p["feature@lz4_compress"], Property{"active", "local"})
	equal(t, p["cachefile"], Property{"-", "default"})
	if n, ok := p["size"].Number(); !ok || n != 1006632960 {
		t.Errorf("size %d", n)
	}
	if n, ok := p["health"].Number(); ok {
		t.Errorf("health %d", n)
	}
	if _, err := parseProperties("ashift 12 local"); !errors.Is(err, ErrFormat) {
		t.Errorf("%v", err)
	}
	if got, err := parseProperties("comment\ta\tb\tlocal\n\n"); err != nil || got["comment"].Value != "a\tb" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestDatasets(t *testing.T) {
	c, r := answering("zfs get -Hp -r -t filesystem,volume -o name,property,value,source "+readProperties()+" stripe",
		hosttest.Answer{Stdout: sample(t, "zfsget")})
	all, err := c.Datasets(t.Context(), "stripe")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Reads()) != 1 {
		t.Errorf("%d commands", len(r.Reads()))
	}
	var names []string
	for _, d := range all {
		names = append(names, d.Name+" "+string(d.Kind))
	}
	equal(t, names, []string{"stripe filesystem", "stripe/pgdata filesystem", "stripe/vol volume"})
	data, vol := all[1], all[2]
	equal(t, data.Properties["recordsize"], Property{"8192", "inherited from stripe"})
	equal(t, data.Properties["com.example:owner"], Property{"a b\tc", "local"})
	equal(t, data.Properties["xattr"], Property{"on", "default"})
	if data.Properties["recordsize"].Local() || !all[0].Properties["recordsize"].Local() {
		t.Error("where recordsize was set")
	}
	if vol.Bytes("volsize") != 33554432 || vol.Bytes("refreservation") != 36175872 || vol.Bytes("recordsize") != 0 {
		t.Errorf("%+v", vol)
	}
}

func TestDataset(t *testing.T) {
	command := "zfs get -Hp -t filesystem,volume -o name,property,value,source " + readProperties() + " tank/pgdata"
	c, _ := answering(command, hosttest.Answer{Stdout: "tank/pgdata\ttype\tfilesystem\t-\n" +
		"tank/pgdata\tvolsize\t-\t-\ntank/pgdata\tatime\toff\treceived\n"})
	d, err := c.Dataset(t.Context(), "tank/pgdata")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, d, Dataset{"tank/pgdata", Filesystem, map[string]Property{
		"type": {"filesystem", "-"}, "atime": {"off", "received"},
	}})
	for out, want := range map[string]error{
		"":                                     ErrFormat,
		"a\ttype\tsnapshot\t-\n":               ErrFormat,
		"a\tatime\ton\tlocal\n":                ErrFormat, // of which type?
		"a\ttype\n":                            ErrFormat,
		"\ttype\tfilesystem\t-\n":              ErrFormat,
		"no such thing":                        ErrFormat,
		"\n\ntank/pgdata\ttype\tvolume\t-\n\n": nil,
	} {
		c, _ := answering(command, hosttest.Answer{Stdout: out})
		if _, err := c.Dataset(t.Context(), "tank/pgdata"); !errors.Is(err, want) {
			t.Errorf("%q: %v", out, err)
		}
	}
	c, _ = answering(command, hosttest.Answer{Stderr: "cannot open 'tank/pgdata': dataset does not exist", Exit: 1})
	if _, err := c.Dataset(t.Context(), "tank/pgdata"); !errors.Is(err, ErrNoSuchDataset) {
		t.Error(err)
	}
}

func TestImportable(t *testing.T) {
	c, _ := answering("zpool import -d /dev/disk/by-id", hosttest.Answer{Stdout: sample(t, "import-unavail")})
	c.SearchDirs = []string{"/dev/disk/by-id"}
	all, err := c.Importable(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatalf("%d, %v", len(all), err)
	}
	raidz := all[0]
	if raidz.Name != "praidz" || raidz.GUID != 4735333226618075427 || raidz.State != Online || raidz.Explanation != "" {
		t.Errorf("%+v", raidz)
	}
	equal(t, flat(raidz.Vdevs), []string{
		"data raidz1 raidz1-0 ONLINE", "data disk virtio-disk5 ONLINE", "data disk virtio-disk6 ONLINE",
		"data disk virtio-disk7 ONLINE", "cache disk virtio-disk9 ", "spares disk virtio-disk11 ",
		"special disk virtio-disk10 ONLINE", "logs disk virtio-disk8 ONLINE",
	})
	stripe := all[2]
	if stripe.State != Unavail || stripe.Explanation != "One or more devices contains corrupted data." {
		t.Errorf("%+v", stripe)
	}
	equal(t, stripe.Vdevs[1], VdevStatus{Class: Data, Type: "disk", Name: "virtio-disk1", State: Unavail, Note: "invalid label"})

	twins, err := parseImportable(sample(t, "import-twins"))
	if err != nil || twins[0].Name != "twin" || twins[3].Name != "twin" || twins[0].GUID == twins[3].GUID {
		t.Errorf("%+v, %v", twins, err)
	}
	if d, err := parseImportable(sample(t, "import-destroyed")); err != nil || d[0].State != Online {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := parseImportable("   pool: tank\n  state: ONLINE\n"); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

func TestNothingToImport(t *testing.T) {
	for _, exit := range []int{0, 1} {
		c, _ := answering("zpool import", hosttest.Answer{Stderr: "no pools available to import\n", Exit: exit})
		if all, err := c.Importable(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("%v, %v", all, err)
		}
	}
}

func flat(vdevs []VdevStatus) []string {
	var out []string
	for _, v := range vdevs {
		out = append(out, strings.Join([]string{string(v.Class), v.Type, v.Name, string(v.State)}, " "))
		out = append(out, flat(v.Children)...)
	}
	return out
}

func TestHistograms(t *testing.T) {
	c, _ := answering("zpool iostat -wHp pmirr", hosttest.Answer{Stdout: sample(t, "iostat")})
	all, err := c.IostatHistograms(t.Context(), "pmirr")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 10 { // 2.1 has no rebuild
		t.Errorf("%d classes", len(all))
	}
	writes := all["total_wait_write"]
	if len(writes) != 37 || writes[17] != (Bucket{262143 * time.Nanosecond, 431}) {
		t.Errorf("%d buckets, %+v", len(writes), writes[17])
	}
	if !slices.IsSortedFunc(writes, func(a, b Bucket) int { return int(a.UpTo - b.UpTo) }) {
		t.Error("not sorted")
	}
	for _, out := range []string{
		"", "tank\n", "tank\nx\t1\n", "tank\n1\t0\t0\n", "tank\n1" + strings.Repeat("\tx", 11),
		"tank\n3" + strings.Repeat("\t0", 11) + "\n1" + strings.Repeat("\t0", 11),
	} {
		if _, err := parseHistograms(out); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", out, err)
		}
	}
	with, err := parseHistograms("tank\n1" + strings.Repeat("\t7", 12))
	if err != nil || len(with) != 11 || with["rebuild"][0].Count != 7 {
		t.Errorf("%v, %v", with, err)
	}
}

// No parser may panic, or take what it does not know for a pool.
func FuzzParsers(f *testing.F) {
	for _, name := range []string{
		"import-unavail", "import-twins", "status-degraded", "status-raidz1", "status-degraded-replacing", "zfsget",
		"poolget", "iostat", "arcstats", "status",
	} {
		f.Add(sample(f, name))
	}
	f.Add("zfs-2.1.11\nzfs-kmod-2.1.11\n")
	f.Add("MemTotal: 1 kB\n")
	f.Add("  pool: a\nconfig:\n\t  \n")
	f.Add("errors:\npool: a\n\tx ONLINE\n")
	f.Fuzz(func(t *testing.T, out string) {
		if v, err := parseVersions(out); err == nil && (v.Userland.Text == "" || v.Kernel.Text == "") {
			t.Error("a version without text")
		}
		pools, _ := parsePools(out)
		for _, p := range pools {
			if p.Health == "" && p.Name == "" {
				t.Logf("%+v", p)
			}
		}
		_, _ = parseProperties(out)
		if all, err := parseDatasets(out); err == nil {
			for _, d := range all {
				if d.Name == "" || d.Kind != Filesystem && d.Kind != Volume {
					t.Errorf("%+v", d)
				}
			}
		}
		if s, err := parseStatus(out, "pmirr"); err == nil && (s.Name != "pmirr" || len(s.Vdevs) == 0) {
			t.Errorf("%+v", s)
		}
		if s, err := parseStatusJSON(out, "pmirr"); err == nil && (s.State == "" || len(s.Vdevs) == 0) {
			t.Errorf("%+v", s)
		}
		if all, err := parseImportable(out); err == nil {
			for _, p := range all {
				if p.Name == "" || p.GUID == 0 {
					t.Errorf("%+v", p)
				}
			}
		}
		_, _ = parseHistograms(out)
		_, _ = parseARC(out)
		_, _ = parseMemTotal(out)
	})
}
