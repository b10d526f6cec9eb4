package postgres

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

// TestGivenOnly shows that Compute sets only what the user sets. The exceptions are safe
// values over unsafe ones of the existing Cluster, and what the tiers Async and Ephemeral
// mean.
func TestGivenOnly(t *testing.T) {
	for _, tc := range []struct {
		name       string
		tier       durability.Tier
		user, held map[string]string
		want       map[string]string
		refused    string
	}{
		{"nothing", durability.Local, nil, nil, map[string]string{}, ""},
		{
			"in the user's spelling", durability.Quorum, map[string]string{"work_mem": "1024kB", "jit": "FALSE", "max_connections": "0100", "fsync": "true"}, nil,
			map[string]string{"work_mem": "1024kB", "jit": "FALSE", "max_connections": "0100", "fsync": "true"}, "",
		},
		{"more than the memory holds", durability.Local, map[string]string{"shared_buffers": "64GB"}, nil, map[string]string{"shared_buffers": "64GB"}, ""},
		{
			"Ephemeral", durability.Ephemeral, nil, map[string]string{"checkpoint_timeout": "5min"},
			map[string]string{"fsync": "off", "synchronous_commit": "off"}, "",
		},
		{
			"Ephemeral with safer values", durability.Ephemeral, map[string]string{"fsync": "on", "synchronous_commit": "local"}, nil,
			map[string]string{"fsync": "on", "synchronous_commit": "local"}, "",
		},
		{"Async", durability.Async, nil, nil, map[string]string{"synchronous_commit": "off"}, ""},
		{"Async with another value", durability.Async, map[string]string{"synchronous_commit": "remote_write"}, nil, map[string]string{"synchronous_commit": "remote_write"}, ""},
		{
			"unsafe values of the Cluster", durability.Local, nil,
			map[string]string{"fsync": "off", "synchronous_commit": "off", "zero_damaged_pages": "on", "work_mem": "4MB"},
			map[string]string{"fsync": "on", "synchronous_commit": "on", "zero_damaged_pages": "off"}, "",
		},
		{"an unsafe value", durability.Local, map[string]string{"fsync": "0"}, map[string]string{"fsync": "off"}, map[string]string{"fsync": "on"}, "spec.postgres.parameters[fsync]: off is unsafe"},
		{"a value below the tier", durability.Local, map[string]string{"synchronous_commit": "local"}, nil, map[string]string{}, "spec.postgres.parameters[synchronous_commit]: local is below durability Local"},
		{"torn pages", durability.Local, map[string]string{"full_page_writes": "off"}, nil, map[string]string{}, "spec.postgres.parameters[full_page_writes]: off is unsafe"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := Inputs{
				Major: 17, Workload: OLTP, Medium: SSD, Tier: tc.tier, Instances: 3, MemoryBytes: gB, CPUs: 2, DataBytes: 100 * gB,
				User: tc.user, GivenOnly: true, Held: tc.held, Profile: map[string]Recommendation{"wal_init_zero": {"off", "the storage"}},
			}
			parameters, refusals := Compute(in)
			got := map[string]string{}
			for _, p := range parameters {
				got[p.Name] = p.Value
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			var texts []string
			for _, r := range refusals {
				texts = append(texts, r.Message)
			}
			if said := strings.Join(texts, "; "); (said == "") != (tc.refused == "") || !strings.Contains(said, tc.refused) {
				t.Errorf("refused %q, want %q", said, tc.refused)
			}
		})
	}
}
