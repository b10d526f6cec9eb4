package postgres

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

// Whatever is computed fits the memory that it is computed from, in every shape that
// admission lets through.
func TestEveryDefaultShapeFits(t *testing.T) {
	for major := 14; major <= 18; major++ {
		for w := range classes {
			for _, memory := range []int64{256 * mB, 300 * mB, 512 * mB, gB, 3 * gB, 16 * gB, 1024 * gB} {
				for _, cpus := range []int{1, 4, 16, 128} {
					for _, pages := range [][]HugePages{nil, {{2 * mB, memory}}, {{1024 * mB, memory + gB}}} {
						in := Inputs{Major: major, Workload: w, Medium: SSD, Tier: durability.Local, Instances: 3, MemoryBytes: memory, HugePages: pages, CPUs: cpus, DataBytes: gB}
						ps, refusals := Compute(in)
						v := in.final(ps)
						b := in.budget(v)
						if len(refusals) > 0 || b.Left() < sorters(v)*leastWork {
							t.Errorf("%d %s %s memory, %d CPUs, %v: %s %v", major, w, amount(memory), cpus, pages, b, refusals)
						}
						if len(pages) > 0 && v.shared() > pages[0].Bytes {
							t.Errorf("%v do not hold %s", pages, amount(v.shared()))
						}
					}
				}
			}
		}
	}
}

// What memory cannot hold, with nothing given that could be less, is refused as well.
func TestTooLittleMemory(t *testing.T) {
	in := base
	in.MemoryBytes, in.Instances = 128*mB, 16
	_, refusals := Compute(in)
	if len(refusals) != 1 || refusals[0].Reason != RefusedMemory || !strings.HasPrefix(refusals[0].Message, "spec.resources.requests.memory does not hold a server with 20 connections: ") {
		t.Errorf("%+v", refusals)
	}
}

func TestHugePages(t *testing.T) {
	find := func(in Inputs, name string) Parameter {
		ps, refusals := Compute(in)
		for _, p := range ps {
			if p.Name == name && len(refusals) == 0 {
				return p
			}
		}
		t.Fatalf("no %s: %v", name, refusals)
		return Parameter{}
	}
	in := base
	if p := find(in, "huge_pages"); p.Value != "off" || p.Source != FromComputed {
		t.Errorf("none requested: %+v", p)
	}
	in.HugePages = []HugePages{{2 * mB, 4 * gB}}
	for name, want := range map[string]string{"huge_pages": "on", "huge_page_size": "2MB", "shared_buffers": "3927MB", "max_connections": "300"} {
		if p := find(in, name); p.Value != want {
			t.Errorf("%s: %+v, want %s", name, p, want)
		}
	}
	if p := find(in, "max_connections"); strings.Contains(p.Reason, "shared memory") || !strings.Contains(p.Reason, "x 2.0MB") {
		t.Errorf("huge pages are not part of memory, and have no page tables: %s", p.Reason)
	}
	in.User = map[string]string{"huge_pages": "off"}
	if p := find(in, "shared_buffers"); p.Value != "4GB" {
		t.Errorf("off: %+v", p)
	}
	in.User, in.HugePages = nil, []HugePages{{2 * mB, 8 * mB}}
	if _, refusals := Compute(in); len(refusals) != 1 || refusals[0].Parameter != "huge_pages" || !strings.HasPrefix(refusals[0].Message, "spec.resources.limits: 8MB of huge pages do not hold the ") {
		t.Errorf("%+v", refusals)
	}
}

func TestLargeSegments(t *testing.T) {
	in := base
	in.WALSegmentBytes = gB
	if ps, refusals := Compute(in); len(refusals) > 0 || in.final(ps)["min_wal_size"] < 2*gB {
		t.Errorf("%v %v", in.final(ps)["min_wal_size"], refusals)
	}
	in.WALBytes = 4 * gB
	if _, refusals := Compute(in); len(refusals) != 1 || refusals[0].Message != "spec.cnpg.spec.bootstrap.initdb.walSegmentSize: the 4GB WAL volume does not hold eight segments of 1GB; use smaller segments, or raise spec.storage" {
		t.Errorf("%+v", refusals)
	}
}

// The volume holds wal_keep_size beside max_wal_size.
func TestWALFitsTheVolume(t *testing.T) {
	for _, wal := range []int64{0, gB, 2 * gB, 5 * gB, 100 * gB} {
		for _, data := range []int64{gB, 3 * gB, 50 * gB} {
			in := base
			in.DataBytes, in.WALBytes = data, wal
			ps, _ := Compute(in)
			v := in.final(ps)
			if bytes, _, _, text := in.volume(); v["max_wal_size"]+v["wal_keep_size"] > bytes*3/4 {
				t.Errorf("%s: %s and %s", text, amount(v["max_wal_size"]), amount(v["wal_keep_size"]))
			}
		}
	}
}
