package spec

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
)

func TestParseDefaults(t *testing.T) {
	s, err := Parse([]byte(`{"cluster": "shop", "durability": "Local", "pgbench": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := v1alpha1.PgbenchSpec{
		Scale: 10, Script: v1alpha1.ScriptTPCB, Clients: []int32{1, 4}, Repeats: 1, MaxTries: 1,
		Protocol: v1alpha1.ProtocolSimple, Integrity: v1alpha1.IntegrityFull,
	}
	if diff := cmp.Diff(want, s.Pgbench); diff != "" {
		t.Error(diff)
	}
	if s.Duration() != time.Minute || s.WarmUp() != 0 || s.Transactions() != 0 || s.Builtin() != pgbench.TPCB {
		t.Errorf("%s %s %d %s", s.Duration(), s.WarmUp(), s.Transactions(), s.Builtin())
	}
	if s.Jobs(4, 2) != 2 || s.Jobs(1, 8) != 1 || s.Jobs(4, 0) != 1 {
		t.Error("jobs are at most the processors and the clients, and at least 1")
	}
}

func TestTiersWhoseCommitsWaitForAFlush(t *testing.T) {
	for tier, flushes := range map[v1alpha1.DurabilityTier]bool{
		v1alpha1.DurabilityQuorum: true, v1alpha1.DurabilityLocal: true, v1alpha1.DurabilityAsync: false, v1alpha1.DurabilityEphemeral: false,
	} {
		if _, err := Parse([]byte(`{"durability": "` + string(tier) + `"}`)); err != nil || durability.Tier(tier).Flushes() != flushes {
			t.Errorf("%s: flushes %v, %v", tier, durability.Tier(tier).Flushes(), err)
		}
	}
	follower, err := Parse([]byte(`{"durability": "ReadOnly", "source": {"cluster": "shop"}, "pgbench": {"script": "SelectOnly"}}`))
	if err != nil || follower.Source.Cluster != "shop" || durability.ReadOnly.Flushes() {
		t.Errorf("%+v %v", follower, err)
	}
	if _, err := Parse([]byte(`{"durability": "Unverified"}`)); err == nil {
		t.Error("Unverified is no tier of a cluster")
	}
}

func TestParseStated(t *testing.T) {
	s, err := Parse([]byte(`{"durability": "Async", "scriptsDir": "/scripts", "pgbench": {"transactions": 5, "warmUp": "1m30s", "jobs": 3,
		"protocol": "Extended", "customScripts": [{"configMap": "a", "key": "a.sql", "weight": 2}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Duration() != 0 || s.Transactions() != 5 || s.WarmUp() != 90*time.Second || s.Jobs(8, 1) != 3 || s.Builtin() != "" {
		t.Errorf("%+v", s)
	}
	scripts, err := s.Scripts()
	if diff := cmp.Diff([]pgbench.WeightedScript{{File: "/scripts/a.sql", Weight: 2}}, scripts); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestParseLayers(t *testing.T) {
	s, err := Parse([]byte(`{"durability": "Local", "pgbench": {}, "layers": {}}`))
	if err != nil || s.Layers.Each() != 5*time.Second || s.Layers.Repeats != 3 {
		t.Errorf("%+v %v", s.Layers, err)
	}
	if s.Layers.Scale(3) != 3 || s.Layers.Scale(100000) != 10 {
		t.Error("the tables are to fit in memory")
	}
	if LayersTime(nil) != 0 || LayersTime(&v1alpha1.BenchmarkLayers{}) != s.Layers.Time() || LayersTime(&v1alpha1.BenchmarkLayers{Duration: "10s", Repeats: 6}) <= s.Layers.Time() {
		t.Errorf("%s", s.Layers.Time())
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "specification",
		`{"durability": "Local", "pgbench": {}, "shell": "rm"}`: "unknown field",
		`{"pgbench": {}}`: "durability must be",
		`{"durability": "Local", "pgbench": {"script": "Rm"}}`:                                                      "script must be",
		`{"durability": "Local", "pgbench": {"protocol": "Pigeon"}}`:                                                "protocol must be",
		`{"durability": "Local", "pgbench": {"duration": "soon"}}`:                                                  "duration of whole seconds",
		`{"durability": "Local", "pgbench": {"warmUp": "1500ms"}}`:                                                  "duration of whole seconds",
		`{"durability": "Local", "pgbench": {"clients": [0]}}`:                                                      "clients must be",
		`{"durability": "Local", "pgbench": {"customScripts": [{"key": "../../etc/passwd"}]}}`:                      "not a key",
		`{"durability": "Local", "pgbench": {"customScripts": [{"configMap": "a", "key": ".."}]}}`:                  "not a key",
		`{"durability": "ReadOnly", "pgbench": {"script": "SelectOnly"}}`:                                           "needs the source",
		`{"durability": "ReadOnly", "source": {"cluster": "a"}, "pgbench": {}}`:                                     "only the script SelectOnly",
		`{"durability": "Local", "source": {"cluster": "a"}, "pgbench": {"script": "SelectOnly"}}`:                  "must be ReadOnly",
		`{"durability": "ReadOnly", "source": {"cluster": "a"}, "pgbench": {"script": "SelectOnly"}, "layers": {}}`: "neither layers nor coldCache",
		`{"durability": "Local", "pgbench": {}, "layers": {"duration": "1500ms"}}`:                                  "duration of whole seconds",
		`{"durability": "Local", "pgbench": {}, "layers": {"duration": "0s"}}`:                                      "less than a second",
		`{"durability": "Local", "pgbench": {}, "layers": {"scratch": [{"layer": "Volume", "dir": "/"}]}}`:          "not a folder of a scratch volume",
		`{"durability": "Local", "pgbench": {}, "layers": {"scratch": [{"layer": "Volume", "dir": "here"}]}}`:       "not a folder of a scratch volume",
		`{"durability": "Local", "pgbench": {}, "layers": {"scratch": [{"layer": "WALFlush", "dir": "/tmp"}]}}`:     "not the layer of a volume",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", text, want, err)
		}
	}
}
