package zerofs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

func TestIncarnation(t *testing.T) {
	dir := t.TempDir()
	if _, err := zerofs.ReadIncarnation(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where none was: %v", err)
	}
	code := 0
	want := zerofs.Incarnation{
		ID: "b1f6", BootID: "c0de", StartedAt: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC),
		State: zerofs.StateStopped, ExitCode: &code, Previous: &zerofs.Previous{ID: "a0", Clean: true},
	}
	if err := zerofs.WriteIncarnation(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := zerofs.ReadIncarnation(dir)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	raw, err := os.ReadFile(filepath.Join(dir, zerofs.IncarnationFile))
	wire := `{"id":"b1f6","bootID":"c0de","startedAt":"2026-02-03T04:05:06Z","state":"Stopped","exitCode":0,"previous":{"id":"a0","clean":true}}` + "\n"
	if err != nil || string(raw) != wire {
		t.Errorf("%v: %s", err, raw)
	}
}

func TestIncarnationUnreadable(t *testing.T) {
	for _, text := range []string{"", "{", "{}", `{"id":"a"}`, `{"id":"a","state":"Paused"}`, `{"state":"Running"}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, zerofs.IncarnationFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i, err := zerofs.ReadIncarnation(dir); err == nil || i != (zerofs.Incarnation{}) {
			t.Errorf("%q: %v %v", text, i, err)
		}
	}
}
