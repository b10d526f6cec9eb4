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
)

var base = Inputs{Major: 17, Workload: OLTP, Medium: SSD, Tier: Local, Instances: 3, MemoryBytes: 16 * gB, CPUs: 4, DataBytes: 100 * gB, WALBytes: 20 * gB}

func values(in Inputs) map[string]string {
	out := map[string]string{}
	ps, _ := Compute(in)
	for _, p := range ps {
		out[p.Name] = p.Value
	}
	return out
}

func TestComputed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Inputs)
		want   map[string]string
	}{
		"OLTP 16GB 4 CPUs": {func(*Inputs) {}, map[string]string{
			"max_connections": "300", "shared_buffers": "4GB", // 16/4
			"effective_cache_size": "12GB", "maintenance_work_mem": "1GB", // 16*3/4, 16/16
			"wal_buffers":  "16MB",    // 3% of 4GB = 122MB
			"work_mem":     "13797kB", // (16777216-4194304)/((300+4)*3) = 12582912/912 = 13797.05
			"min_wal_size": "2GB", "max_wal_size": "8GB", "random_page_cost": "1.1", "effective_io_concurrency": "200",
			"max_parallel_workers": "4", "max_parallel_workers_per_gather": "2", "max_parallel_maintenance_workers": "2",
			"jit": "off", "synchronous_commit": "on", "default_statistics_target": "100", "checkpoint_completion_target": "0.9"}},
		"Analytics 64GB 16 CPUs HDD": {func(in *Inputs) { in.Workload, in.MemoryBytes, in.CPUs, in.Medium = Analytics, 64*gB, 16, HDD }, map[string]string{
			"shared_buffers": "16GB", "maintenance_work_mem": "2GB", // 64/8 = 8, held to 2
			"work_mem":     "149796kB", // (67108864-16777216)/((40+16)*3*2) = 50331648/336 = 149796.57
			"max_wal_size": "10GB",     // 16GB held to 20GB/2
			"min_wal_size": "4GB", "random_page_cost": "4", "effective_io_concurrency": "2",
			"max_parallel_workers_per_gather": "8", "max_parallel_maintenance_workers": "4", "autovacuum_max_workers": "4", "default_statistics_target": "500"}},
		"Desktop 2GB 1 CPU SAN, WAL with data": {func(in *Inputs) {
			in.Workload, in.MemoryBytes, in.CPUs, in.Medium, in.WALBytes, in.DataBytes = Desktop, 2*gB, 1, SAN, 0, 10*gB
		}, map[string]string{
			"shared_buffers": "128MB", "effective_cache_size": "512MB", // 2048/16, 2048/4
			"wal_buffers":  "3928kB", // 131072*3/100 = 3932, in pages of 8kB: 491
			"work_mem":     "4MB",    // (2097152-131072)/((20+8)*3*6) = 3900kB, floor 4MB
			"max_wal_size": "1GB", "min_wal_size": "100MB", "effective_io_concurrency": "300"}},
		"user's connections feed work_mem": {func(in *Inputs) { in.User = map[string]string{"max_connections": "100"} }, map[string]string{
			"max_connections": "100", "work_mem": "40329kB"}}, // 12582912/((100+4)*3) = 40329.85
		"64 CPUs Web": {func(in *Inputs) { in.Workload, in.CPUs = Web, 64 }, map[string]string{"max_worker_processes": "64", "autovacuum_max_workers": "5", "max_parallel_workers_per_gather": "4"}},
		"Async":       {func(in *Inputs) { in.Tier = Async }, map[string]string{"synchronous_commit": "off"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := base
			c.change(&in)
			got := values(in)
			for n, want := range c.want {
				if got[n] != want {
					t.Errorf("%s = %q, want %q", n, got[n], want)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, value, reason, message string }{
		{"fsync", "oF", RefusedUnsafe, "off is unsafe: a crash becomes an unrecoverable corruption; remove it, or use durability: Async for faster commits"},
		{"fsync", "N", RefusedUnsafe, ""}, {"fsync", "FAL", RefusedUnsafe, ""}, {"fsync", "0", RefusedUnsafe, ""},
		{"fsync", "o", RefusedInvalid, `"o" is not a boolean; use on or off`}, {"fsync", " off", RefusedInvalid, ""}, {"fsync", "'off'", RefusedInvalid, ""},
		{"full_page_writes", "no", RefusedUnsafe, ""}, {"zero_damaged_pages", "1", RefusedUnsafe, ""}, {"ignore_checksum_failure", "t", RefusedUnsafe, ""},
		{"wal_level", "minimal", RefusedUnsafe, ""}, {"wal_log_hints", "off", RefusedUnsafe, ""},
		{"synchronous_commit", "0", RefusedTier, "off is below durability Local; use on or remote_apply, or set spec.durability to Async to accept the loss of the last commits"},
		{"synchronous_commit", "local", RefusedTier, ""}, {"synchronous_commit", "remote_write", RefusedTier, ""},
		{"work_men", "4MB", RefusedUnknown, "PostgreSQL 17 has no such parameter; did you mean work_mem? Else remove it"},
		{"Work_Mem", "4MB", RefusedUnknown, "parameter names are written in lower case; use work_mem"},
		{"a..b", "1", RefusedUnknown, ""}, {"io_method", "worker", RefusedUnknown, ""},
		{"work_mem", "64M", RefusedInvalid, `"64M" has an unknown unit; use one of the units B, kB, MB, GB, TB (case matters)`},
		{"work_mem", "64Mi", RefusedInvalid, ""}, {"work_mem", "1kB", RefusedRange, `"1kB" is outside 64kB to 2147483647kB`},
		{"max_connections", "3", RefusedRange, ""}, {"port", "1", RefusedFixed, ""}, {"block_size", "8192", RefusedFixed, ""},
		{"data_sync_retry", "on", RefusedFixed, ""}, {"synchronous_standby_names", "*", RefusedManagedByField, ""},
		{"shared_buffers", "14GB", RefusedMemory, "14GB leaves too little of the 16GB of memory for connections; use at most 12GB (three quarters), or raise spec.resources.requests.memory"},
		{"max_wal_size", "20GB", RefusedVolume, "20GB is not below the 20GB volume that WAL is on; lower it, or ask for a larger volume in spec.storage"},
		{"min_wal_size", "9GB", RefusedRange, ""}, {"max_wal_senders", "0", RefusedUnsafe, ""},
	} {
		in := base
		in.User = map[string]string{c.name: c.value}
		ps, got := Compute(in)
		if len(got) != 1 || got[0].Reason != c.reason || got[0].Parameter != c.name || c.message != "" && got[0].Message != "spec.postgres.parameters["+c.name+"]: "+c.message {
			t.Errorf("%s=%q: %+v", c.name, c.value, got)
		}
		if slices.ContainsFunc(ps, func(p Parameter) bool { return p.Source == FromUser }) {
			t.Errorf("%s=%q was refused and passed on", c.name, c.value)
		}
	}
}

func TestAccepted(t *testing.T) {
	in := base
	in.User = map[string]string{"work_mem": "65536", "synchronous_commit": "remote_apply", "pg_stat_statements.max": "1", "timezone": "UTC", "checkpoint_timeout": "900s", "fsync": "YES", "wal_level": "LOGICAL"}
	in.Profile = map[string]Recommendation{"wal_recycle": {"off", "copy on write"}, "fsync": {"off", "never"}, "work_mem": {"1MB", "loses to the user"}}
	got, refusals := Compute(in)
	if len(refusals) > 0 {
		t.Fatal(refusals)
	}
	v := values(in)
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
			for _, memory := range []int64{0, 1, 128 * mB, gB, 1024 * gB} {
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

func TestDurability(t *testing.T) {
	for _, c := range []struct {
		tier              Tier
		n                 int
		crash, node, site string
	}{{Quorum, 3, "Kept", "Kept", "Lost"}, {Quorum, 1, "Kept", "MayBeLost", "Lost"}, {Local, 1, "Kept", "MayBeLost", "Lost"}, {Local, 3, "Kept", "MayBeLost", "Lost"}, {Async, 2, "MayBeLost", "MayBeLost", "Lost"}} {
		s := Durability(c.tier, c.n)
		if got := []string{s.Losses[0].AcknowledgedCommits, s.Losses[1].AcknowledgedCommits, s.Losses[2].AcknowledgedCommits}; !slices.Equal(got, []string{c.crash, c.node, c.site}) || s.Acknowledged == "" {
			t.Errorf("%s %d: %+v", c.tier, c.n, s)
		}
	}
}
