package relay

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	fakeBlock  = 512
	fakeBlocks = 64
)

// fakeExports of the server: the legs of a stripe. Most tests use the first alone.
var fakeExports = []string{"disk", "disk-1", "disk-2"}

// fakeServer is a fake of ZeroFS, an NBD server with one volatile cache for all its
// exports. A real one cannot lose what it has not flushed on request. Its process ends by
// crash, and begins again by start.
type fakeServer struct {
	t      *testing.T
	socket string

	mu       sync.Mutex
	random   *rand.Rand
	size     uint64
	durable  map[string][]byte
	volatile []change
	changes  int
	listener net.Listener
	conns    map[net.Conn]struct{}
	// delay of a request at most.
	delay time.Duration
	// fail answers with this error once for each operation in it.
	fail map[operation]uint32
	// stalled operations are not done until the channel is closed.
	stalled map[operation]chan struct{}
	// seen of each operation.
	seen map[operation]int
}

type change struct {
	number int
	export string
	offset uint64
	data   []byte
}

func newFakeServer(t *testing.T) *fakeServer {
	t.Helper()
	s := &fakeServer{
		t: t, delay: time.Millisecond, socket: filepath.Join(t.TempDir(), "up.sock"), random: rand.New(rand.NewPCG(1, 2)),
		size: fakeBlock * fakeBlocks, durable: map[string][]byte{}, conns: map[net.Conn]struct{}{},
		fail: map[operation]uint32{}, stalled: map[operation]chan struct{}{}, seen: map[operation]int{},
	}
	for _, name := range fakeExports {
		s.durable[name] = make([]byte, 2*fakeBlock*fakeBlocks)
	}
	s.start()
	t.Cleanup(s.crash)
	return s
}

func (s *fakeServer) start() {
	l, err := net.Listen("unix", s.socket)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	s.listener = l
	s.mu.Unlock()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[conn] = struct{}{}
			s.mu.Unlock()
			go s.serve(conn)
		}
	}()
}

// crash loses what was not flushed, or some of it.
func (s *fakeServer) crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.listener.Close()
	for c := range s.conns {
		_ = c.Close()
	}
	clear(s.conns)
	for _, c := range s.volatile {
		if s.random.IntN(2) == 0 {
			copy(s.durable[c.export][c.offset:], c.data)
		}
	}
	s.volatile = nil
}

func (s *fakeServer) serve(conn net.Conn) {
	export, err := negotiate(conn, func(name string, _ bool) (offer, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Contains(fakeExports, name) {
			return offer{}, errNoExport
		}
		return offer{size: s.size, flags: hasFlags | sendFlush | sendTrim | 1<<3}, nil
	})
	for err == nil {
		err = s.one(conn, export)
	}
	_ = conn.Close()
}

func (s *fakeServer) one(conn net.Conn, export string) error {
	h, err := readHeader(conn)
	if err != nil {
		return err
	}
	var data []byte
	if h.op == opWrite {
		data = make([]byte, h.length)
		if _, err := io.ReadFull(conn, data); err != nil {
			return err
		}
	}
	go s.perform(conn, export, h, data)
	return nil
}

// perform beside other requests, as any NBD server may, and in any order with them.
func (s *fakeServer) perform(conn net.Conn, export string, h header, data []byte) {
	s.mu.Lock()
	delay, before := time.Duration(s.random.IntN(int(s.delay+1))), s.changes
	s.mu.Unlock()
	<-time.After(delay)
	s.mu.Lock()
	s.seen[h.op]++
	stalled := s.stalled[h.op]
	s.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	s.mu.Lock()
	if _, alive := s.conns[conn]; !alive {
		s.mu.Unlock()
		return
	}
	code, answer := s.do(export, h, data, before)
	s.mu.Unlock()
	_, _ = conn.Write(append(encodeReply(h.cookie, code), answer...))
}

// do what is asked; mu is held. A flush covers only the changes before it came.
func (s *fakeServer) do(export string, h header, data []byte, before int) (code uint32, answer []byte) {
	if code := s.fail[h.op]; code != 0 {
		delete(s.fail, h.op)
		return code, nil
	}
	switch h.op {
	case opRead:
		return 0, s.content(export)[h.offset:][:h.length]
	case opWrite:
		s.change(export, h.offset, data)
	case opTrim:
		s.change(export, h.offset, make([]byte, h.length))
	case opFlush:
		s.volatile = slices.DeleteFunc(s.volatile, func(c change) bool {
			if c.number > before {
				return false
			}
			copy(s.durable[c.export][c.offset:], c.data)
			return true
		})
	}
	return 0, nil
}

func (s *fakeServer) content(export string) []byte {
	now := bytes.Clone(s.durable[export])
	for _, c := range s.volatile {
		if c.export == export {
			copy(now[c.offset:], c.data)
		}
	}
	return now
}

func (s *fakeServer) change(export string, offset uint64, data []byte) {
	s.changes++
	s.volatile = append(s.volatile, change{s.changes, export, offset, data})
}

// stored is what a block of an export has after a crash at the worst time.
func (s *fakeServer) stored(export string, number uint64) (content []byte) {
	s.set(func() { content = bytes.Clone(s.durable[export][number*fakeBlock:][:fakeBlock]) })
	return content
}

// stall an operation until release is called.
func (s *fakeServer) stall(op operation) (release func()) {
	stalled := make(chan struct{})
	s.set(func() { s.stalled[op] = stalled })
	return func() {
		s.set(func() { delete(s.stalled, op) })
		close(stalled)
	}
}

func (s *fakeServer) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *fakeServer) count(op operation) (n int) {
	s.set(func() { n = s.seen[op] })
	return n
}

// block that no other number has.
func block(number uint64) []byte {
	return bytes.Repeat(binary.BigEndian.AppendUint64(nil, number), fakeBlock/8)
}
