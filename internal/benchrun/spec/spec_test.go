package spec

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/pgbench"
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

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "specification",
		`{"durability": "Local", "pgbench": {}, "shell": "rm"}`: "unknown field",
		`{"pgbench": {}}`: "durability must be",
		`{"durability": "Local", "pgbench": {"script": "Rm"}}`:                                     "script must be",
		`{"durability": "Local", "pgbench": {"protocol": "Pigeon"}}`:                               "protocol must be",
		`{"durability": "Local", "pgbench": {"duration": "soon"}}`:                                 "duration of whole seconds",
		`{"durability": "Local", "pgbench": {"warmUp": "1500ms"}}`:                                 "duration of whole seconds",
		`{"durability": "Local", "pgbench": {"clients": [0]}}`:                                     "clients must be",
		`{"durability": "Local", "pgbench": {"customScripts": [{"key": "../../etc/passwd"}]}}`:     "not a key",
		`{"durability": "Local", "pgbench": {"customScripts": [{"configMap": "a", "key": ".."}]}}`: "not a key",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", text, want, err)
		}
	}
}
