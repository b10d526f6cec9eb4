//go:build guest

package guest_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// A server of network devices runs in a process of its own, so that a test can kill it. Like
// ZeroFS it answers a write from memory, and stores it with the next flush: a kill loses what
// was not flushed. Like the relay in front of ZeroFS it has a lock for as long as it lives, and
// records its life. On a request to stop, it stops answering before it flushes.

const serverEnv = "PGSTORAGE_NBD_SERVER"

// TestServerChild is such a server. It does nothing without a job from the tests.
func TestServerChild(t *testing.T) {
	dir := os.Getenv(serverEnv)
	if dir == "" {
		return
	}
	s := &exportServer{dir: dir, exports: map[string]*volatile{}}
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(dir, zerofs.NBDSocket))
	listener, err := net.Listen("unix", filepath.Join(dir, zerofs.NBDSocket))
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		if err := s.end(); err != nil {
			t.Error(err)
			os.Exit(1)
		}
		os.Exit(0)
	}()
	for {
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer conn.Close() //nolint:errcheck // the kernel has its own end
			if err := s.serve(conn); err != nil && !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "server:", err)
			}
		}()
	}
}

type exportServer struct {
	dir     string
	mu      sync.Mutex
	exports map[string]*volatile
	life    zerofs.Incarnation
	lock    *os.File
	// gate is shared by requests that are being answered, and shut by the end.
	gate sync.RWMutex
}

func (s *exportServer) begin() error {
	var err error
	if s.lock, err = os.OpenFile(filepath.Join(s.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return err
	}
	s.life = zerofs.Incarnation{
		ID: fmt.Sprintf("life-%d", time.Now().UnixNano()), BootID: strings.TrimSpace(string(boot)),
		StartedAt: time.Now().UTC(), State: zerofs.StateRunning,
	}
	if before, err := zerofs.ReadIncarnation(s.dir); err == nil {
		if before.State == zerofs.StateStopped {
			s.life.Inherits = append([]string{before.ID}, before.Inherits...)
		}
	}
	return zerofs.WriteIncarnation(s.dir, s.life)
}

func (s *exportServer) end() error {
	s.gate.Lock() // and never again
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.exports {
		if err := e.flush(); err != nil {
			return err
		}
	}
	s.life.State, s.life.ExitCode = zerofs.StateStopped, new(0)
	return zerofs.WriteIncarnation(s.dir, s.life)
}

func (s *exportServer) export(name string) (*volatile, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := filepath.Join(s.dir, "exports", name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if s.exports[name] == nil {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil, 0, err
		}
		s.exports[name] = &volatile{file: f, dirty: map[int64][]byte{}}
	}
	return s.exports[name], uint64(info.Size()), nil
}

// volatile keeps blocks in memory until they are flushed.
type volatile struct {
	mu    sync.Mutex
	file  *os.File
	dirty map[int64][]byte
}

const serverBlock = 4096

func (v *volatile) read(p []byte, at int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, err := v.file.ReadAt(p, at); err != nil {
		return err
	}
	for i := 0; i < len(p); i += serverBlock {
		if block := v.dirty[at+int64(i)]; block != nil {
			copy(p[i:], block)
		}
	}
	return nil
}

func (v *volatile) write(p []byte, at int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := 0; i < len(p); i += serverBlock {
		v.dirty[at+int64(i)] = append([]byte(nil), p[i:i+serverBlock]...)
	}
}

// holdFile in a server's folder: while it is there, no flush is answered.
const holdFile = "hold"

func (v *volatile) flush() error {
	for hold := filepath.Join(filepath.Dir(filepath.Dir(v.file.Name())), holdFile); ; <-time.After(20 * time.Millisecond) {
		if _, err := os.Stat(hold); err != nil {
			break
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for at, block := range v.dirty {
		if _, err := v.file.WriteAt(block, at); err != nil {
			return err
		}
	}
	clear(v.dirty)
	return nil
}

// Numbers of the NBD protocol.
const (
	nbdOption     = 0x49484156454F5054
	nbdReply      = 0x3e889045565a9
	nbdRequest    = 0x25609513
	nbdSimple     = 0x67446698
	nbdFlags      = 1 | 4 | 8 | 32 | 256 // flush, FUA, trim, several connections
	nbdUnknown    = 1<<31 + 6
	nbdUnsupport  = 1<<31 + 1
	nbdInvalidErr = 22
)

func (s *exportServer) serve(conn net.Conn) error {
	if err := errors.Join(writeAll(conn, []byte("NBDMAGICIHAVEOPT"), uint16(3))); err != nil {
		return err
	}
	var flags uint32
	if err := binary.Read(conn, binary.BigEndian, &flags); err != nil {
		return err
	}
	for {
		var h struct {
			Magic          uint64
			Option, Length uint32
		}
		if err := binary.Read(conn, binary.BigEndian, &h); err != nil {
			return err
		}
		data := make([]byte, h.Length)
		if _, err := io.ReadFull(conn, data); err != nil {
			return err
		}
		reply := func(kind uint32, parts ...any) error {
			return writeAll(conn, append([]any{uint64(nbdReply), h.Option, kind, uint32(binary.Size(parts0(parts)))}, parts...)...)
		}
		if h.Magic != nbdOption || h.Option == 2 {
			return nil
		}
		if h.Option != 7 {
			if err := reply(nbdUnsupport); err != nil {
				return err
			}
			continue
		}
		name := string(data[4 : 4+binary.BigEndian.Uint32(data)])
		export, size, err := s.export(name)
		if err != nil {
			if err := reply(nbdUnknown); err != nil {
				return err
			}
			continue
		}
		info := binary.BigEndian.AppendUint16(nil, 0)
		info = binary.BigEndian.AppendUint64(info, size)
		info = binary.BigEndian.AppendUint16(info, nbdFlags)
		if err := errors.Join(reply(3, info), reply(1)); err != nil {
			return err
		}
		return s.transmit(conn, export)
	}
}

// parts0 is the one part of a reply, or none.
func parts0(parts []any) any {
	if len(parts) == 0 {
		return []byte{}
	}
	return parts[0]
}

func writeAll(w io.Writer, parts ...any) error {
	var out []byte
	for _, p := range parts {
		var err error
		if out, err = binary.Append(out, binary.BigEndian, p); err != nil {
			return err
		}
	}
	_, err := w.Write(out)
	return err
}

func (s *exportServer) transmit(conn net.Conn, export *volatile) error {
	for {
		var r request
		if err := binary.Read(conn, binary.BigEndian, &r); err != nil {
			return err
		}
		if r.Magic != nbdRequest {
			return fmt.Errorf("magic %x", r.Magic)
		}
		if r.Type == 2 {
			return nil
		}
		in := make([]byte, 0)
		if r.Type == 1 {
			in = make([]byte, r.Length)
			if _, err := io.ReadFull(conn, in); err != nil {
				return err
			}
		}
		if err := s.answer(conn, export, r, in); err != nil {
			return err
		}
	}
}

// request of the NBD protocol.
type request struct {
	Magic       uint32
	Flags, Type uint16
	Handle      uint64
	At          int64
	Length      uint32
}

func (s *exportServer) answer(conn net.Conn, export *volatile, r request, in []byte) error {
	s.gate.RLock()
	defer s.gate.RUnlock()
	var data []byte
	var err error
	switch r.Type {
	case 0:
		data = make([]byte, r.Length)
		err = export.read(data, r.At)
	case 1:
		export.write(in, r.At)
	case 3:
		err = export.flush()
	case 4:
		export.write(make([]byte, r.Length), r.At)
	}
	if r.Flags&1 != 0 {
		err = errors.Join(err, export.flush())
	}
	code := uint32(0)
	if err != nil {
		code, data = nbdInvalidErr, nil
	}
	return writeAll(conn, uint32(nbdSimple), code, r.Handle, data)
}

// server that the tests start and end.
type server struct {
	dir string
	cmd *exec.Cmd
}

func startServer(t *testing.T, dir string) *server {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "exports"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir}
	s.start(t)
	t.Cleanup(func() { s.kill(t) })
	return s
}

func (s *server) start(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before, _ := zerofs.ReadIncarnation(s.dir)
	s.cmd = exec.Command(self, "-test.run=^TestServerChild$")
	s.cmd.Env = append(os.Environ(), serverEnv+"="+s.dir)
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		if now, err := zerofs.ReadIncarnation(s.dir); err == nil && now.ID != before.ID {
			if conn, err := net.Dial("unix", filepath.Join(s.dir, zerofs.NBDSocket)); err == nil {
				_ = conn.Close()
				return
			}
		}
		<-tick.C
	}
	t.Fatal("the server did not start")
}

func (s *server) life(t *testing.T) string {
	t.Helper()
	i, err := zerofs.ReadIncarnation(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	return i.ID
}

// kill kills the server, which loses what was not flushed. Its record still has it running, as
// where the supervisor was killed too.
func (s *server) kill(t *testing.T) {
	t.Helper()
	s.finish(t, syscall.SIGKILL)
}

// stop stops the server cleanly.
func (s *server) stop(t *testing.T) {
	t.Helper()
	s.finish(t, syscall.SIGTERM)
}

func (s *server) finish(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if s.cmd == nil {
		return
	}
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Error(err)
	}
	_ = s.cmd.Wait()
	s.cmd = nil
}
