package watch

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

// accepting listens at a port of this machine until the test ends, and serves each
// connection in a goroutine.
func accepting(t *testing.T, serve func(net.Conn)) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var open sync.Map
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(c, nil)
			all.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Range(func(c, _ any) bool {
			_ = c.(net.Conn).Close()
			return true
		})
		all.Wait()
	})
	return portOf(t, l)
}

// fakeSilentServer accepts connections, reads what it is sent, and says nothing.
func fakeSilentServer(t *testing.T) uint16 {
	t.Helper()
	return accepting(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
}

func TestASilentServerTimesOut(t *testing.T) {
	a := newAuthority(t)
	asking := opened(t, Member{Name: "south", Host: "localhost", Port: fakeSilentServer(t)}, mounted(t, a.client(t), a.pem()))
	began := time.Now()
	got, err := asking.ask(t.Context())
	if err == nil || got.Problem != report.TimedOut || time.Since(began) > patience+10*time.Second {
		t.Errorf("got %+v %v after %s", got, err, time.Since(began))
	}
}

// fakeFrozenNetwork forwards to a real server until it freezes: then packets vanish.
type fakeFrozenNetwork struct {
	mu     sync.Mutex
	frozen bool
}

func (f *fakeFrozenNetwork) set(frozen bool) {
	f.mu.Lock()
	f.frozen = frozen
	f.mu.Unlock()
}

func (f *fakeFrozenNetwork) copy(to io.Writer, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		f.mu.Lock()
		frozen := f.frozen
		f.mu.Unlock()
		if !frozen && n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (f *fakeFrozenNetwork) listen(t *testing.T, address string) uint16 {
	t.Helper()
	return accepting(t, func(c net.Conn) {
		server, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		go func() {
			f.copy(c, server)
			_ = c.Close()
		}()
		f.copy(server, c)
		_ = server.Close()
	})
}

// A network that loses every packet costs one attempt, within its time.
func TestAFrozenNetworkTimesOut(t *testing.T) {
	s := started(t)
	network := &fakeFrozenNetwork{}
	member := s.south()
	member.Port = network.listen(t, net.JoinHostPort("127.0.0.1", portText(s.port)))
	asking := opened(t, member, mounted(t, s.authority.client(t), s.authority.pem()))
	answered(t, asking)
	network.set(true)
	began := time.Now()
	got, err := asking.ask(t.Context())
	if err == nil || got.Problem != report.TimedOut || time.Since(began) > patience+10*time.Second {
		t.Errorf("got %+v %v after %s", got, err, time.Since(began))
	}
	network.set(false)
	answered(t, asking)
}

// fakeHostileServer has a certificate that is trusted, and lets everyone in. Then it answers
// each question as the test says.
func fakeHostileServer(t *testing.T, a *authority, answers func(*pgproto3.Backend, net.Conn)) uint16 {
	t.Helper()
	own := a.issue(t, "shop-rw", a.certificate.NotAfter, "localhost")
	pair, err := tls.X509KeyPair(own.certificate, own.key)
	if err != nil {
		t.Fatal(err)
	}
	return accepting(t, func(c net.Conn) {
		defer c.Close() //nolint:errcheck // the test has what it came for
		if _, err := io.ReadFull(c, make([]byte, 8)); err != nil {
			return
		}
		if _, err := c.Write([]byte("S")); err != nil {
			return
		}
		secured := tls.Server(c, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}})
		backend := pgproto3.NewBackend(secured, secured)
		if _, err := backend.ReceiveStartupMessage(); err != nil {
			return
		}
		answers(backend, secured)
	})
}

// welcome a client, and wait for the end of its question.
func welcome(b *pgproto3.Backend) error {
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{1, 2, 3, 4}})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := b.Flush(); err != nil {
		return err
	}
	for {
		m, err := b.Receive()
		if err != nil {
			return err
		}
		if _, ok := m.(*pgproto3.Sync); ok {
			return nil
		}
	}
}

// row of text as the answer to the question.
func row(values ...string) func(*pgproto3.Backend, net.Conn) {
	// OIDs of boolean, bigint, text and double precision.
	types := []uint32{16, 20, 20, 25, 25, 25, 25, 701}
	return func(b *pgproto3.Backend, _ net.Conn) {
		if welcome(b) != nil {
			return
		}
		var fields []pgproto3.FieldDescription
		var data [][]byte
		for i, v := range values {
			fields = append(fields, pgproto3.FieldDescription{Name: []byte("f"), DataTypeOID: types[i%len(types)], DataTypeSize: -1, TypeModifier: -1})
			data = append(data, []byte(v))
		}
		b.Send(&pgproto3.ParseComplete{})
		b.Send(&pgproto3.BindComplete{})
		b.Send(&pgproto3.RowDescription{Fields: fields})
		b.Send(&pgproto3.DataRow{Values: data})
		b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
		b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		_ = b.Flush()
		_, _ = b.Receive() // the client ends the session
	}
}

const walFile = "000000010000000000000001"

func TestHostileServersAreNotUnderstood(t *testing.T) {
	for name, c := range map[string]struct {
		answers func(*pgproto3.Backend, net.Conn)
		want    report.Problem
	}{
		"a fair answer":      {row("f", "7", "0", walFile, "north", "5f", "2", "1795702958.5"), ""},
		"too few fields":     {row("f", "7"), report.NotUnderstood},
		"too many fields":    {row("f", "7", "0", walFile, "north", "5f", "2", "1795702958", "t"), report.NotUnderstood},
		"another type":       {row("perhaps", "7", "0", walFile, "north", "5f", "2", "1795702958"), report.NotUnderstood},
		"a long setting":     {row("f", "7", "0", walFile, strings.Repeat("n", 60000), "5f", "2", "1795702958"), report.NotUnderstood},
		"a setting of lines": {row("f", "7", "0", walFile, "north\nReady", "5f", "2", "1795702958"), report.NotUnderstood},
		"no clock":           {row("f", "7", "0", walFile, "north", "5f", "2", "Infinity"), report.NotUnderstood},
		"no row": {func(b *pgproto3.Backend, _ net.Conn) {
			if welcome(b) == nil {
				b.Send(&pgproto3.ParseComplete{})
				b.Send(&pgproto3.BindComplete{})
				b.Send(&pgproto3.NoData{})
				b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 0")})
				b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
				_ = b.Flush()
				_, _ = b.Receive()
			}
		}, report.NotUnderstood},
		"a message of a gigabyte": {func(b *pgproto3.Backend, c net.Conn) {
			if welcome(b) == nil {
				_, _ = c.Write(binary.BigEndian.AppendUint32([]byte{'D'}, 1<<30))
				_, _ = b.Receive()
			}
		}, report.NotUnderstood},
		"a message of negative length": {func(b *pgproto3.Backend, c net.Conn) {
			if welcome(b) == nil {
				_, _ = c.Write(binary.BigEndian.AppendUint32([]byte{'D'}, math.MaxUint32))
				_, _ = b.Receive()
			}
		}, report.NotUnderstood},
		"notices without end": {func(b *pgproto3.Backend, _ net.Conn) {
			for err := welcome(b); err == nil; err = b.Flush() {
				b.Send(&pgproto3.NoticeResponse{Severity: "NOTICE", Code: "00000", Message: strings.Repeat("n", 1000)})
			}
		}, report.TimedOut},
		"a password": {func(b *pgproto3.Backend, _ net.Conn) {
			b.Send(&pgproto3.AuthenticationCleartextPassword{})
			if b.Flush() != nil || b.SetAuthType(pgproto3.AuthTypeCleartextPassword) != nil {
				return
			}
			m, err := b.Receive()
			if p, ok := m.(*pgproto3.PasswordMessage); err != nil || !ok || p.Password != "" {
				t.Errorf("a password was sent: %v %v", m, err)
			}
			b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "password authentication failed"})
			_ = b.Flush()
		}, report.AuthenticationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PGPASSWORD", "of another database")
			a := newAuthority(t)
			asking := opened(t, Member{Name: "south", Host: "localhost", Port: fakeHostileServer(t, a, c.answers)}, mounted(t, a.client(t), a.pem()))
			got, err := asking.ask(t.Context())
			if got.Problem != c.want || got.Answered != (err == nil) || got.Validate() != nil {
				t.Errorf("got %+v %v", got, err)
			}
		})
	}
}

// A proxy without TLS is not asked anything.
func TestAServerWithoutTLSIsRefused(t *testing.T) {
	a := newAuthority(t)
	port := accepting(t, func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, 8)); err == nil {
			_, _ = c.Write([]byte("N"))
		}
		if n, err := io.Copy(io.Discard, c); n > 0 {
			t.Errorf("%d bytes without TLS, %v", n, err)
		}
	})
	got, err := opened(t, Member{Name: "south", Host: "localhost", Port: port}, mounted(t, a.client(t), a.pem())).ask(t.Context())
	if err == nil || got.Problem != report.TLSFailed {
		t.Errorf("got %+v %v", got, err)
	}
}

func TestAnAttemptEndsWithTheWatcher(t *testing.T) {
	a := newAuthority(t)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("SIGTERM"))
	got, err := opened(t, Member{Name: "south", Host: "localhost", Port: fakeSilentServer(t)}, mounted(t, a.client(t), a.pem())).ask(ctx)
	if err == nil || got.Answered {
		t.Errorf("got %+v %v", got, err)
	}
}
