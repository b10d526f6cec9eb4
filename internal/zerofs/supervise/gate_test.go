//go:build zerofs && linux

package supervise_test

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// gate before a store, which the network to it can fail at.
type gate struct {
	address, store string

	mu       sync.Mutex
	listener *net.TCPListener
	open     map[net.Conn]struct{}
	slams    bool
	// halted until it is closed; nil: not.
	halted  chan struct{}
	fillers []net.Conn
}

func newGate(t *testing.T, store string) *gate {
	t.Helper()
	g := &gate{address: "127.0.0.1:0", store: store}
	if err := g.lift(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.shut() })
	return g
}

// lift lets connections in again, after shut.
func (g *gate) lift() error {
	l, err := net.Listen("tcp", g.address)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.address, g.listener, g.open = l.Addr().String(), l.(*net.TCPListener), map[net.Conn]struct{}{}
	go g.accept(l)
	return nil
}

func (g *gate) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		g.wait()
		go g.pass(c)
	}
}

// shut ends all connections, and the kernel refuses others.
func (g *gate) shut() {
	g.mu.Lock()
	_ = g.listener.Close()
	g.mu.Unlock()
	g.cut()
}

// slam ends each connection as soon as there is one.
func (g *gate) slam(slams bool) {
	g.mu.Lock()
	g.slams = slams
	g.mu.Unlock()
	g.cut()
}

func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.open {
		_ = c.Close()
	}
	clear(g.open)
}

// drop packets: those of connections, and those that ask for one, since the queue of
// the port is full.
func (g *gate) drop() error {
	g.mu.Lock()
	g.halted = make(chan struct{})
	g.mu.Unlock()
	if err := g.queue(0); err != nil {
		return err
	}
	for range 10 {
		c, err := net.DialTimeout("tcp", g.address, time.Second/2)
		if err != nil {
			return nil
		}
		g.fillers = append(g.fillers, c)
	}
	return errors.New("the queue of the port is never full")
}

// queue of connections that the kernel makes before they are accepted.
func (g *gate) queue(length int) error {
	raw, err := g.listener.SyscallConn()
	if err != nil {
		return err
	}
	var listen error
	err = raw.Control(func(fd uintptr) { listen = unix.Listen(int(fd), length) })
	return errors.Join(err, listen)
}

// undrop lets packets through again.
func (g *gate) undrop() error {
	g.mu.Lock()
	close(g.halted)
	g.halted = nil
	g.mu.Unlock()
	for _, c := range g.fillers {
		_ = c.Close()
	}
	return g.queue(unix.SOMAXCONN)
}

func (g *gate) wait() {
	g.mu.Lock()
	halted := g.halted
	g.mu.Unlock()
	if halted != nil {
		<-halted
	}
}

func (g *gate) keep(conns ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		g.open[c] = struct{}{}
	}
	return !g.slams
}

func (g *gate) pass(client net.Conn) {
	defer client.Close() //nolint:errcheck // relayed
	store, err := net.Dial("tcp", g.store)
	if err != nil {
		return
	}
	defer store.Close() //nolint:errcheck // relayed
	if !g.keep(client, store) {
		return
	}
	go func() { g.relay(store, client); _ = store.Close() }()
	g.relay(client, store)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, client)
	delete(g.open, store)
}

func (g *gate) relay(to io.Writer, from io.Reader) {
	part := make([]byte, 64<<10)
	for {
		n, err := from.Read(part)
		g.wait()
		if _, failed := to.Write(part[:n]); err != nil || failed != nil {
			return
		}
	}
}
