package postgres

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

var base = Inputs{Major: 17, Workload: OLTP, Medium: SSD, Tier: durability.Local, Instances: 3, MemoryBytes: 16 * gB, CPUs: 4, DataBytes: 100 * gB, WALBytes: 20 * gB}

func computedValues(in Inputs) map[string]string {
	out := map[string]string{}
	ps, _ := Compute(in)
	for _, p := range ps {
		out[p.Name] = p.Value
	}
	return out
}

func TestAccepted(t *testing.T) {
	in := base
	in.User = map[string]string{"work_mem": "65536", "synchronous_commit": "remote_apply", "pg_stat_statements.max": "1", "timezone": "UTC", "checkpoint_timeout": "900s", "fsync": "YES", "wal_level": "LOGICAL"}
	in.Profile = map[string]Recommendation{"wal_recycle": {"off", "copy on write"}, "fsync": {"off", "never"}, "work_mem": {"1MB", "loses to the user"}}
	got, refusals := Compute(in)
	if len(refusals) > 0 {
		t.Fatal(refusals)
	}
	v := computedValues(in)
	for n, want := range map[string]string{"work_mem": "64MB", "synchronous_commit": "remote_apply", "checkpoint_timeout": "15min", "fsync": "on", "wal_recycle": "off", "wal_level": "logical", "timezone": "UTC"} {
		if v[n] != want {
			t.Errorf("%s = %q, want %q", n, v[n], want)
		}
	}
	if again, _ := Compute(in); !reflect.DeepEqual(got, again) || !slices.IsSortedFunc(got, func(a, b Parameter) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not deterministic, or not sorted")
	}
}

func TestHolds(t *testing.T) {
	for major := 14; major <= 18; major++ {
		for w := range classes {
			for _, memory := range []int64{0, 512 * mB, gB, 1024 * gB} {
				for _, volume := range []int64{0, 100 * mB, gB, 1024 * gB} {
					in := Inputs{Major: major, Workload: w, Medium: HDD, MemoryBytes: memory, CPUs: 200, DataBytes: 2 * volume, WALBytes: volume}
					ps, refusals := Compute(in)
					n := map[string]float64{}
					for _, p := range ps {
						n[p.Name], _ = BaseValue(major, p.Name, p.Value)
						if r := in.fits(p.Name, p.Value); memory > mB && r != nil || p.Reason == "" {
							t.Errorf("%+v: %+v: %+v", in, p, r)
						}
					}
					if len(refusals) > 0 || n["min_wal_size"] >= n["max_wal_size"] {
						t.Errorf("%+v: %v %v", in, refusals, n)
					}
				}
			}
		}
	}
}

func FuzzNormalise(f *testing.F) {
	for _, v := range []string{"64MB", "1.5GB", "-1", "0x10", "1e3", "5min", "of", ""} {
		f.Add("work_mem", v)
		f.Add("autovacuum_vacuum_cost_delay", v)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		s, ok := catalogue()[18][name]
		if !ok {
			return
		}
		first, err := s.normalise(value)
		if err != nil {
			return
		}
		if second, err := s.normalise(first); err != nil || second != first {
			t.Errorf("%s: %q -> %q -> %q, %v", name, value, first, second, err)
		}
	})
}

func TestFixedIsCloudNativePGs(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cloudnative-pg/cloudnative-pg").Output()
	if err != nil || len(strings.TrimSpace(string(dir))) == 0 {
		t.Skip("the module is not in the module cache")
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg/postgres/configuration.go"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range regexp.MustCompile(`"([a-z_.]+)": +(?:fixed|blocked)ConfigurationParameter`).FindAllSubmatch(source, -1) {
		want = append(want, string(m[1]))
	}
	slices.Sort(want)
	if !slices.Equal(want, fixed()) {
		t.Errorf("fixed.txt has\n%v, CloudNativePG\n%v", fixed(), want)
	}
}
