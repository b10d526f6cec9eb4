package postgres

import (
	"slices"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

func TestWeak(t *testing.T) {
	for _, tc := range []struct {
		tier        durability.Tier
		name, value string
		weak, takes bool
	}{
		{durability.Local, "fsync", "on", false, false},
		{durability.Async, "fsync", "off", true, true},
		{durability.Quorum, "synchronous_commit", "remote_apply", false, false},
		{durability.Quorum, "synchronous_commit", "remote_write", true, true},
		{durability.Async, "synchronous_commit", "off", false, false},
		{durability.Local, "data_checksums", "off", true, false},
		{durability.Ephemeral, "fsync", "off", false, false},
		{durability.Ephemeral, "full_page_writes", "off", false, false},
		{durability.Ephemeral, "synchronous_commit", "off", false, false},
		{durability.Ephemeral, "data_checksums", "off", true, false},
		{durability.Ephemeral, "zero_damaged_pages", "on", true, true},
		{durability.Ephemeral, "wal_level", "minimal", true, true},
		{durability.Local, "work_mem", "4MB", false, false},
		{durability.Quorum, "synchronous_standby_names", "", false, false}, // judged by StandbyNames
	} {
		w := Weak(tc.tier, tc.name, tc.value)
		if (w != nil) != tc.weak || w != nil && (w.TakesCommits != tc.takes || !strings.HasPrefix(w.Text, tc.name+" is "+tc.value+": ")) {
			t.Errorf("%s %s=%s: %+v", tc.tier, tc.name, tc.value, w)
		}
	}
}

func TestWeakText(t *testing.T) {
	for _, tc := range []struct {
		major       int
		name, value string
		text        string // "" is safe
	}{
		{17, "synchronous_commit", "true", ""},
		{17, "synchronous_commit", "YES", ""},
		{17, "synchronous_commit", "1", ""},
		{17, "synchronous_commit", "False", "synchronous_commit is off: "},
		{17, "synchronous_commit", "Local", "synchronous_commit is local: "},
		{17, "synchronous_commit", "soon", "synchronous_commit is soon: "},
		{17, "fsync", "t", ""},
		{17, "fsync", "0", "fsync is off: "},
		{17, "work_mem", "much", ""},
		{17, "nonsense", "off", ""},
		{0, "synchronous_commit", "off", "synchronous_commit is off: "}, // of a version that is not known
		{0, "synchronous_commit", "on", ""},
	} {
		w := WeakText(durability.Local, tc.major, tc.name, tc.value)
		if (w != nil) != (tc.text != "") || w != nil && !strings.HasPrefix(w.Text, tc.text) {
			t.Errorf("%d %s=%s: %+v, want %q", tc.major, tc.name, tc.value, w, tc.text)
		}
	}
}

func TestStandbyNames(t *testing.T) {
	instances := []string{"shop-1", "shop-2", "shop-3"}
	for _, tc := range []struct {
		value string
		want  Quorum
		says  string // "" is good
	}{
		{`ANY 1 ("shop-1","shop-2")`, Quorum{"ANY", 1}, ""},
		{`any 2 (shop-1, shop-2)`, Quorum{"ANY", 1}, ""},
		{`FIRST 2 ("shop-2","shop-3","shop-1")`, Quorum{"FIRST", 2}, ""},
		{"", Quorum{"ANY", 1}, "not ANY with a number"},
		{"*", Quorum{"ANY", 1}, "not ANY with a number"},
		{"ANY 1 (*)", Quorum{"ANY", 1}, "* is not an instance"},
		{`FIRST 1 ("shop-1")`, Quorum{"ANY", 1}, "not ANY with a number"},
		{`ANY 1 ("shop-1")`, Quorum{"FIRST", 1}, "not FIRST with a number"},
		{`ANY 0 ("shop-1")`, Quorum{"ANY", 1}, "not ANY with a number"},
		{"ANY 1 ()", Quorum{"ANY", 1}, "is not an instance"},
		{`ANY x ("shop-1")`, Quorum{"ANY", 1}, "not ANY with a number"},
		{`ANY 99999999999999999999 ("shop-1")`, Quorum{"ANY", 1}, "commits wait for"},
		{`ANY 1 ("shop-1","shop-2","shop-3")`, Quorum{"ANY", 2}, "commits wait for 1 standbys and not for 2"},
		{`ANY 1 ("shop-1","stranger")`, Quorum{"ANY", 1}, "stranger is not an instance"},
		{"shop-1", Quorum{"ANY", 1}, "not ANY with a number"},
	} {
		if text := StandbyNames(tc.value, instances, tc.want); (text == "") != (tc.says == "") || !strings.Contains(text, tc.says) {
			t.Errorf("%s for %v: %q, want %q", tc.value, tc.want, text, tc.says)
		}
	}
}

// Every Cluster states the settings that it must never be without, so that no other
// writer's value stays.
func TestGuardsAreAlwaysSet(t *testing.T) {
	for _, major := range []int{14, 15, 16, 17, 18} {
		parameters, refusals := Compute(Inputs{Major: major, Workload: OLTP, Medium: SSD, Tier: durability.Async, Instances: 1, CPUs: 1, DataBytes: 10 * gB})
		if len(refusals) > 0 {
			t.Fatal(refusals)
		}
		for name, value := range map[string]string{"fsync": "on", "full_page_writes": "on", "zero_damaged_pages": "off", "ignore_invalid_pages": "off", "ignore_checksum_failure": "off", "ignore_system_indexes": "off"} {
			if !slices.ContainsFunc(parameters, func(p Parameter) bool { return p.Name == name && p.Value == value && p.Source == FromSafety }) {
				t.Errorf("PostgreSQL %d: %s=%s is not set", major, name, value)
			}
		}
		for _, name := range FoundationNames() {
			if _, known := catalogue()[major][name]; !known {
				t.Errorf("PostgreSQL %d has no %s", major, name)
			}
		}
	}
}
