package zerofs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

func TestStatus(t *testing.T) {
	dir := t.TempDir()
	if _, err := zerofs.ReadStatus(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where none was: %v", err)
	}
	want := zerofs.ServerStatus{
		Life: "b1f6", Phase: zerofs.PhaseHolding, Since: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC),
		Reason: zerofs.ReasonStoreLost, Message: strings.Repeat("x", 5000), Restarts: 3, UnflushedBytes: 4096, FlushSeconds: 1.5,
		S3: &zerofs.StoreTraffic{Requests: map[string]int64{"PUT": 2}, SentBytes: 9},
	}
	if err := zerofs.WriteStatus(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := zerofs.ReadStatus(dir)
	if err != nil || len(got.Message) > 1024 {
		t.Errorf("%v, a message of %d bytes", err, len(got.Message))
	}
	got.Message = want.Message
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(filepath.Join(dir, zerofs.StatusFile), []byte(`{"life":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := zerofs.ReadStatus(dir); err == nil || !cmp.Equal(s, zerofs.ServerStatus{}) {
		t.Errorf("half a file: %v %+v", err, s)
	}
}
