package zfs

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

func node(t *testing.T) (Kernel, fstest.MapFS) {
	t.Helper()
	files := fstest.MapFS{
		arcStats:                    {Data: []byte(sample(t, "arcstats"))},
		memInfo:                     {Data: []byte("MemTotal:        3055940 kB\nMemFree:         2743048 kB\n")},
		parameters + "zfs_arc_max":  {Data: []byte("1564661760\n")},
		parameters + "zfs_txg_fake": {Data: []byte("\n")},
	}
	return Kernel{FS: files}, files
}

func TestARC(t *testing.T) {
	k, _ := node(t)
	got, err := k.ARC()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, ARC{
		Size: 225792, Target: 120484224, Min: 97791360, Max: 1564661760, Hits: 46303, Misses: 606, L2Misses: 40,
	})
	good := sample(t, "arcstats")
	for _, data := range []string{
		"", strings.Replace(good, "46303", "many", 1), strings.Replace(good, "l2_size ", "l2_sizes ", 1),
	} {
		if _, err := parseARC(data); !errors.Is(err, ErrFormat) {
			t.Errorf("%.40q: %v", data, err)
		}
	}
	if _, err := parseARC(good + "hits 4 12\n"); err != nil {
		t.Errorf("a field that is there twice: %v", err)
	}
}

func TestParameter(t *testing.T) {
	k, _ := node(t)
	if got, err := k.Parameter("zfs_arc_max"); err != nil || got != "1564661760" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := k.Parameter("zfs_nothing"); !errors.Is(err, ErrNoSuchParameter) {
		t.Error(err)
	}
	for _, name := range []string{"", "../x", "a/b", "-x", "A"} {
		if _, err := k.Parameter(name); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestKernelWithoutTheModule(t *testing.T) {
	k := Kernel{FS: fstest.MapFS{"proc/cpuinfo": {}}}
	if k.Loaded() {
		t.Error("loaded")
	}
	if _, err := k.ARC(); !errors.Is(err, ErrNotLoaded) {
		t.Error(err)
	}
	if _, err := k.Parameter("zfs_arc_max"); !errors.Is(err, ErrNotLoaded) {
		t.Error(err)
	}
	if _, err := k.MemTotal(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestMemTotal(t *testing.T) {
	k, _ := node(t)
	if got, err := k.MemTotal(); err != nil || got != 3055940<<10 {
		t.Errorf("%d, %v", got, err)
	}
	for _, data := range []string{"", "MemTotal: x kB", "MemTotal: 1 MB", "MemTotal: 99999999999999999 kB"} {
		if _, err := parseMemTotal(data); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", data, err)
		}
	}
}
