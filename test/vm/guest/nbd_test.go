//go:build guest

package guest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	merovius "github.com/Merovius/nbd"
	"github.com/Merovius/nbd/nbdnl"

	"github.com/pgstorage/pgstorage/internal/node/nbd"
)

const (
	nbdServerEnv    = "PGSTORAGE_NBD_SERVER"
	nbdNamespaceEnv = "PGSTORAGE_NBD_NAMESPACE"

	nbdBytes = 64 << 20
	// promptly is far less than any time-out that a device of these tests has.
	promptly = 90 * time.Second
)

// nbdServer is a server in memory, in a process of its own.
type nbdServer struct {
	// Socket it listens on, and the flags of its exports "a" and "b".
	Socket string
	Flags  nbdnl.ServerFlags

	process *os.Process
}

const sound = nbdnl.FlagHasFlags | nbdnl.FlagSendFlush | nbdnl.FlagCanMulticonn

// TestNBDServer is that process. It does nothing without a job from the tests below.
func TestNBDServer(t *testing.T) {
	text := os.Getenv(nbdServerEnv)
	if text == "" {
		return
	}
	var s nbdServer
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(s.Socket)
	var exports []merovius.Export
	for _, name := range []string{"a", "b"} {
		exports = append(exports, merovius.Export{Name: name, Size: nbdBytes, Flags: uint16(s.Flags), Device: &ram{data: make([]byte, nbdBytes)}})
	}
	t.Fatal(merovius.ListenAndServe(t.Context(), "unix", s.Socket, exports...))
}

// ram is a disk in memory that several connections share.
type ram struct {
	mu   sync.Mutex
	data []byte
}

func (r *ram) ReadAt(p []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return copy(p, r.data[at:]), nil
}

func (r *ram) WriteAt(p []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return copy(r.data[at:], p), nil
}

func (r *ram) Sync() error { return nil }

// serveNBD starts a server and waits until it answers.
func serveNBD(t *testing.T, flags nbdnl.ServerFlags) *nbdServer {
	t.Helper()
	s := &nbdServer{Socket: filepath.Join(t.TempDir(), "nbd"), Flags: flags}
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func (s *nbdServer) start(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestNBDServer$")
	cmd.Env = append(os.Environ(), nbdServerEnv+"="+string(text))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.process = cmd.Process
	wait(t, "the server answers", func() bool {
		conn, err := net.Dial("unix", s.Socket)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

func (s *nbdServer) kill() {
	_ = s.process.Kill()
	_, _ = s.process.Wait()
}

// signalled sends a child a signal. For a signal that halts the child it returns once the child
// is halted. Another processor may still answer while the signal is on its way.
func signalled(t *testing.T, child *os.Process, signal syscall.Signal) {
	t.Helper()
	if err := child.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if signal != syscall.SIGSTOP {
		return
	}
	var now syscall.WaitStatus
	if _, err := syscall.Wait4(child.Pid, &now, syscall.WUNTRACED, nil); err != nil || !now.Stopped() {
		t.Fatalf("the process is not stopped: %#x, %v", now, err)
	}
}

// sockets that the server has open.
func (s *nbdServer) sockets(t *testing.T) int {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/fd", s.process.Pid)
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range all {
		if to, err := os.Readlink(filepath.Join(folder, f.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// device of export a, with defaults and a time-out that no test waits for.
func (s *nbdServer) device(index int, identifier string) nbd.Device {
	return nbd.Device{Index: index, Export: "a", Socket: s.Socket, Identifier: identifier, Timeout: 10 * time.Minute}
}

func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatal("never: " + what)
		case <-tick.C:
		}
	}
}

// attach a device that is disconnected when the test ends, whatever its server does.
func attach(t *testing.T, c *nbd.Client, d nbd.Device) string {
	t.Helper()
	path, err := c.Attach(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), promptly)
		defer cancel()
		_ = c.Disconnect(ctx, d.Index, d.Identifier)
	})
	// udev reads a new device. A read of it under way when the server dies would wait
	// for the time-out, and with it the lseek of any other process.
	settle(t)
	return path
}

// attachedAs wants the one attached device to be of this identifier.
func attachedAs(t *testing.T, c *nbd.Client, index int, identifier string) nbd.State {
	t.Helper()
	all, err := c.Status(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if s := all[0]; s.PID == 0 || s != (nbd.State{Index: index, Bytes: nbdBytes, BlockSize: 4096, PID: s.PID, Identifier: identifier}) {
		t.Fatalf("%+v", s)
	}
	return all[0]
}

func noneAttached(t *testing.T, c *nbd.Client) {
	t.Helper()
	if all, err := c.Status(t.Context()); err != nil || len(all) > 0 {
		t.Fatalf("%+v, %v", all, err)
	}
}

func wantError(t *testing.T, err, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

// reading starts a direct read of a device's first block.
func reading(t *testing.T, path string) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		out, err := exec.Command("dd", "if="+path, "of=/dev/null", "bs=4096", "count=1", "iflag=direct").CombinedOutput()
		if err != nil {
			err = errors.New(string(out))
		}
		ended <- err
	}()
	return ended
}

// endsWithin waits until a read ends, with an error that contains a text, or without an error.
func endsWithin(t *testing.T, read <-chan error, limit time.Duration, says string) {
	t.Helper()
	select {
	case err := <-read:
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Fatalf("the read ended with %v, want %q", err, says)
		}
	case <-time.After(limit):
		t.Fatalf("no end of the read within %s", limit)
	}
}

const ioError = "Input/output error"

func TestNBDDeviceIsAttachedOnce(t *testing.T) {
	s, c := serveNBD(t, sound), nbd.New("")
	noneAttached(t, c)
	path := attach(t, c, s.device(3, "a@1"))
	if path != "/dev/nbd3" {
		t.Error(path)
	}
	first := attachedAs(t, c, 3, "a@1")

	data := bytes.Repeat([]byte("pgstorage"), 8192)[:8192]
	if err := os.WriteFile("/tmp/nbd.in", data, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "dd", "if=/tmp/nbd.in", "of="+path, "bs=4096", "seek=1000", "oflag=direct", "conv=fsync")
	run(t, "dd", "if="+path, "of=/tmp/nbd.out", "bs=4096", "skip=1000", "count=2", "iflag=direct")
	if got, err := os.ReadFile("/tmp/nbd.out"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%.20q..., %v", got, err)
	}
	if got := run(t, "cat", "/sys/block/nbd3/queue/write_cache"); got != "write back" {
		t.Errorf("the kernel does not flush: %s", got)
	}

	attach(t, c, s.device(3, "a@1"))
	if again := attachedAs(t, c, 3, "a@1"); again != first {
		t.Errorf("%+v became %+v", first, again)
	}
	_, err := c.Attach(t.Context(), s.device(3, "a@2"))
	wantError(t, err, nbd.ErrInUse, `"a@1"`, `"a@2"`, "/dev/nbd3")
	wantError(t, c.Disconnect(t.Context(), 3, "a@2"), nbd.ErrInUse, `"a@1"`, `"a@2"`)
	attachedAs(t, c, 3, "a@1")

	for range 2 {
		wantError(t, c.Disconnect(t.Context(), 3, "a@1"), nil)
		noneAttached(t, c)
	}
	// The same index, another export.
	b := s.device(3, "b@1")
	b.Export = "b"
	attach(t, c, b)
	attachedAs(t, c, 3, "b@1")
}

// The device is beyond those that the module created when it was loaded.
func TestNBDDeviceBeyondTheFirstIsCreated(t *testing.T) {
	s, c := serveNBD(t, sound), nbd.New("")
	path := attach(t, c, s.device(40, "a@1"))
	attachedAs(t, c, 40, "a@1")
	settle(t)
	endsWithin(t, reading(t, path), promptly, "")
}

func TestNBDUnsuitableServersAreRefused(t *testing.T) {
	c := nbd.New("")
	s := serveNBD(t, nbdnl.FlagHasFlags|nbdnl.FlagSendFlush)
	d := s.device(3, "a@1")
	d.Connections = 2
	_, err := c.Attach(t.Context(), d)
	wantError(t, err, nbd.ErrUnfit, "one connection")
	d = s.device(3, "a@1")
	d.Export = "missing"
	_, err = c.Attach(t.Context(), d)
	wantError(t, err, nbd.ErrNoSuchExport, "missing")
	_, err = c.Attach(t.Context(), serveNBD(t, nbdnl.FlagHasFlags).device(3, "a@1"))
	wantError(t, err, nbd.ErrUnfit, "flushed")
	noneAttached(t, c)
}

// A successor of the server never gets the device of the former one.
func TestNBDSuccessorDoesNotGetTheDevice(t *testing.T) {
	s, c := serveNBD(t, sound), nbd.New("")
	path := attach(t, c, s.device(3, "a@1"))
	wantError(t, c.Probe(t.Context(), 3), nil)
	s.kill()
	endsWithin(t, reading(t, path), promptly, ioError)
	wantError(t, c.Probe(t.Context(), 3), nbd.ErrDead, "/dev/nbd3")
	attachedAs(t, c, 3, "a@1") // the kernel does not say

	s.start(t)
	endsWithin(t, reading(t, path), promptly, ioError)
	_, err := c.Attach(t.Context(), s.device(3, "a@1"))
	wantError(t, err, nbd.ErrDead)
	_, err = c.Attach(t.Context(), s.device(3, "a@2"))
	wantError(t, err, nbd.ErrInUse, `"a@1"`)
	wantError(t, c.Disconnect(t.Context(), 3, "a@1"), nil)
	attach(t, c, s.device(3, "a@2"))
	attachedAs(t, c, 3, "a@2")
	wantError(t, c.Probe(t.Context(), 3), nil)
}

// A device that waits indefinitely for a connection continues with a new connection. This holds
// for a request that comes while it has none, and for one that was under way before.
func TestNBDRequestsContinueAfterAReconnect(t *testing.T) {
	s, c := serveNBD(t, sound), nbd.New("")
	d := s.device(3, "a@1")
	d.Timeout, d.DeadConnTimeout = 0, nbd.Forever
	path := attach(t, c, d)
	before := attachedAs(t, c, 3, "a@1")
	yes := func() error { return nil }

	signalled(t, s.process, syscall.SIGSTOP)
	old := reading(t, path)
	wait(t, "the read is under way", func() bool {
		return strings.Fields(run(t, "cat", "/sys/block/nbd3/inflight"))[0] != "0"
	})
	s.kill()
	late := reading(t, path)
	select {
	case err := <-old:
		t.Fatalf("the read that was under way ended: %v", err)
	case err := <-late:
		t.Fatalf("the read without a connection ended: %v", err)
	case <-time.After(12 * time.Second): // longer than the kernel looks at what waits
	}
	s.start(t)
	wantError(t, c.Reconnect(t.Context(), s.device(3, "a@2"), yes), nbd.ErrInUse, `"a@1"`, `"a@2"`)
	wantError(t, c.Reconnect(t.Context(), d, func() error { return os.ErrPermission }), os.ErrPermission)
	wantError(t, c.Reconnect(t.Context(), d, yes), nil)
	endsWithin(t, late, promptly, "")
	endsWithin(t, old, 2*promptly, "") // the kernel sends it again within 10 s
	if again := attachedAs(t, c, 3, "a@1"); again != before {
		t.Errorf("%+v became %+v", before, again)
	}
	// A connected device stays connected; the server has its connection and its listener.
	wantError(t, c.Reconnect(t.Context(), d, yes), nil)
	endsWithin(t, reading(t, path), promptly, "")
	wait(t, "the server has lost the connection that was not needed", func() bool { return s.sockets(t) == 2 })

	s.kill()
	waits := reading(t, path)
	select {
	case err := <-waits:
		t.Fatalf("the read without a connection ended: %v", err)
	case <-time.After(3 * time.Second):
	}
	wantError(t, c.Disconnect(t.Context(), 3, "a@1"), nil)
	endsWithin(t, waits, promptly, ioError)
	wantError(t, c.Reconnect(t.Context(), d, yes), nbd.ErrNotAttached)
}

// Requests under way when a server stalls continue once it answers again.
func TestNBDRequestsContinueAfterAStall(t *testing.T) {
	s, c := serveNBD(t, sound), nbd.New("")
	d := s.device(3, "a@1")
	path := attach(t, c, d)
	signalled(t, s.process, syscall.SIGSTOP)
	read := reading(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	wantError(t, c.Probe(ctx, 3), context.DeadlineExceeded)
	select {
	case err := <-read:
		t.Fatalf("a stopped server answered: %v", err)
	default:
	}
	signalled(t, s.process, syscall.SIGCONT)
	endsWithin(t, read, promptly, "")
	wantError(t, c.Probe(t.Context(), 3), nil)
}

// Without a disconnect, requests under way when a stalled server dies would wait for the
// time-out.
func TestNBDDisconnectEndsRequests(t *testing.T) {
	s, c := serveNBD(t, sound), nbd.New("")
	path := attach(t, c, s.device(3, "a@1"))
	signalled(t, s.process, syscall.SIGSTOP)
	read := reading(t, path)
	wait(t, "the read is under way", func() bool {
		return strings.Fields(run(t, "cat", "/sys/block/nbd3/inflight"))[0] != "0"
	})
	s.kill()
	select {
	case err := <-read:
		t.Logf("the read ended by itself: %v", err)
	case <-time.After(3 * time.Second):
		t.Log("the read waits")
		wantError(t, c.Disconnect(t.Context(), 3, "a@1"), nil)
		endsWithin(t, read, promptly, ioError)
	}
}

func TestNBDRequestsFailAfterTheTimeoutOfEachConnection(t *testing.T) {
	for name, connections := range map[string]int{"one connection": 1, "three connections": 3} {
		t.Run(name, func(t *testing.T) {
			s, c := serveNBD(t, sound), nbd.New("")
			d := s.device(3, "a@1")
			d.Timeout, d.Connections = 2*time.Second, connections
			path := attach(t, c, d)
			signalled(t, s.process, syscall.SIGSTOP)
			start := time.Now()
			// The kernel tries each connection in turn, and is late by up to a second.
			endsWithin(t, reading(t, path), promptly, ioError)
			t.Logf("EIO after %s", time.Since(start).Round(time.Millisecond))
			if least := time.Duration(connections) * d.Timeout; time.Since(start) < least {
				t.Errorf("EIO before %s", least)
			}
			signalled(t, s.process, syscall.SIGCONT)
			wantError(t, c.Probe(t.Context(), 3), nbd.ErrDead)
		})
	}
}

func TestNBDDeviceHasTheDeclaredConnections(t *testing.T) {
	s, c := serveNBD(t, sound), nbd.New("")
	d := s.device(3, "a@1")
	d.Connections = 4
	path := attach(t, c, d)
	attachedAs(t, c, 3, "a@1")
	// The listener is one more.
	if n := s.sockets(t); n != 1+d.Connections {
		t.Errorf("the server has %d sockets", n)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := <-reading(t, path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.kill()
	endsWithin(t, reading(t, path), promptly, ioError)
	wantError(t, c.Probe(t.Context(), 3), nbd.ErrDead)
}

// An open device, as in an imported pool, keeps its index after Disconnect.
func TestNBDDisconnectedDeviceInUseKeepsItsIndex(t *testing.T) {
	s, c := serveNBD(t, sound), nbd.New("")
	path := attach(t, c, s.device(3, "a@1"))
	holder, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, c.Disconnect(t.Context(), 3, "a@1"), nbd.ErrHeld, "/dev/nbd3")
	_, err = c.Attach(t.Context(), s.device(3, "a@1"))
	wantError(t, err, nbd.ErrDead)
	_, err = c.Attach(t.Context(), s.device(3, "a@2"))
	wantError(t, err, nbd.ErrInUse)
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, c.Disconnect(t.Context(), 3, "a@1"), nil)
	noneAttached(t, c)
	attach(t, c, s.device(3, "a@2"))
}

// An open device without a connection is not attached.
func TestNBDOpenDeviceIsNotTaken(t *testing.T) {
	s, c := serveNBD(t, sound), nbd.New("")
	holder, err := os.Open("/dev/nbd3")
	if err != nil {
		t.Fatal(err)
	}
	noneAttached(t, c)
	_, err = c.Attach(t.Context(), s.device(3, "a@1"))
	wantError(t, err, nbd.ErrHeld)
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	attach(t, c, s.device(3, "a@1"))
}

// A pod has a network namespace of its own, in which the driver does not answer.
func TestNBDWorksInAnotherNetworkNamespace(t *testing.T) {
	if socket := os.Getenv(nbdNamespaceEnv); socket != "" {
		fromAnotherNamespace(t, socket)
		return
	}
	s := serveNBD(t, sound)
	cmd := exec.Command("unshare", "--net", os.Args[0], "-test.v", "-test.run=^TestNBDWorksInAnotherNetworkNamespace$")
	cmd.Env = append(os.Environ(), nbdNamespaceEnv+"="+s.Socket)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, strings.ReplaceAll(string(out), "--- ", "... "))
	}
}

func fromAnotherNamespace(t *testing.T, socket string) {
	s := &nbdServer{Socket: socket}
	_, err := nbd.New("").Status(t.Context())
	wantError(t, err, nbd.ErrNotLoaded)
	c := nbd.New("/")
	attach(t, c, s.device(3, "a@1"))
	attachedAs(t, c, 3, "a@1")
	wantError(t, c.Probe(t.Context(), 3), nil)
	wantError(t, c.Disconnect(t.Context(), 3, "a@1"), nil)
	noneAttached(t, c)
}
