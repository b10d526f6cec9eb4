package postgres

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

func TestFullPageWritesRestOnProof(t *testing.T) {
	const unproved = "off is requested, and is set once the storage is proved never to tear a page: pvc-1 was not read back"
	const apart = "off is requested, and is set once every instance is in its place, as a former primary returns by pg_rewind, which needs it on: 1 of 2 instances are ready"
	for _, tc := range []struct {
		name          string
		proof         Proof
		inPlace       Proof
		instances     int
		value, reason string
		source        Source
		refused       string
	}{
		{name: "proved", proof: Proof{Possible: true, Because: "1 of 1"}, instances: 1, value: "off", source: FromUser, reason: "spec.postgres.parameters; proved: 1 of 1"},
		{name: "not proved yet", proof: Proof{Possible: true, Missing: "pvc-1 was not read back"}, instances: 1, value: "on", source: FromSafety, reason: unproved},
		{name: "cannot be proved", instances: 1, refused: RefusedUnsafe},
		{name: "cannot be proved of several", instances: 2, inPlace: Proof{Possible: true}, refused: RefusedUnsafe},
		{
			name: "proved of several, all in their place", proof: Proof{Possible: true, Because: "2 of 2"}, instances: 2, inPlace: Proof{Possible: true, Because: "2 ready"},
			value: "off", source: FromUser, reason: "spec.postgres.parameters; proved: 2 of 2; 2 ready",
		},
		{name: "one is not ready", proof: Proof{Possible: true}, instances: 2, inPlace: Proof{Possible: true, Missing: "1 of 2 instances are ready"}, value: "on", source: FromSafety, reason: apart},
		{name: "the volume first", proof: Proof{Possible: true, Missing: "pvc-1 was not read back"}, instances: 2, inPlace: Proof{Possible: true, Missing: "1 of 2"}, value: "on", source: FromSafety, reason: unproved},
		{name: "nothing known of several", proof: Proof{Possible: true}, instances: 2, value: "on", source: FromSafety, reason: strings.TrimSuffix(apart, "1 of 2 instances are ready")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := Inputs{Major: 17, Workload: OLTP, Medium: SSD, Tier: durability.Local, Instances: tc.instances, MemoryBytes: 4 << 30, CPUs: 2, User: map[string]string{"full_page_writes": "no"}, WholePages: tc.proof, InPlace: tc.inPlace}
			parameters, refusals := Compute(in)
			if tc.refused != "" {
				if len(refusals) != 1 || refusals[0].Reason != tc.refused {
					t.Errorf("refusals %+v", refusals)
				}
				return
			}
			want := Parameter{"full_page_writes", tc.value, tc.source, tc.reason}
			for _, p := range parameters {
				if p.Name == want.Name && p != want {
					t.Errorf("%+v, want %+v", p, want)
				}
				if p.Name == want.Name {
					return
				}
			}
			t.Errorf("no full_page_writes among %+v", parameters)
		})
	}
}

func TestStandbysCannotBackUp(t *testing.T) {
	proved := Proof{Possible: true}
	for _, tc := range []struct {
		name      string
		value     string
		proof     Proof
		instances int
		want      bool
	}{
		{"off", "off", proved, 2, true},
		{"off in other words", "0", proved, 2, true},
		{"off, and not proved yet", "off", Proof{Possible: true, Missing: "pvc-1 was not read back"}, 2, true},
		{"off, and refused", "off", Proof{}, 2, false},
		{"without standbys", "off", proved, 1, false},
		{"on", "on", proved, 2, false},
		{"no word of Postgres", "perhaps", proved, 2, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := Inputs{Major: 17, Instances: tc.instances, User: map[string]string{"full_page_writes": tc.value}, WholePages: tc.proof}
			if got := in.StandbysCannotBackUp(); got != tc.want {
				t.Errorf("got %t", got)
			}
		})
	}
	if (Inputs{Major: 17, Instances: 2, WholePages: proved}).StandbysCannotBackUp() {
		t.Error("nothing was asked for")
	}
}
