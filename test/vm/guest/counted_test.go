//go:build guest

package guest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/machine"
)

// counted by the kernel for what is mounted at a path, as a benchmark reads it.
func counted(t *testing.T, path string) machine.Written {
	t.Helper()
	texts := map[string]string{}
	read := func(paths ...string) {
		for _, p := range paths {
			// What this kernel does not have says nothing.
			if text, err := os.ReadFile(p); err == nil {
				texts[p] = string(text)
			}
		}
	}
	read(machine.CountedPaths()...)
	for _, folder := range machine.ReadCounted(texts).PoolFolders(path) {
		files, err := filepath.Glob(folder + "/" + machine.DatasetFile + "*")
		if err != nil {
			t.Fatal(err)
		}
		read(files...)
	}
	source, w, ok := machine.ReadCounted(texts).At(path)
	if !ok || source != "dataset made/pgdata/counted" {
		t.Fatalf("%s is counted by %q: %+v", path, source, w)
	}
	return w
}

// What is written to a dataset is counted for it by OpenZFS, and read as such.
func TestWrittenBytesAreCounted(t *testing.T) {
	erase(t, "made", 0)
	n, _ := newAgent(nil)
	ready(t, n, declared("made", madeOf(v1alpha1.VdevStripe, 0)))
	folder := t.TempDir()
	run(t, "zfs", "create", "-o", "mountpoint="+folder, "made/pgdata/counted")
	run(t, "zfs", "create", "-o", "mountpoint=none", "made/pgdata/other")
	before := counted(t, folder)
	const size = 1 << 20
	if err := os.WriteFile(filepath.Join(folder, "file"), make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	after := counted(t, folder)
	if bytes, requests := after.Bytes-before.Bytes, after.Requests-before.Requests; bytes != size || requests < 1 {
		t.Errorf("%.0f bytes in %.0f writes were counted", bytes, requests)
	}
	run(t, "zfs", "unmount", "made/pgdata/counted")
}
