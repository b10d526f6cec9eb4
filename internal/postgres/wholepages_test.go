package postgres

import "testing"

func TestFullPageWritesRestOnProof(t *testing.T) {
	const unproved = "off is asked for, and is set once the storage is proved never to tear a page: pvc-1 was not read back"
	for _, tc := range []struct {
		name          string
		proof         Proof
		instances     int
		value, reason string
		source        Source
		refused       string
	}{
		{name: "proved", proof: Proof{Possible: true, Because: "1 of 1"}, instances: 1, value: "off", source: FromUser, reason: "spec.postgres.parameters; proved: 1 of 1"},
		{name: "not proved yet", proof: Proof{Possible: true, Missing: "pvc-1 was not read back"}, instances: 1, value: "on", source: FromSafety, reason: unproved},
		{name: "cannot be proved", instances: 1, refused: RefusedUnsafe},
		{name: "a former primary could not rejoin", proof: Proof{Possible: true, Because: "3 of 3"}, instances: 3, refused: RefusedUnsafe},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := Inputs{Major: 17, Workload: OLTP, Medium: SSD, Tier: Local, Instances: tc.instances, MemoryBytes: 4 << 30, CPUs: 2, User: map[string]string{"full_page_writes": "no"}, WholePages: tc.proof}
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
