package meter

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The meter abandons a store whose packets are lost, as ZeroFS does itself.
func TestLostConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	conn, err := transport(nil).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[int]time.Duration{
		unix.TCP_USER_TIMEOUT: lostTime / time.Millisecond, unix.TCP_KEEPIDLE: keepAlive / time.Second,
		unix.TCP_KEEPINTVL: keepAlive / time.Second, unix.TCP_KEEPCNT: keepAliveProbes,
	} {
		var got int
		var failed error
		if err := raw.Control(func(fd uintptr) { got, failed = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option) }); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		if got != int(want) {
			t.Errorf("option %d is %d, wanted %d", option, got, want)
		}
	}
}
