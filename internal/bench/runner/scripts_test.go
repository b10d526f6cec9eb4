package runner

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

func staged(t *testing.T, tier v1alpha1.DurabilityTier, texts map[string]string) (*execution, error) {
	t.Helper()
	from := t.TempDir()
	s := spec.Spec{Durability: tier, ScriptsDir: from}
	for key, text := range texts {
		if err := os.WriteFile(filepath.Join(from, key), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Pgbench.CustomScripts = append(s.Pgbench.CustomScripts, v1alpha1.CustomScript{Key: key, Weight: 1})
	}
	if len(texts) == 0 {
		s.Pgbench.Script = v1alpha1.ScriptTPCB
	}
	r := &execution{Runner: &Runner{Spec: s, WorkDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}}
	return r, r.stageScripts()
}

// A script that may lower what a commit waits for stands under no tier.
func TestTheTierOfCustomScripts(t *testing.T) {
	const plain, lowers = "SELECT abalance FROM pgbench_accounts", "SET synchronous_commit = off;\nUPDATE pgbench_accounts SET abalance = 0"
	for _, tc := range []struct {
		name  string
		tier  v1alpha1.DurabilityTier
		texts map[string]string
		want  v1alpha1.DurabilityTier
		note  string
	}{
		{"built in", v1alpha1.DurabilityQuorum, nil, v1alpha1.DurabilityQuorum, ""},
		{"harmless", v1alpha1.DurabilityQuorum, map[string]string{"a.sql": plain}, v1alpha1.DurabilityQuorum, ""},
		{"it sets", v1alpha1.DurabilityQuorum, map[string]string{"a.sql": lowers}, v1alpha1.DurabilityUnverified, "custom script a.sql may change what a commit waits for: line 1"},
		{"one of two", v1alpha1.DurabilityLocal, map[string]string{"a.sql": plain, "b.sql": lowers}, v1alpha1.DurabilityUnverified, "custom script b.sql"},
		{"nothing to lower", v1alpha1.DurabilityAsync, map[string]string{"a.sql": lowers}, v1alpha1.DurabilityAsync, ""},
		{"nothing is kept", v1alpha1.DurabilityEphemeral, map[string]string{"a.sql": lowers}, v1alpha1.DurabilityEphemeral, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := staged(t, tc.tier, tc.texts)
			if err != nil {
				t.Fatal(err)
			}
			if r.tier != tc.want || r.report.Durability != tc.want || !strings.Contains(r.report.DurabilityNote, tc.note) || (tc.note == "") != (r.report.DurabilityNote == "") {
				t.Errorf("%s, reported %s: %q", r.tier, r.report.Durability, r.report.DurabilityNote)
			}
		})
	}
}

// What was read is what is run: the ConfigMap may change afterwards.
func TestCustomScriptsAreCopied(t *testing.T) {
	r, err := staged(t, v1alpha1.DurabilityLocal, map[string]string{"a.sql": "SELECT 1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.Spec.ScriptsDir, "a.sql"), []byte("SET synchronous_commit = off"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(r.scripts[0].File)
	if err != nil || string(text) != "SELECT 1" {
		t.Errorf("%q, %v", text, err)
	}
}
