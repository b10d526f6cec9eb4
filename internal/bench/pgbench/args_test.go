package pgbench

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRunArgs(t *testing.T) {
	seed := uint64(7)
	for name, tc := range map[string]struct {
		options RunOptions
		want    string
	}{
		"least": {
			RunOptions{Scripts: []WeightedScript{{Builtin: TPCB}}, Clients: 1, Transactions: 10},
			"--builtin=tpcb-like@1 --client=1 --transactions=10",
		},
		"everything": {
			RunOptions{
				Scripts: []WeightedScript{{Builtin: SelectOnly, Weight: 3}, {File: "/a@b.sql", Weight: 2}},
				Clients: 16, Jobs: 4, Duration: 5 * time.Minute, Rate: 1500, Protocol: Prepared, MaxTries: 3,
				Progress: 5 * time.Second, LogPrefix: "/work/run", SamplingRate: 0.05, Statements: true,
				FailuresDetailed: true, NoVacuum: true, Seed: &seed,
			},
			"--builtin=select-only@3 --file=/a@b.sql@2 --client=16 --jobs=4 --time=300 --rate=1500 --protocol=prepared --max-tries=3" +
				" --progress=5 --log --log-prefix=/work/run --sampling-rate=0.05 --report-per-command --failures-detailed --no-vacuum --random-seed=7",
		},
		"no sampling of everything": {
			RunOptions{Scripts: []WeightedScript{{Builtin: TPCB}}, Clients: 1, Transactions: 1, LogPrefix: "x", SamplingRate: 1},
			"--builtin=tpcb-like@1 --client=1 --transactions=1 --log --log-prefix=x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.options.Args()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Fields(tc.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRunArgsRefuse(t *testing.T) {
	valid := func() RunOptions {
		return RunOptions{Scripts: []WeightedScript{{Builtin: TPCB}}, Clients: 1, Transactions: 1}
	}
	for want, change := range map[string]func(*RunOptions){
		"needs a script":            func(o *RunOptions) { o.Scripts = nil },
		"either built-in or a":      func(o *RunOptions) { o.Scripts[0].File = "x" },
		"at least 1":                func(o *RunOptions) { o.Clients = 0 },
		"either by duration":        func(o *RunOptions) { o.Duration = time.Second },
		"duration must be whole":    func(o *RunOptions) { o.Transactions, o.Duration = 0, 1500*time.Millisecond },
		"progress must be whole":    func(o *RunOptions) { o.Progress = time.Millisecond },
		`protocol "carrier pigeon"`: func(o *RunOptions) { o.Protocol = "carrier pigeon" },
	} {
		o := valid()
		change(&o)
		if _, err := o.Args(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestInitArgs(t *testing.T) {
	got, err := InitOptions{Scale: 20, ForeignKeys: true, Unlogged: true}.Args()
	if diff := cmp.Diff([]string{"--initialize", "--scale=20", "--foreign-keys", "--unlogged-tables"}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := (InitOptions{}).Args(); err == nil {
		t.Error("want an error of scale 0")
	}
}
