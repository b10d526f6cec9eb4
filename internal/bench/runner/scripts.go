package runner

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// mostOfScript is how much of a custom script is read, in bytes: more than a ConfigMap
// can hold.
const mostOfScript = 2 << 20

// mostOfNote of the status, in bytes.
const mostOfNote = 1000

// stageScripts copies the custom scripts, refuses those that would run programs, and finds the
// tier that their transactions have. The runner uses the copies: a user who may write the
// ConfigMap could change the originals after they were read.
func (r *execution) stageScripts() error {
	r.tier = r.Spec.Durability
	scripts, err := r.Spec.Scripts()
	if err != nil {
		return err
	}
	folder := filepath.Join(r.WorkDir, "scripts")
	for i := range scripts {
		from := scripts[i].File
		if from == "" {
			continue
		}
		text, err := readScript(from)
		if err != nil {
			return err
		}
		if err := pgbench.CheckScript(text); err != nil {
			return fmt.Errorf("spec.pgbench.customScripts: %s: %w", filepath.Base(from), err)
		}
		r.judgeScript(filepath.Base(from), text)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("copy the custom scripts: %w", err)
		}
		scripts[i].File = filepath.Join(folder, filepath.Base(from))
		if err := os.WriteFile(scripts[i].File, text, 0o600); err != nil {
			return fmt.Errorf("copy the custom scripts: %w", err)
		}
	}
	r.scripts, r.report.Durability = scripts, r.tier
	return nil
}

func readScript(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a custom script: %w", err)
	}
	if len(text) > mostOfScript {
		return nil, fmt.Errorf("custom script %s has %d bytes; the limit is %d", filepath.Base(path), len(text), mostOfScript)
	}
	return text, nil
}

// judgeScript lowers the tier where a script may change what its commits wait for.
// Async and Ephemeral promise nothing that a session could take back.
func (r *execution) judgeScript(name string, text []byte) {
	if !durability.Tier(r.Spec.Durability).Flushes() {
		return
	}
	if err := pgbench.Harmless(string(text)); err != nil {
		r.tier = v1alpha1.DurabilityUnverified
		r.Log.Warn("the tier of a custom script is not verified", "script", name, "why", err.Error())
		if r.report.DurabilityNote == "" {
			r.report.DurabilityNote = excerpt.Truncate(fmt.Sprintf("custom script %s may change what a commit waits for: %v", name, err), mostOfNote)
		}
	}
}
