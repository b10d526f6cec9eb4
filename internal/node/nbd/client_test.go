package nbd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	merovius "github.com/Merovius/nbd"
)

// fake is a driver whose devices are files in a folder, as in /sys.
type fake struct {
	root string
	// open are devices that another process has open, held those that stay open once they are
	// disconnected.
	open, held map[int]bool
	// change what is made of a device.
	change func(*State)

	connects, disconnects int
	// tried, when given, is called for each connect.
	tried func(connects int)
	// reconnected devices, as the caller gave them.
	reconnected []Device
}

func (f *fake) folder(index int) string { return filepath.Join(f.root, "sys/block", kernelName(index)) }

func (f *fake) connect(_ context.Context, d Device, o offer, s sockets) error {
	s.close()
	f.connects++
	if f.tried != nil {
		f.tried(f.connects)
	}
	if _, err := os.Stat(f.folder(d.Index)); err == nil || f.open[d.Index] {
		return &os.SyscallError{Syscall: "netlink", Err: syscall.EBUSY}
	}
	made := State{Index: d.Index, Bytes: o.Bytes, BlockSize: d.BlockSize, PID: 42, Identifier: d.Identifier}
	if f.change != nil {
		f.change(&made)
	}
	return f.make(made)
}

func (f *fake) reconfigure(_ context.Context, d Device, s sockets) error {
	s.close()
	f.reconnected = append(f.reconnected, d)
	if f.change == nil {
		return nil
	}
	all, err := readState(os.DirFS(f.folder(d.Index)), d.Index)
	f.change(&all)
	return errors.Join(err, f.make(all))
}

func (f *fake) make(s State) error {
	folder := f.folder(s.Index)
	err := os.MkdirAll(filepath.Join(folder, "queue"), 0o700)
	for name, value := range map[string]any{
		"pid": s.PID, "size": s.Bytes / 512, "queue/logical_block_size": s.BlockSize, "backend": s.Identifier, "queue/io_timeout": 30000,
	} {
		if name == "backend" && s.Identifier == "" {
			continue
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), fmt.Appendln(nil, value), 0o600))
	}
	return err
}

func (f *fake) disconnect(_ context.Context, index int) error {
	f.disconnects++
	if f.held[index] {
		return nil
	}
	return os.RemoveAll(f.folder(index))
}

func (f *fake) configured(context.Context) ([]int, error) {
	var all []int
	for index := 9; index >= 0; index-- {
		if _, err := os.Stat(f.folder(index)); err == nil || f.open[index] {
			all = append(all, index)
		}
	}
	return all, nil
}

func client(t *testing.T) (*Client, *fake) {
	t.Helper()
	f := &fake{root: t.TempDir(), open: map[int]bool{}, held: map[int]bool{}}
	return &Client{root: f.root, kernel: f, read: func(string) error { return nil }, greetPatience: greetPatience}, f
}

const sound = hasFlags | sendFlush | canMultiConn

// serve an export "pool-a" and return the device that it is for.
func serve(t *testing.T, bytes uint64, flags uint16) Device {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	d := sample(func(d *Device) { d.Socket = filepath.Join(t.TempDir(), "s") })
	go func() {
		ended <- merovius.ListenAndServe(ctx, "unix", d.Socket, merovius.Export{Name: d.Export, Size: bytes, Flags: flags})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	patiently(t.Context(), func() bool {
		conn, err := net.Dial("unix", d.Socket)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return d
}

func wants(t *testing.T, err, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, wanted %v", err, want)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

func TestAttach(t *testing.T) {
	c, f := client(t)
	d := serve(t, 1<<20, sound)
	d.Connections = 4
	for range 2 {
		path, err := c.Attach(t.Context(), d)
		wants(t, err, nil)
		if path != "/dev/nbd3" || f.connects != 1 {
			t.Errorf("%s after %d connects", path, f.connects)
		}
	}
	// Without a time-out of its own, what is under way is looked at more often.
	if got, err := os.ReadFile(filepath.Join(f.folder(3), "queue/io_timeout")); err != nil || string(got) != "10000" {
		t.Errorf("io_timeout is %q, %v", got, err)
	}
	all, err := c.Status(t.Context())
	want := State{Index: 3, Bytes: 1 << 20, BlockSize: 4096, PID: 42, Identifier: "pool-a@1"}
	if err != nil || len(all) != 1 || all[0] != want {
		t.Fatalf("%+v, %v", all, err)
	}

	other := d
	other.Identifier = "pool-a@2"
	_, err = c.Attach(t.Context(), other)
	wants(t, err, ErrInUse, `"pool-a@1"`, `"pool-a@2"`, "/dev/nbd3")
	wants(t, c.Disconnect(t.Context(), 3, "pool-a@2"), ErrInUse, `"pool-a@1"`, `"pool-a@2"`)
	other = d
	other.BlockSize = 512
	_, err = c.Attach(t.Context(), other)
	wants(t, err, ErrMismatch, "4096", "512")
	if f.connects != 1 || f.disconnects != 0 {
		t.Errorf("%d connects, %d disconnects", f.connects, f.disconnects)
	}
	for range 2 {
		wants(t, c.Disconnect(t.Context(), 3, "pool-a@1"), nil)
	}
	if f.disconnects != 1 {
		t.Errorf("%d disconnects", f.disconnects)
	}
}

func TestStatusOrder(t *testing.T) {
	c, f := client(t)
	f.open[5] = true
	for _, index := range []int{7, 1, 4} {
		wants(t, f.make(State{Index: index, Bytes: 512, BlockSize: 512, PID: 1}), nil)
	}
	all, err := c.Status(t.Context())
	if err != nil || len(all) != 3 || all[0].Index != 1 || all[1].Index != 4 || all[2].Index != 7 {
		t.Errorf("%+v, %v", all, err)
	}
	wants(t, os.WriteFile(filepath.Join(f.folder(4), "size"), []byte("many\n"), 0o600), nil)
	_, err = c.Status(t.Context())
	wants(t, err, strconv.ErrSyntax, "/dev/nbd4", "many")
}

func TestAttachWhatOthersHave(t *testing.T) {
	c, f := client(t)
	d := serve(t, 1<<20, sound)
	wants(t, f.make(State{Index: 3, Bytes: 512, BlockSize: 512, PID: 77}), nil)
	_, err := c.Attach(t.Context(), d)
	wants(t, err, ErrInUse, "process 77", `"pool-a@1"`)
	wants(t, c.Disconnect(t.Context(), 3, d.Identifier), ErrInUse, "process 77")
}

func TestAttachDead(t *testing.T) {
	c, f := client(t)
	d := serve(t, 1<<20, sound)
	_, err := c.Attach(t.Context(), d)
	wants(t, err, nil)
	c.read = func(path string) error {
		if path != filepath.Join(f.root, "dev/nbd3") {
			t.Errorf("read %s", path)
		}
		return fmt.Errorf("%w: %w", ErrDead, syscall.EIO)
	}
	_, err = c.Attach(t.Context(), d)
	wants(t, err, ErrDead, "/dev/nbd3")
	wants(t, err, syscall.EIO)
	if f.connects != 1 {
		t.Errorf("%d connects", f.connects)
	}
}

// What was made otherwise than asked for is taken back.
func TestAttachReadsBack(t *testing.T) {
	for name, change := range map[string]func(*State){
		"size":       func(s *State) { s.Bytes = 512 },
		"blocks":     func(s *State) { s.BlockSize = 512 },
		"identifier": func(s *State) { s.Identifier = "" },
	} {
		t.Run(name, func(t *testing.T) {
			c, f := client(t)
			f.change = change
			_, err := c.Attach(t.Context(), serve(t, 1<<20, sound))
			wants(t, err, ErrMismatch, "/dev/nbd3")
			if f.disconnects != 1 {
				t.Errorf("%d disconnects", f.disconnects)
			}
		})
	}
}

func TestAttachWaitsForThoseWhoLook(t *testing.T) {
	c, f := client(t)
	d := serve(t, 1<<20, sound)
	f.open[3] = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.tried = func(connects int) {
		if connects == 2 {
			cancel()
		}
	}
	_, err := c.Attach(ctx, d)
	wants(t, err, ErrHeld)
	if f.connects != 2 {
		t.Errorf("%d connects", f.connects)
	}
	delete(f.open, 3)
	_, err = c.Attach(t.Context(), d)
	wants(t, err, nil)
}

func TestDisconnectHeld(t *testing.T) {
	c, f := client(t)
	wants(t, f.make(State{Index: 3, Bytes: 512, BlockSize: 512, PID: 1, Identifier: "a"}), nil)
	f.held[3] = true
	ctx, cancel := context.WithTimeout(t.Context(), 2*heldInterval)
	defer cancel()
	wants(t, c.Disconnect(ctx, 3, "a"), ErrHeld, "/dev/nbd3")
}

func TestRefusedServers(t *testing.T) {
	c, f := client(t)
	d := serve(t, 1<<20, sound)
	d.Export = "missing"
	_, err := c.Attach(t.Context(), d)
	wants(t, err, ErrNoSuchExport, "missing", d.Socket)
	_, err = c.Attach(t.Context(), serve(t, 1<<20, hasFlags))
	wants(t, err, ErrUnfit)
	d.Socket += "-gone"
	_, err = c.Attach(t.Context(), d)
	wants(t, err, os.ErrNotExist)
	_, err = c.Attach(t.Context(), Device{Index: -1})
	wants(t, err, ErrInvalid)
	if f.connects != 0 {
		t.Errorf("%d connects", f.connects)
	}
}

// silent server, which takes connections and never speaks, as one that is stopped.
func silent(t *testing.T, path string) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	wants(t, err, nil)
	t.Cleanup(func() { _ = syscall.Close(socket) })
	wants(t, syscall.Bind(socket, &syscall.SockaddrUnix{Name: path}), nil)
	wants(t, syscall.Listen(socket, 8), nil)
	return path
}

// A server that is stopped takes connections and never speaks.
func TestHandshakeEndsWithContext(t *testing.T) {
	c, _ := client(t)
	d := serve(t, 1<<20, sound)
	d.Socket = silent(t, d.Socket+"-silent")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := c.Attach(ctx, d)
	wants(t, err, context.DeadlineExceeded)
	if time.Since(start) > 5*time.Second {
		t.Errorf("after %s", time.Since(start))
	}
}

// A device gets new connections only to a server that has everything written to it. The caller
// must have confirmed that, with the server already connected.
func TestReconnect(t *testing.T) {
	c, f := client(t)
	d := serve(t, 1<<20, sound)
	yes := func() error { return nil }
	wants(t, c.Reconnect(t.Context(), d, yes), ErrNotAttached, "/dev/nbd3")
	_, err := c.Attach(t.Context(), d)
	wants(t, err, nil)

	d.DeadConnTimeout = Forever
	wants(t, c.Reconnect(t.Context(), d, yes), nil)
	if len(f.reconnected) != 1 || f.reconnected[0] != d.withDefaults() {
		t.Errorf("reconnected %+v", f.reconnected)
	}
	larger := serve(t, 2<<20, sound)
	wants(t, c.Reconnect(t.Context(), larger, yes), nil)

	refusals := len(f.reconnected)
	smaller := serve(t, 1<<19, sound)
	wants(t, c.Reconnect(t.Context(), smaller, yes), ErrMismatch, "524288 bytes and had 1048576")
	other := d
	other.Identifier = "pool-a@2"
	wants(t, c.Reconnect(t.Context(), other, yes), ErrInUse, `"pool-a@1"`, `"pool-a@2"`)
	other = d
	other.Export = "missing"
	wants(t, c.Reconnect(t.Context(), other, yes), ErrNoSuchExport)
	wants(t, c.Reconnect(t.Context(), serve(t, 1<<20, hasFlags), yes), ErrUnfit)
	wants(t, c.Reconnect(t.Context(), Device{Index: -1}, yes), ErrInvalid)
	wants(t, c.Reconnect(t.Context(), d, func() error { return os.ErrPermission }), os.ErrPermission, "/dev/nbd3")
	if len(f.reconnected) != refusals {
		t.Errorf("the kernel was told %d times", len(f.reconnected))
	}

	f.change = func(s *State) { s.Bytes = 512 }
	wants(t, c.Reconnect(t.Context(), d, yes), ErrMismatch, "/dev/nbd3")
}

// A server that has one client lets another wait: what answers has its connection.
func TestReconnectConnected(t *testing.T) {
	c, f := client(t)
	c.greetPatience = 50 * time.Millisecond
	d := sample(func(d *Device) { d.Socket = silent(t, filepath.Join(t.TempDir(), "s")) })
	wants(t, f.make(State{Index: 3, Bytes: 1 << 20, BlockSize: 4096, PID: 1, Identifier: d.Identifier}), nil)
	yes := func() error { return nil }
	wants(t, c.Reconnect(t.Context(), d, yes), ErrConnected, "/dev/nbd3")
	c.read = func(string) error { return ErrDead }
	err := c.Reconnect(t.Context(), d, yes)
	wants(t, err, context.DeadlineExceeded)
	if errors.Is(err, ErrConnected) || len(f.reconnected) > 0 {
		t.Errorf("%v, reconnected %v", err, f.reconnected)
	}
}

// One answer with an error is not the death of a device.
func TestProbeAsksAgain(t *testing.T) {
	c, _ := client(t)
	answers := []error{ErrDead, nil, ErrDead, ErrDead, os.ErrPermission}
	c.read = func(string) error {
		defer func() { answers = answers[1:] }()
		return answers[0]
	}
	for _, want := range []error{nil, ErrDead, os.ErrPermission} {
		wants(t, c.Probe(t.Context(), 3), want)
	}
}

func TestProbe(t *testing.T) {
	c, _ := client(t)
	var reads atomic.Int32
	release := make(chan struct{})
	c.read = func(string) error {
		reads.Add(1)
		<-release
		return nil
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		wants(t, c.Probe(ctx, 3), context.DeadlineExceeded, "/dev/nbd3")
		cancel()
	}
	if n := reads.Load(); n != 1 {
		t.Errorf("%d reads wait in the kernel", n)
	}
	close(release)
	wants(t, c.Probe(t.Context(), 3), nil)
	wants(t, c.Probe(t.Context(), -1), ErrInvalid)
}

func TestReadDirect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "disk")
	wants(t, readDirect(path), os.ErrNotExist)
	wants(t, os.WriteFile(path, make([]byte, 8192), 0o600), nil)
	if err := readDirect(path); err != nil && !errors.Is(err, syscall.EINVAL) { // tmpfs has no direct reads before Linux 6.6
		t.Error(err)
	}
}
