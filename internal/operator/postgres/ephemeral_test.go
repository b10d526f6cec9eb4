package postgres

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

// ephemeral has one instance, on a volume in memory.
var ephemeral = Inputs{Major: 17, Workload: OLTP, Medium: SSD, Tier: durability.Ephemeral, Instances: 1, MemoryBytes: gB, CPUs: 1, DataBytes: 4 * gB}

// only returns the parameters of these names that are set.
func only(ps []Parameter, names ...string) []Parameter {
	return slices.DeleteFunc(ps, func(p Parameter) bool { return !slices.Contains(names, p.Name) })
}

func TestEphemeralGivesEachSettingAReason(t *testing.T) {
	const tier = "durability Ephemeral: "
	want := []Parameter{
		{"archive_timeout", "0", FromComputed, tier + "nothing is archived, and each WAL file that is closed early takes memory"},
		{"checkpoint_timeout", "30min", FromComputed, tier + "fewer checkpoints; max_wal_size bounds WAL"},
		{"fsync", "off", FromComputed, tier + "the volumes are memory, to which nothing is flushed"},
		{"full_page_writes", "off", FromComputed, tier + "nothing promises that a torn page can be repaired"},
		{"synchronous_commit", "off", FromComputed, tier + "acknowledged before the flush"},
	}
	for major := 14; major <= 18; major++ {
		in := ephemeral
		in.Major = major
		ps, refusals := Compute(in)
		got := only(ps, "archive_timeout", "checkpoint_timeout", "fsync", "full_page_writes", "synchronous_commit")
		if diff := cmp.Diff(want, got); diff != "" || len(refusals) > 0 {
			t.Errorf("PostgreSQL %d: %v\n%s", major, refusals, diff)
		}
	}
}

// Every WAL size that another tier computes is the upper bound of this one.
func TestEphemeralKeepsNoMoreWALThanAnotherTier(t *testing.T) {
	for _, volume := range []int64{gB, 2 * gB, 8 * gB, 64 * gB} {
		for w := range classes {
			in := ephemeral
			in.Workload, in.DataBytes = w, volume
			local := in
			local.Tier = durability.Local
			got, other := in.final(first(Compute(in))), local.final(first(Compute(local)))
			for _, name := range []string{"max_wal_size", "min_wal_size", "wal_keep_size"} {
				if got[name] > other[name] {
					t.Errorf("%s of %s on %d bytes: %d, and %d with Local", name, w, volume, got[name], other[name])
				}
			}
			if sum := got["max_wal_size"] + got["wal_keep_size"]; sum > volume/5 {
				t.Errorf("%s: %d bytes of WAL on a volume of %d", w, sum, volume)
			}
		}
	}
}

func first(ps []Parameter, _ []Refusal) []Parameter { return ps }

func TestUserValuesOfEphemeralWin(t *testing.T) {
	safer := map[string]string{"fsync": "on", "full_page_writes": "on", "synchronous_commit": "remote_write", "checkpoint_timeout": "5min", "archive_timeout": "1min", "min_wal_size": "64MB"}
	same := map[string]string{"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
	for _, user := range []map[string]string{safer, same} {
		in := ephemeral
		in.User = user
		ps, refusals := Compute(in)
		if len(refusals) > 0 {
			t.Error(refusals)
		}
		for _, p := range only(ps, slices.Collect(maps.Keys(user))...) {
			if p != (Parameter{p.Name, user[p.Name], FromUser, "spec.postgres.parameters"}) {
				t.Errorf("%+v, want %s", p, user[p.Name])
			}
		}
	}
}

// What hides damage, or breaks CloudNativePG, stays refused under the tier Ephemeral.
func TestEphemeralAcceptsOnlyWhatItMeans(t *testing.T) {
	for name, h := range hazards {
		in := ephemeral
		in.User = map[string]string{name: h.value}
		_, refusals := Compute(in)
		if accepted := len(refusals) == 0; accepted != (name == "fsync") {
			t.Errorf("%s=%s: %v", name, h.value, refusals)
		}
	}
	for _, other := range []durability.Tier{durability.Quorum, durability.Local, durability.Async} {
		for _, name := range []string{"fsync", "full_page_writes"} {
			in := ephemeral
			in.Tier, in.User = other, map[string]string{name: "off"}
			if _, refusals := Compute(in); len(refusals) != 1 || refusals[0].Reason != RefusedUnsafe {
				t.Errorf("%s with %s=off: %v", other, name, refusals)
			}
		}
	}
}

// pg_rewind, and others that replay the WAL, need page images.
func TestFullPageWritesOfEphemeral(t *testing.T) {
	off := map[string]string{"full_page_writes": "off"}
	for _, tc := range []struct {
		name      string
		instances int
		pages     Proof
		user      map[string]string
		want      string
	}{
		{"two instances", 2, Proof{}, nil, "a former primary of 2 instances returns by pg_rewind, which needs page images"},
		{"two instances, and the user wants off", 2, Proof{}, off, "a former primary of 2 instances returns by pg_rewind, which needs page images"},
		{"another database replays the WAL", 1, Proof{Possible: true, Missing: "a follower streams"}, nil, "a follower streams"},
		{"another database replays the WAL, and the user wants off", 1, Proof{Possible: true, Missing: "a follower streams"}, off, "a follower streams"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := ephemeral
			in.Instances, in.WholePages, in.InPlace, in.User = tc.instances, tc.pages, Proof{Possible: true}, tc.user
			ps, refusals := Compute(in)
			want := []Parameter{{"full_page_writes", "on", FromSafety, "durability Ephemeral allows off, but " + tc.want}}
			if diff := cmp.Diff(want, only(ps, "full_page_writes")); diff != "" || len(refusals) > 0 {
				t.Error(diff, refusals)
			}
		})
	}
}

func TestEphemeralStarts(t *testing.T) {
	r := startReal(t)
	in := ephemeral
	in.Major = r.major
	settings, ok := settingsOf(in, "fsync", "off")
	if !ok {
		t.Fatal("fsync=off is refused")
	}
	if err := r.starts(t, settings); err != nil {
		t.Error(err)
	}
}
