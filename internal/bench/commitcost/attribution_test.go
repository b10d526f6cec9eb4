package commitcost

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/record"
)

func read(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// parsed feeds lines until the result is complete, and returns how many that took.
func parsed(method, text string) (time.Duration, int, error) {
	f := TestFsync{Method: method}
	lines := 0
	for line := range strings.Lines(text) {
		lines++
		if f.Line(line) {
			break
		}
	}
	took, err := f.Result()
	return took, lines, err
}

func TestTestFsync(t *testing.T) {
	ext4, tmpfs := read(t, "pg_test_fsync-15-ext4.txt"), read(t, "pg_test_fsync-15-tmpfs.txt")
	for _, tc := range []struct {
		name, text, method string
		want               time.Duration
		lines              int
		wrong              string
	}{
		{"fdatasync", ext4, "fdatasync", 18242516, 7, ""},
		{"the first", ext4, "open_datasync", 4072755, 6, ""},
		{"the last", ext4, "open_sync", 8320021, 10, ""},
		{"a faster one", tmpfs, "fdatasync", 76753, 7, ""},
		{"not on Linux", ext4, "fsync_writethrough", 0, 9, "pg_test_fsync cannot test fsync_writethrough here: n/a"},
		{"no such method", ext4, "pigeon", 0, 12, "no time for pigeon"},
		{"cut off", ext4[:strings.Index(ext4, "fdatasync   ")], "fdatasync", 0, 7, "no time for"},
		{"nothing", "", "fdatasync", 0, 0, "no time for"},
		{"zero", oneWrite + "\n fdatasync  0.000 ops/sec  inf usecs/op\n", "fdatasync", 0, 2, "is not a rate"},
		{"other words", oneWrite + "\n fdatasync  fast\n", "fdatasync", 0, 2, "is not a rate"},
		{"of another section", nextTests + "\n fdatasync  5.000 ops/sec\n", "fdatasync", 0, 1, "no time for"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			took, lines, err := parsed(tc.method, tc.text)
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Errorf("want %q, got %v", tc.wrong, err)
				}
			} else if err != nil {
				t.Error(err)
			}
			if took != tc.want || lines != tc.lines {
				t.Errorf("%d after %d lines", took, lines)
			}
		})
	}
}

func FuzzTestFsync(f *testing.F) {
	f.Add("fdatasync", read(f, "pg_test_fsync-15-ext4.txt"))
	f.Add("fsync_writethrough", read(f, "pg_test_fsync-15-tmpfs.txt"))
	f.Fuzz(func(t *testing.T, method, text string) {
		took, _, err := parsed(method, text)
		if (err == nil) != (took > 0) {
			t.Errorf("%v and %v", took, err)
		}
	})
}

func TestParseFio(t *testing.T) {
	took, err := ParseFio([]byte(read(t, "fio-3.33.json")))
	// 713018.875283 ns of the write and 1549791.85034 ns of its flush.
	if err != nil || took != 2262810 {
		t.Errorf("%d %v", took, err)
	}
	for text, want := range map[string]string{
		``:                          "result of fio",
		`{}`:                        "0 jobs",
		`{"jobs": [1]}`:             "result of fio",
		`{"jobs": [{"error": 28}]}`: "error 28",
		`{"jobs": [{}]}`:            "nothing was written",
		`{"jobs": [{"write": {"lat_ns": {"N": 1, "mean": 5}}}]}`:                                              "no flush was timed",
		`{"jobs": [{"write": {"lat_ns": {"N": 1, "mean": 1e300}}, "sync": {"lat_ns": {"N": 1, "mean": 1}}}]}`: "a write of 1e+300 ns",
		`{"jobs": [{"write": {"lat_ns": {"N": 1, "mean": 9}}, "sync": {"lat_ns": {"N": 1, "mean": -1}}}]}`:    "a flush of -1 ns",
	} {
		if took, err := ParseFio([]byte(text)); err == nil || took != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v, %v", text, want, took, err)
		}
	}
}

func FuzzParseFio(f *testing.F) {
	f.Add([]byte(read(f, "fio-3.33.json")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		took, err := ParseFio(raw)
		if (err == nil) != (took > 0) {
			t.Errorf("%v and %v", took, err)
		}
	})
}

func TestFioArgs(t *testing.T) {
	args := FioArgs("/scratch", "/work/fio.json", true, 5*time.Second)
	for _, want := range []string{"--filename=/scratch/fio", "--direct=1", "--runtime=5", "--fdatasync=1", "--bs=8k", "--rw=write", "--output=/work/fio.json"} {
		if !slices.Contains(args, want) {
			t.Errorf("%s is not in %q", want, args)
		}
	}
	if !slices.Contains(FioArgs("/scratch", "x", false, time.Second), "--direct=0") {
		t.Error("direct")
	}
}

func layer(name, over string, ms ...float64) Measurement {
	return Measurement{Layer: record.Layer{Name: name, Over: over, Milliseconds: ms}}
}

func TestAttributionNamesThePartOfEachLayer(t *testing.T) {
	volume := layer(v1alpha1.LayerVolume, "", 2.8, 2.9, 3.0)
	flush := layer(v1alpha1.LayerWALFlush, v1alpha1.LayerVolume, 3.3, 3.3, 3.4)
	unlogged := layer(v1alpha1.LayerUnlogged, "", 0.8, 0.8, 0.9)
	logged := layer(v1alpha1.LayerLogged, v1alpha1.LayerWALFlush, 4.1, 4.1, 4.2)
	async := layer(v1alpha1.LayerLogged, "", 1.1, 1.1, 1.2)
	none := layer(v1alpha1.LayerVolume, "")
	for _, tc := range []struct {
		name    string
		layers  []Measurement
		clients int
		want    string
	}{
		{"all", []Measurement{volume, flush, unlogged, logged}, 1, "a transaction of 1 client takes 4.13 ms; without WAL, on unlogged tables, 0.833 ms; " +
			"the flush of the WAL takes 3.33 ms of that (81%); a write and a flush on a volume alone takes 2.9 ms of that (87%)"},
		{"no fio", []Measurement{none, flush, unlogged, logged}, 8, "a transaction of one of 8 clients takes 4.13 ms; without WAL, on unlogged tables, 0.833 ms; " +
			"the flush of the WAL takes 3.33 ms of that (81%)"},
		{"Async", []Measurement{volume, flush, unlogged, async}, 1, "a transaction of 1 client takes 1.13 ms; without WAL, on unlogged tables, 0.833 ms; " +
			"it does not wait for the flush of the WAL, which takes 3.33 ms; a write and a flush on a volume alone takes 2.9 ms of that (87%)"},
		{"a script that does not write", []Measurement{volume, flush}, 1, "the flush of the WAL takes 3.33 ms; a write and a flush on a volume alone takes 2.9 ms of that (87%)"},
		{"no volume", []Measurement{unlogged, async}, 1, "a transaction of 1 client takes 1.13 ms; without WAL, on unlogged tables, 0.833 ms"},
		{"intervals that meet", []Measurement{layer(v1alpha1.LayerVolume, "", 2, 3, 4), layer(v1alpha1.LayerWALFlush, v1alpha1.LayerVolume, 2, 3, 5), layer(v1alpha1.LayerUnlogged, "", 3, 4, 5), layer(v1alpha1.LayerLogged, v1alpha1.LayerWALFlush, 3, 4, 6)}, 1,
			"a transaction of 1 client takes 4.33 ms; on unlogged tables it takes 4 ms, and no difference can be claimed; " +
				"the flush of the WAL takes 3.33 ms, and no cost above it can be claimed, because their intervals overlap; " +
				"a write and a flush on a volume alone takes 3 ms, and no cost above it can be claimed, because their intervals overlap"},
		{"one repeat", []Measurement{layer(v1alpha1.LayerVolume, "", 1), layer(v1alpha1.LayerWALFlush, v1alpha1.LayerVolume, 9)}, 1,
			"the flush of the WAL takes 9 ms; a write and a flush on a volume alone takes 1 ms, and one repeat cannot separate the two"},
		{"a volume alone", []Measurement{volume}, 1, ""},
		{"nothing", nil, 1, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Attribution(tc.layers, tc.clients)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStatusAndRecord(t *testing.T) {
	bytes, flushes := 612.4, 1.013
	flush := layer(v1alpha1.LayerWALFlush, v1alpha1.LayerVolume, 3, 1, 2)
	flush.Method, flush.Bytes, flush.Flushes = "pg_test_fsync", &bytes, &flushes
	all := []Measurement{{Layer: record.Layer{Name: v1alpha1.LayerVolume}, Note: strings.Repeat("no ", 200)}, flush}
	status := Status(all)
	if got := status[0]; got.Milliseconds != "" || len(got.Note) > maxNote || !strings.HasPrefix(got.Note, "no no") {
		t.Errorf("%+v", got)
	}
	want := v1alpha1.BenchmarkLayer{
		Name: "WALFlush", Method: "pg_test_fsync", Milliseconds: "2.000", MillisecondsOfRepeats: []string{"3.000", "1.000", "2.000"},
		BytesPerTransaction: "612", FlushesPerTransaction: "1.01",
	}
	if diff := cmp.Diff(want, status[1]); diff != "" {
		t.Error(diff)
	}
	// The report rejects a layer above one that is not in the list.
	kept := Record(all)
	if len(kept) != 1 || kept[0].Name != "WALFlush" || kept[0].Over != "" || kept[0].Bytes != &bytes {
		t.Errorf("%+v", kept)
	}
	// A layer with counts only is kept, and no layer is above it.
	counted := layer(v1alpha1.LayerVolume, "")
	counted.Bytes, counted.Requests = &bytes, &flushes
	kept = Record([]Measurement{counted, flush})
	if len(kept) != 2 || kept[0].Requests != &flushes || kept[1].Over != "" || Status([]Measurement{counted})[0].RequestsPerTransaction != "1.01" {
		t.Errorf("%+v", kept)
	}
}
