package spec

import (
	"strings"
	"testing"
)

const gib = 1 << 30

func TestFloor(t *testing.T) {
	for capacity, want := range map[int64]int64{gib: 128 << 20, 2 * gib: 2 * gib / 10, 1000 * gib: 100 * gib} {
		if got := Floor(capacity); got != want {
			t.Errorf("%d: %d, want %d", capacity, got, want)
		}
	}
}

func TestVolumesThatLackSpace(t *testing.T) {
	idle := Used{Data: 32e6, WAL: 16 << 20, WALLimit: WALLimit(1<<30, 512<<20)}
	full := Used{Data: 80e9, WAL: 16 << 20, WALLimit: WALLimit(1<<30, 512<<20)}
	for name, tc := range map[string]struct {
		space Space
		scale int32
		used  Used
		want  string
	}{
		"by size alone":                      {Space{DataBytes: 100 * gib}, 3000, Used{}, ""},
		"never fits":                         {Space{DataBytes: 100 * gib}, 100000, Used{}, "spec.pgbench.scale: 100000 may take 3200000 MB of the data volume of 107375 MB, of which 0 MB are used and 10738 MB must stay free; lower it to at most 3019, or raise spec.storage.size of the cluster"},
		"beside what is there":               {Space{DataBytes: 100 * gib}, 500, idle, ""},
		"not beside what is there":           {Space{DataBytes: 100 * gib}, 500, full, "of which 80017 MB are used"},
		"WAL counts on the data volume":      {Space{DataBytes: 2 * gib}, 45, idle, "lower it to at most 41,"},
		"and not beside it":                  {Space{DataBytes: 2 * gib, WALBytes: 4 * gib}, 45, idle, ""},
		"WAL volume too small":               {Space{DataBytes: 100 * gib, WALBytes: gib}, 500, idle, "of the WAL volume of 1074 MB, of which 17 MB are used and 135 MB must stay free; raise spec.storage.walSize of the cluster, or lower its max_wal_size"},
		"what loading writes":                {Space{DataBytes: 100 * gib, WALBytes: gib}, 50, idle, ""},
		"WAL is recycled":                    {Space{DataBytes: 100 * gib, WALBytes: 4 * gib}, 2000, idle, ""},
		"WAL that nothing recycles any more": {Space{DataBytes: 100 * gib, WALBytes: 4 * gib}, 1, Used{WAL: 4e9, WALLimit: 1e9}, "of the WAL volume"},
		"smallest cluster":                   {Space{DataBytes: gib}, 10, Used{Data: 32e6, WAL: 64 << 20, WALLimit: WALLimit(100<<20, 512<<20)}, ""},
		"no overflow":                        {Space{DataBytes: 1 << 62}, 100000, idle, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.space.Lacks(tc.scale, tc.used)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q", got)
			}
		})
	}
	if got := (Space{DataBytes: gib}).Refuse(100); !strings.HasPrefix(got, "spec.pgbench.scale: 100 ") {
		t.Error(got)
	}
}

func TestLow(t *testing.T) {
	for name, tc := range map[string]struct {
		space Space
		used  Used
		want  string
		near  bool
	}{
		"room":                    {Space{DataBytes: 10 * gib}, Used{Data: gib, WAL: gib}, "", false},
		"near":                    {Space{DataBytes: 10 * gib}, Used{Data: 6 * gib, WAL: gib}, "", true},
		"data and WAL together":   {Space{DataBytes: 10 * gib}, Used{Data: 8 * gib, WAL: gib + 1}, "the database takes 9664 MB of the data volume of 10738 MB, and 1074 MB must stay free", true},
		"at the floor":            {Space{DataBytes: 10 * gib}, Used{Data: 8 * gib, WAL: gib}, "", true},
		"WAL apart":               {Space{DataBytes: 10 * gib, WALBytes: gib}, Used{Data: gib, WAL: gib}, "of the WAL volume", true},
		"WAL apart, and room":     {Space{DataBytes: 10 * gib, WALBytes: 10 * gib}, Used{Data: gib, WAL: gib}, "", false},
		"data beside WAL":         {Space{DataBytes: 10 * gib, WALBytes: 100 * gib}, Used{Data: 10 * gib}, "of the data volume", true},
		"WAL that cannot be seen": {Space{DataBytes: 10 * gib, WALBytes: gib}, Used{Data: gib, WAL: 2 * gib, WALHidden: true}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.space.Low(tc.used)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q", got)
			}
			if near := tc.space.Near(tc.used); near != tc.near {
				t.Errorf("near: %t", near)
			}
		})
	}
}
