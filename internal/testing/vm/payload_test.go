//go:build linux

package vm

import (
	"archive/tar"
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s has %q, %v; want %q", filepath.Base(path), got, err, want)
	}
}

// What goes in comes out: the guest's tar is as plain as ours.
func TestPayloadIsAnArchive(t *testing.T) {
	dir := t.TempDir()
	m := &Machine{options: Options{
		Dir:     dir,
		Payload: map[string]string{"run": write(t, filepath.Join(dir, "a"), "program"), "sub/data": write(t, filepath.Join(dir, "b"), "")},
		Args:    []string{"-x", "two words", ""},
		Env:     []string{"A=1\n2"},
	}}
	if err := m.writePayload(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := os.MkdirAll(filepath.Join(out, "sub"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := extractTar(m.payloadPath(), out); err != nil {
		t.Fatal(err)
	}
	wantFile(t, filepath.Join(out, "run"), "program")
	wantFile(t, filepath.Join(out, "sub", "data"), "")
	wantFile(t, filepath.Join(out, "args"), "-x\x00two words\x00\x00")
	wantFile(t, filepath.Join(out, "env"), "A=1\n2\x00")
}

func TestPayloadNeedsRun(t *testing.T) {
	m := &Machine{options: Options{Dir: t.TempDir(), Payload: map[string]string{"other": "x"}}}
	if err := m.writePayload(); err == nil {
		t.Error("no error")
	}
}

func TestBlankDiskIsAnEmptyArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "blank")
	if err := makeDisk(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := extractTar(path, filepath.Join(t.TempDir(), "out")); err != nil {
		t.Error(err)
	}
}

// A guest is not trusted with the host's files.
func TestExtractStaysInside(t *testing.T) {
	tests := map[string]struct {
		header  tar.Header
		wantErr bool
	}{
		"parent":   {header: tar.Header{Name: "../evil", Mode: 0o600, Typeflag: tar.TypeReg}, wantErr: true},
		"absolute": {header: tar.Header{Name: "/evil", Mode: 0o600, Typeflag: tar.TypeReg}, wantErr: true},
		"symlink":  {header: tar.Header{Name: "link", Linkname: "/", Typeflag: tar.TypeSymlink}},
		"device":   {header: tar.Header{Name: "dev", Typeflag: tar.TypeBlock}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "tar")
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			archive := tar.NewWriter(file)
			if err := archive.WriteHeader(&test.header); err != nil {
				t.Fatal(err)
			}
			if err := archive.Close(); err != nil {
				t.Fatal(err)
			}
			if err := extractTar(path, filepath.Join(dir, "out")); (err != nil) != test.wantErr {
				t.Errorf("error %v", err)
			}
			if entries, err := os.ReadDir(filepath.Join(dir, "out")); err != nil || len(entries) != 0 {
				t.Errorf("made %v, %v", entries, err)
			}
		})
	}
}
