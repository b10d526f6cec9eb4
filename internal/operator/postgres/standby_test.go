package postgres

import (
	"strings"
	"testing"
)

func TestStandbyHasAtLeastWhatItsPrimaryHas(t *testing.T) {
	small := Inputs{Major: 17, Workload: Mixed, Medium: SSD, Tier: "Local", Instances: 1, MemoryBytes: 2 * gB, CPUs: 2}
	for _, tc := range []struct {
		name    string
		primary map[string]string
		user    map[string]string
		// want of parameters; empty is one that is not set.
		want    map[string]string
		refused string
	}{
		{"its own is higher", map[string]string{"max_connections": "50"}, nil, map[string]string{"max_connections": "100", "max_wal_senders": "10", "max_worker_processes": "32", "max_prepared_transactions": "0"}, ""},
		{"the primary has less than the default", map[string]string{"max_wal_senders": "5"}, nil, map[string]string{"max_wal_senders": "10"}, ""},
		{"raised", map[string]string{"max_connections": "300", "max_prepared_transactions": "20", "max_wal_senders": "40"}, nil, map[string]string{"max_connections": "300", "max_prepared_transactions": "20", "max_wal_senders": "40"}, ""},
		{"the user has more", map[string]string{"max_connections": "150"}, map[string]string{"max_connections": "200"}, map[string]string{"max_connections": "200"}, ""},
		{"the user has less", map[string]string{"max_connections": "150"}, map[string]string{"max_connections": "120"}, map[string]string{"max_connections": "150"}, "set at least 150"},
		{"defaults count", nil, map[string]string{"max_locks_per_transaction": "32"}, map[string]string{"max_locks_per_transaction": "64"}, "set at least 64"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := small
			in.AtLeast, in.User = StandbyMinimum(17, tc.primary), tc.user
			parameters, refusals := Compute(in)
			got := map[string]string{}
			for _, p := range parameters {
				got[p.Name] = p.Value
			}
			for name, want := range tc.want {
				if got[name] != want {
					t.Errorf("%s is %q, want %q", name, got[name], want)
				}
			}
			var texts []string
			for _, r := range refusals {
				texts = append(texts, r.Message)
			}
			if all := strings.Join(texts, "; "); (all == "") != (tc.refused == "") || !strings.Contains(all, tc.refused) {
				t.Errorf("refused: %q, want %q", all, tc.refused)
			}
		})
	}
}

// What is raised takes memory, which the computation has to leave.
func TestRaisedConnectionsLeaveLessForEach(t *testing.T) {
	in := Inputs{Major: 17, Workload: Mixed, Medium: SSD, Tier: "Local", Instances: 1, MemoryBytes: 4 * gB, CPUs: 2}
	value := func(name string) string {
		parameters, _ := Compute(in)
		for _, p := range parameters {
			if p.Name == name {
				return p.Value
			}
		}
		return ""
	}
	own := value("work_mem")
	in.AtLeast = StandbyMinimum(17, map[string]string{"max_connections": "400"})
	if raised := value("work_mem"); raised == own {
		t.Errorf("work_mem is %s with 100 connections and with 400", own)
	}
}
