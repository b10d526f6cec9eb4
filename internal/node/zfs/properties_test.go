package zfs

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ property, value, want string }{
		{"atime", "off", "off"},
		{"canmount", "noauto", "noauto"},
		{"checksum", "blake3", "blake3"},
		{"compression", "lz4", "lz4"},
		{"compression", "gzip-6", "gzip"},
		{"compression", "gzip-9", "gzip-9"},
		{"compression", "zstd", "zstd"},
		{"compression", "zstd-3", "zstd-3"}, // another value than zstd
		{"compression", "zstd-19", "zstd-19"},
		{"compression", "zstd-fast-1", "zstd-fast"},
		{"compression", "zstd-fast-10", "zstd-fast-10"},
		{"compression", "zstd-fast-1000", "zstd-fast-1000"},
		{"copies", "2", "2"},
		{"dedup", "off", "off"},
		{"dedup", "verify", "verify"},
		{"dnodesize", "1k", "1k"}, // a name to ZFS, not a size
		{"encryption", "off", "off"},
		{"logbias", "throughput", "throughput"},
		{"mountpoint", "legacy", "legacy"},
		{"mountpoint", "/var/lib/pg", "/var/lib/pg"},
		{"primarycache", "metadata", "metadata"},
		{"quota", "none", "0"},
		{"quota", "10G", "10737418240"},
		{"recordsize", "8k", "8192"},
		{"recordsize", "8K", "8192"},
		{"recordsize", "16KiB", "16384"},
		{"recordsize", "128kB", "131072"},
		{"recordsize", "1M", "1048576"},
		{"redundant_metadata", "most", "most"},
		{"refreservation", "0", "0"},
		{"special_small_blocks", "0", "0"},
		{"special_small_blocks", "1M", "1048576"},
		{"special_small_blocks", "512", "512"},
		{"sync", "always", "always"},
		{"volblocksize", "16k", "16384"},
		{"volsize", "1T", "1099511627776"},
		{"xattr", "sa", "sa"},
		{"xattr", "on", "on"},
	} {
		got, err := Canonical(c.property, c.value)
		if err != nil || got != c.want {
			t.Errorf("%s=%s: %q, %v", c.property, c.value, got, err)
		}
	}
}

// A refusal names the property and the value, says what is wrong, and what to do.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ property, value, says string }{
		{"sync", "disabled", "sync=disabled: refused: commits would be acknowledged before they are stable; use standard or always"},
		{"checksum", "off", "checksum=off: refused: damage would go unseen"},
		{"checksum", "md5", "use on, fletcher4"},
		{"dedup", "sha256", "use off, on, verify"},
		{"encryption", "on", "no place for its keys"},
		{"recordsize", "4k", "recordsize=4k: refused: smaller than the page of Postgres"},
		{"recordsize", "0", "use 8192 or more"},
		{"recordsize", "12k", "power of two"},
		{"recordsize", "2M", "power of two from 8192 to 1048576 bytes"},
		{"recordsize", "-8k", "not a size"},
		{"recordsize", "8 k", "not a size"},
		{"recordsize", "8kk", "not a size"},
		{"recordsize", "", "not a size"},
		{"quota", "16E", "64 bits"},
		{"quota", "99999999999999999999", "64 bits"},
		{"quota", "auto", "not a size"},
		{"volsize", "0", "more than 0"},
		{"volsize", "none", "not a size"},
		{"volblocksize", "256k", "power of two"},
		{"special_small_blocks", "3k", "or 0 for none"},
		{"special_small_blocks", "2M", "or 0 for none"},
		{"compression", "gzip-10", "use on, off"},
		{"compression", "gzip-0", "gzip-1 to gzip-9"},
		{"compression", "zstd-20", "zstd-1 to zstd-19"},
		{"compression", "zstd-fast-11", "zstd-fast-N"},
		{"compression", "lz4\n", "unknown"},
		{"mountpoint", "var", "full path"},
		{"mountpoint", "/a/../b", "clean path"},
		{"mountpoint", "/", "clean path"},
		{"dnodesize", "1024", "use legacy, auto, 1k"},
		{"copies", "4", "use 1, 2, 3"},
		{"atime", "yes", "use on, off"},
		{"snapdir", "visible", "snapdir is not a dataset property that pgstorage accepts; remove it"},
	} {
		got, err := Canonical(c.property, c.value)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.says) || got != "" {
			t.Errorf("%s=%s: %q, %v", c.property, c.value, got, err)
		}
	}
}

func TestCanonicalPool(t *testing.T) {
	for _, c := range []struct{ property, value, want string }{
		{"ashift", "12", "12"}, {"ashift", "09", "9"}, {"autotrim", "on", "on"}, {"cachefile", "none", "none"},
		{"cachefile", "/etc/zfs/zpool.cache", "/etc/zfs/zpool.cache"}, {"compatibility", "off", "off"},
		{"compatibility", "openzfs-2.1-linux,grub2", "openzfs-2.1-linux,grub2"}, {"failmode", "panic", "panic"},
	} {
		if got, err := CanonicalPool(c.property, c.value); err != nil || got != c.want {
			t.Errorf("%s=%s: %q, %v", c.property, c.value, got, err)
		}
	}
	for property, value := range map[string]string{
		"ashift": "8", "autotrim": "yes", "cachefile": "", "compatibility": "../x", "failmode": "", "altroot": "/mnt",
	} {
		if got, err := CanonicalPool(property, value); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s=%s: %q, %v", property, value, got, err)
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		property, wanted, seen string
		want                   bool
	}{
		{"recordsize", "8k", "8192", true},
		{"recordsize", "8k", "16384", false},
		{"compression", "gzip-6", "gzip", true},
		{"xattr", "dir", "on", true},
		{"xattr", "dir", "dir", true},
		{"xattr", "sa", "on", false},
		{"xattr", "on", "on", true},
		{"xattr", "on", "sa", true},
		{"xattr", "on", "dir", true},
		{"xattr", "on", "off", false},
		{"dedup", "on", "on", true},
		{"quota", "none", "0", true},
		{"nosuch", "a", "a", true},
		{"sync", "disabled", "standard", false},
	} {
		if got := Same(c.property, c.wanted, c.seen); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestSupports(t *testing.T) {
	old, mid, latest := Version{2, 1, 6, "zfs-2.1.6"}, Version{2, 1, 11, "zfs-2.1.11"}, Version{2, 2, 0, "zfs-2.2.0"}
	for _, c := range []struct {
		property, value  string
		old, mid, latest bool
	}{
		{"checksum", "blake3", false, false, true},
		{"checksum", "sha256", true, true, true},
		{"special_small_blocks", "131072", true, true, true},
		{"special_small_blocks", "262144", false, false, true},
		{"redundant_metadata", "some", false, true, true},
		{"redundant_metadata", "most", true, true, true},
	} {
		for v, want := range map[Version]bool{old: c.old, mid: c.mid, latest: c.latest} {
			err := Supports(v, c.property, c.value)
			if want != (err == nil) || err != nil && !strings.Contains(err.Error(), v.Text) {
				t.Errorf("%s=%s on %s: %v", c.property, c.value, v.Text, err)
			}
		}
	}
}

func TestTable(t *testing.T) {
	all := Properties()
	if !slices.IsSortedFunc(all, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	all[0].Name = "changed"
	if Properties()[0].Name == "changed" {
		t.Error("callers can change the table")
	}
	for _, r := range Properties() {
		if !r.Filesystems && !r.Volumes || r.Effect == "" || r.parse == nil {
			t.Errorf("%+v", r)
		}
	}
	if err := applies("recordsize", Volume); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if err := applies("nosuch", Volume); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if err := applies("volsize", Volume); err != nil {
		t.Error(err)
	}
}

// What 2.1.11 printed for a default dataset is canonical already, so that it compares.
func TestSamplesAreCanonical(t *testing.T) {
	all, err := parseDatasets(sample(t, "zfsget"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, d := range all {
		for _, r := range Properties() {
			p, ok := d.Properties[r.Name]
			if !ok {
				continue
			}
			checked++
			if got, err := Canonical(r.Name, p.Value); err != nil || got != p.Value {
				t.Errorf("%s %s=%s: %q, %v", d.Name, r.Name, p.Value, got, err)
			}
			if d.Kind == Volume && !r.Volumes || d.Kind == Filesystem && !r.Filesystems {
				t.Errorf("a %s has %s", d.Kind, r.Name)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d properties", checked)
	}
}

// A canonical form is its own, and is never one that is refused.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"8k", "none", "zstd-fast-100", "gzip-6", "/a/b", "16E", "disabled", "off", "0", "on"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, r := range properties {
			got, err := Canonical(r.Name, value)
			if err != nil {
				continue
			}
			again, err := Canonical(r.Name, got)
			if err != nil || again != got || !Same(r.Name, value, got) || strings.HasPrefix(got, "-") {
				t.Errorf("%s=%q: %q, then %q, %v", r.Name, value, got, again, err)
			}
		}
		for name := range poolProperties {
			if got, err := CanonicalPool(name, value); err == nil && strings.HasPrefix(got, "-") {
				t.Errorf("%s=%q: %q", name, value, got)
			}
		}
		if n, err := ParseSize(value); err == nil {
			if again, err := ParseSize(strconv.FormatUint(n, 10)); err != nil || again != n {
				t.Errorf("%q: %d, then %d, %v", value, n, again, err)
			}
		}
	})
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"tank", "tank/a", "-f", "a/-f", "tank@x", "mirror"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if ValidDatasetName(name) == nil && (name == "" || name[0] == '-' || strings.ContainsAny(name, "@# \t\n\x00%;") ||
			strings.Contains(name, "//") || strings.Contains(name, "/-") || len(name) > maxName) {
			t.Errorf("%q passes", name)
		}
	})
}
