package nbd

import (
	"io/fs"
	"maps"
	"syscall"
	"testing"
	"testing/fstest"
)

// removed is a folder of /sys from which the kernel removes a file after it was opened.
type removed struct {
	fs.FS
	name string
}

func (r removed) Open(name string) (fs.File, error) {
	file, err := r.FS.Open(name)
	if name == r.name {
		return noDevice{file}, err
	}
	return file, err
}

// noDevice fails each read as kernfs does then.
type noDevice struct{ fs.File }

func (noDevice) Read([]byte) (int, error) { return 0, syscall.ENODEV }

// disconnected loses pid and backend before backend is opened.
type disconnected struct {
	fs.FS
	files fstest.MapFS
}

func (d disconnected) Open(name string) (fs.File, error) {
	if name == "backend" {
		delete(d.files, "pid")
		delete(d.files, "backend")
	}
	return d.FS.Open(name)
}

// A device may be disconnected while its files are read, or between two of them.
func TestReadStateOfAVanishingDevice(t *testing.T) {
	attached := fstest.MapFS{
		"pid": {Data: []byte("42\n")}, "size": {Data: []byte("8\n")}, "queue/logical_block_size": {Data: []byte("4096\n")}, "backend": {Data: []byte("a@1\n")},
	}
	if s, err := readState(attached, 3); err != nil || s != (State{Index: 3, Bytes: 8 * sectorBytes, BlockSize: 4096, PID: 42, Identifier: "a@1"}) {
		t.Fatalf("attached: %+v, %v", s, err)
	}
	for name := range attached {
		if s, err := readState(removed{attached, name}, 3); !vanished(err) {
			t.Errorf("%s is removed while it is read: %+v, %v", name, s, err)
		}
	}
	lost := maps.Clone(attached)
	if s, err := readState(disconnected{lost, lost}, 3); !vanished(err) {
		t.Errorf("the last file is gone: %+v, %v", s, err)
	}
	unnamed := maps.Clone(attached)
	delete(unnamed, "backend")
	if s, err := readState(unnamed, 3); err != nil || s.Identifier != "" {
		t.Errorf("another program attached it: %+v, %v", s, err)
	}
	if _, err := readState(fstest.MapFS{}, 3); !vanished(err) {
		t.Errorf("merely open: %v", err)
	}
	if _, err := readState(fstest.MapFS{"pid": {Data: []byte("none")}}, 3); err == nil || vanished(err) {
		t.Errorf("a pid that is no number: %v", err)
	}
}
