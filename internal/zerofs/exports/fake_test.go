package exports_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

// fake is a server in memory that is as strict as ZeroFS and other servers. Only root
// may do anything, clients cannot walk from an open file, and cannot flush a closed
// one.
type fake struct {
	mu sync.Mutex
	// folder is whether .nbd is there, with files by their size; of size -1 are folders.
	folder bool
	files  map[string]int64
	// mark is in the file .pgstorage-owner; nil if there is none.
	mark *string
	// kept is the mark that a crash of the server leaves.
	kept string
	// flushed are the files with the sizes that a crash of the server leaves.
	flushed map[string]int64
	// message is the largest in bytes.
	message uint32
	// left requests until the connection is cut, after the last is done if doLast.
	left   int
	doLast bool
}

// with the fake to itself.
func (f *fake) with(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// unlimited requests.
const unlimited = 1 << 30

func serve(t *testing.T) (*exports.Client, *fake) {
	t.Helper()
	f := &fake{files: map[string]int64{}, flushed: map[string]int64{}, message: 8192, left: unlimited}
	listener := listen(t)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go f.serve(conn)
		}
	}()
	return &exports.Client{Socket: listener.Addr().String()}, f
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// node that a fid is of: a path, and whether it was opened.
type node struct {
	path   string // "", ".nbd", ".nbd/NAME" or owner
	opened bool
}

func (f *fake) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // a test's own
	fids := map[uint32]*node{}
	for {
		var size uint32
		if binary.Read(conn, binary.LittleEndian, &size) != nil {
			return
		}
		request := make([]byte, size-4)
		if _, err := io.ReadFull(conn, request); err != nil {
			return
		}
		answer, ok := f.answer(fids, request[0], &fields{request[3:]})
		if !ok {
			return
		}
		head := binary.LittleEndian.AppendUint32(nil, uint32(7+len(answer.body)))
		head = append(head, answer.kind, request[1], request[2])
		if _, err := conn.Write(append(head, answer.body...)); err != nil {
			return
		}
	}
}

type answer struct {
	kind byte
	body []byte
}

func (f *fake) answer(fids map[uint32]*node, kind byte, in *fields) (answer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left--
	if f.left < 0 || f.left == 0 && !f.doLast {
		return answer{}, false
	}
	body, code := f.do(fids, kind, in)
	if f.left == 0 {
		return answer{}, false
	}
	if code != 0 {
		return answer{7, binary.LittleEndian.AppendUint32(nil, uint32(code))}, true
	}
	return answer{kind + 1, body}, true
}

var qid = make([]byte, 13)

func (f *fake) do(fids map[uint32]*node, kind byte, in *fields) ([]byte, syscall.Errno) {
	if kind == 100 { // version
		return append(binary.LittleEndian.AppendUint32(nil, f.message), "\x08\x009P2000.L"...), 0
	}
	id := in.number()
	if kind == 104 { // attach
		_, _, _ = in.number(), in.text(), in.text()
		if in.number() != 0 {
			return nil, syscall.EACCES
		}
		fids[id] = &node{}
		return qid, 0
	}
	n := fids[id]
	if n == nil {
		return nil, syscall.EBADF
	}
	switch kind {
	case 110:
		return f.walk(fids, n, in)
	case 12: // lopen
		n.opened = true
		return append(bytes.Clone(qid), 0, 0, 0, 0), 0
	case 14:
		return f.create(n, in)
	case 24:
		return f.getattr(n)
	case 26:
		return f.setattr(n, in)
	case 40:
		return f.readdir(n, in)
	case 50: // fsync
		if !n.opened {
			return nil, syscall.EINVAL
		}
		f.flushed = maps.Clone(f.files)
		if f.mark != nil {
			f.kept = *f.mark
		}
		return nil, 0
	case 116:
		return f.read(n, in)
	case 118:
		return f.write(n, in)
	case 72: // mkdir
		if n.path != "" || in.text() != ".nbd" {
			return nil, syscall.ENOTDIR
		}
		if f.folder {
			return nil, syscall.EEXIST
		}
		f.folder = true
		return qid, 0
	}
	return nil, syscall.ENOSYS
}

func (f *fake) exists(path string) bool {
	if name, under := bytes.CutPrefix([]byte(path), []byte(".nbd/")); under {
		_, ok := f.files[string(name)]
		return ok
	}
	return path == "" || path == ".nbd" && f.folder || path == owner && f.mark != nil
}

// owner is the file of the mark.
const owner = ".pgstorage-owner"

func (f *fake) read(n *node, in *fields) ([]byte, syscall.Errno) {
	if !n.opened || n.path != owner || in.long() != 0 {
		return nil, syscall.EBADF
	}
	part := (*f.mark)[:min(len(*f.mark), int(in.number()))]
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(part))), part...), 0
}

func (f *fake) write(n *node, in *fields) ([]byte, syscall.Errno) {
	if !n.opened || n.path != owner || in.long() != 0 {
		return nil, syscall.EBADF
	}
	data := string(in.take(int(in.number())))
	*f.mark = data + (*f.mark)[min(len(*f.mark), len(data)):]
	return binary.LittleEndian.AppendUint32(nil, uint32(len(data))), 0
}

// walk answers with the part of the way that is there, an error if there is none.
func (f *fake) walk(fids map[uint32]*node, from *node, in *fields) ([]byte, syscall.Errno) {
	if from.opened {
		return nil, syscall.EBUSY
	}
	to, count := in.number(), in.short()
	path, came := from.path, uint16(0)
	for range count {
		next := filepath.Join(path, in.text())
		if !f.exists(next) {
			break
		}
		path, came = next, came+1
	}
	if came == 0 && count > 0 {
		return nil, syscall.ENOENT
	}
	if came == count {
		fids[to] = &node{path: path}
	}
	return append(binary.LittleEndian.AppendUint16(nil, came), bytes.Repeat(qid, int(came))...), 0
}

func (f *fake) create(n *node, in *fields) ([]byte, syscall.Errno) {
	name, flags := in.text(), in.number()
	if n.path == "" && name == owner && f.mark == nil {
		f.mark = new(string)
		*n = node{path: owner, opened: true}
		return append(bytes.Clone(qid), 0, 0, 0, 0), 0
	}
	switch _, exists := f.files[name]; {
	case n.path != ".nbd" || flags != syscall.O_RDWR|syscall.O_EXCL:
		return nil, syscall.EINVAL
	case exists:
		return nil, syscall.EEXIST
	}
	f.files[name] = 0
	*n = node{path: ".nbd/" + name, opened: true}
	return append(bytes.Clone(qid), 0, 0, 0, 0), 0
}

func (f *fake) getattr(n *node) ([]byte, syscall.Errno) {
	size, mode := f.files[filepath.Base(n.path)], uint32(0o100600)
	if size < 0 {
		size, mode = 0, 0o040700
	}
	if n.path == owner {
		size = int64(len(*f.mark))
	}
	out, _ := binary.Append(nil, binary.LittleEndian, struct {
		Valid                     uint64
		QID                       [13]byte
		Mode, UID, GID            uint32
		Links, Device, Size, Rest uint64
		More                      [13]uint64
	}{Valid: 0x7ff, Mode: mode, Size: uint64(size)})
	return out, 0
}

func (f *fake) setattr(n *node, in *fields) ([]byte, syscall.Errno) {
	valid, _, _, _, size := in.number(), in.number(), in.number(), in.number(), in.long()
	if valid != 8 || len(in.rest) != 32 {
		return nil, syscall.EINVAL
	}
	if n.path == owner {
		*f.mark = (*f.mark)[:size] // it is never made longer
		return nil, 0
	}
	f.files[filepath.Base(n.path)] = int64(size)
	return nil, 0
}

// readdir has as many entries as there is room for; an offset is a place in their order.
func (f *fake) readdir(n *node, in *fields) ([]byte, syscall.Errno) {
	if !n.opened {
		return nil, syscall.EBADF
	}
	offset, room := in.long(), in.number()
	names := append([]string{".", ".."}, slices.Sorted(maps.Keys(f.files))...)
	var out []byte
	for i := int(offset); i < len(names); i++ {
		entry := binary.LittleEndian.AppendUint64(bytes.Clone(qid), uint64(i+1))
		entry = binary.LittleEndian.AppendUint16(append(entry, 8), uint16(len(names[i])))
		if entry = append(entry, names[i]...); len(out)+len(entry) > int(room) {
			break
		}
		out = append(out, entry...)
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(out))), out...), 0
}

// fields of a request, of which there must be enough.
type fields struct{ rest []byte }

func (f *fields) take(n int) []byte {
	out := f.rest[:n]
	f.rest = f.rest[n:]
	return out
}

func (f *fields) short() uint16  { return binary.LittleEndian.Uint16(f.take(2)) }
func (f *fields) number() uint32 { return binary.LittleEndian.Uint32(f.take(4)) }
func (f *fields) long() uint64   { return binary.LittleEndian.Uint64(f.take(8)) }
func (f *fields) text() string   { return string(f.take(int(f.short()))) }
