package meter

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// giveUp a connection in time: the kernel's own patience is a quarter of an hour.
func giveUp(_, _ string, c syscall.RawConn) error {
	var set error
	err := c.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(lostTime/time.Millisecond))
	})
	if err != nil {
		return err
	}
	return set
}
