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
		{durability.Local, "work_mem", "4MB", false, false},
		{durability.Quorum, "synchronous_standby_names", "", false, false}, // judged by StandbyNames
	} {
		w := Weak(tc.tier, tc.name, tc.value)
		if (w != nil) != tc.weak || w != nil && (w.TakesCommits != tc.takes || !strings.HasPrefix(w.Text, tc.name+" is "+tc.value+": ")) {
			t.Errorf("%s %s=%s: %+v", tc.tier, tc.name, tc.value, w)
		}
	}
}

func TestStandbyNames(t *testing.T) {
	instances := []string{"shop-1", "shop-2"}
	for value, good := range map[string]bool{
		`ANY 1 ("shop-1","shop-2")`: true, `any 2 (shop-1, shop-2)`: true,
		"": false, "*": false, "ANY 1 (*)": false, `FIRST 1 ("shop-1")`: false, `ANY 0 ("shop-1")`: false, "ANY 1 ()": false, `ANY x ("shop-1")`: false,
		`ANY 1 ("shop-1","stranger")`: false, "shop-1": false,
	} {
		if text := StandbyNames(value, instances); (text == "") != good {
			t.Errorf("%s: %q", value, text)
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
