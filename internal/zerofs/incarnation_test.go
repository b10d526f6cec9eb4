package zerofs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
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
		State: zerofs.StateStopped, ExitCode: &code, Served: true, Inherits: []string{"a0"},
	}
	if err := zerofs.WriteIncarnation(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := zerofs.ReadIncarnation(dir)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	raw, err := os.ReadFile(filepath.Join(dir, zerofs.IncarnationFile))
	wire := `{"id":"b1f6","bootID":"c0de","startedAt":"2026-02-03T04:05:06Z","state":"Stopped","exitCode":0,"served":true,"inherits":["a0"]}` + "\n"
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
		if i, err := zerofs.ReadIncarnation(dir); err == nil || !cmp.Equal(i, zerofs.Incarnation{}) {
			t.Errorf("%q: %v %v", text, i, err)
		}
	}
}

func TestBequest(t *testing.T) {
	var many []string
	for i := range zerofs.MaxInherited {
		many = append(many, strconv.Itoa(i))
	}
	for name, c := range map[string]struct {
		life zerofs.Incarnation
		want []string
	}{
		"the first":              {zerofs.Incarnation{ID: "a", State: zerofs.StateStopped, Served: true}, []string{"a"}},
		"in order":               {zerofs.Incarnation{ID: "c", State: zerofs.StateStopped, Served: true, Inherits: []string{"b", "a"}}, []string{"c", "b", "a"}},
		"many":                   {zerofs.Incarnation{ID: "c", State: zerofs.StateStopped, Served: true, Inherits: many}, append([]string{"c"}, many[:len(many)-1]...)},
		"failed":                 {zerofs.Incarnation{ID: "c", State: zerofs.StateFailed, Served: true, Inherits: []string{"b", "a"}}, nil},
		"crashed":                {zerofs.Incarnation{ID: "c", State: zerofs.StateRunning, Served: true, Inherits: []string{"b", "a"}}, nil},
		"failed, used by nobody": {zerofs.Incarnation{ID: "c", State: zerofs.StateFailed, Inherits: []string{"b", "a"}}, []string{"b", "a"}},
		"crashed as it started":  {zerofs.Incarnation{ID: "c", State: zerofs.StateRunning, Inherits: []string{"b", "a"}}, []string{"b", "a"}},
		"none":                   {zerofs.Incarnation{}, nil},
	} {
		if diff := cmp.Diff(c.want, c.life.Bequest()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
