package nbd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestBootID(t *testing.T) {
	root := t.TempDir()
	if _, err := BootID(root); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	path := filepath.Join(root, "proc/sys/kernel/random/boot_id")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("7f7e\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if id, err := BootID(root); id != "7f7e" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
}
