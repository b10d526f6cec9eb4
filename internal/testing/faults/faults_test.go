package faults

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Runs of another day are added to those that are there; a loss stays.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	first := []*Run{
		{Date: "2026-01-02", Versions: "A 1", Accelerator: "tcg", Slower: 14.4, Case: "cut", Acknowledged: 50, Lost: 1, Seconds: 30},
		{Date: "2026-01-02", Versions: "A 1", Accelerator: "tcg", Slower: 20, Case: "cut", Acknowledged: 60, Seconds: 20},
		{Date: "2026-01-02", Versions: "A 1", Accelerator: "tcg", Slower: 20, Case: "again", Acknowledged: 7, Seconds: 1},
	}
	written(t, path, first...)
	second := &Run{Date: "2026-01-03", Versions: "A 2", Accelerator: "kvm", Slower: 1, Case: "cut", Acknowledged: 70, Seconds: 2.25}
	all := written(t, path, second)
	const table = `| case | runs | acknowledged | lost | median s to writes | worst | runs of |
|---|---|---|---|---|---|---|
| again | 1 | 7 | 0 | 1.0 | 1.0 | 2026-01-02 |
| cut | 3 | 180 | 1 | 20.0 | 30.0 | 2026-01-02, 2026-01-03 |
`
	if diff := cmp.Diff(table, Table(all, "s to writes")); diff != "" {
		t.Error(diff)
	}
	const circumstances = `A 1.
A 2.
The guests' processor is emulated (QEMU TCG); the same work takes 14.4 to 20.0 times as long as on the host.
The guests' processor is the host's own (KVM); the same work takes 1.0 times as long as on the host.`
	if diff := cmp.Diff(circumstances, Circumstances(all)); diff != "" {
		t.Error(diff)
	}
	if got := Circumstances([]*Run{{Versions: "A 1"}}); got != "A 1." {
		t.Errorf("without a virtual machine: %s", got)
	}
	if Table(nil, "s") != "" {
		t.Error("a table of nothing")
	}
}

// What is found late takes the place of what was written before, and of no former run.
func TestWriteAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	written(t, path, &Run{Case: "former"})
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	late := &Run{Case: "late"}
	for late.Lost = range 3 {
		if _, err := f.Write([]*Run{late}); err != nil {
			t.Fatal(err)
		}
	}
	all := written(t, path)
	if diff := cmp.Diff([]*Run{{Case: "former"}, {Case: "late", Lost: 2}}, all); diff != "" {
		t.Error(diff)
	}
}

func written(t *testing.T, path string, runs ...*Run) []*Run {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := f.Write(runs)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A file that is not ours is left as it is.
func TestAppendToSomethingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	const other = `{"case": "cut", "other": 1}`
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil {
		t.Error("no error")
	}
	if got, _ := os.ReadFile(path); string(got) != other {
		t.Errorf("now %s", got)
	}
}
