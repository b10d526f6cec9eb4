package relay

import (
	"bufio"
	"errors"
	"io"
	"net"
	"time"
)

const (
	// greetTime for a client's part of the handshake.
	greetTime = time.Minute
	readAhead = 256 << 10
)

// client is the kernel's connection for one device.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  *outbox
}

func (c *client) answer(r *request, code uint32, data []byte) {
	reply := encodeReply(r.cookie, code)
	if len(data) > 0 {
		c.out.put(reply, data)
		return
	}
	c.out.put(reply)
}

// read requests until the client disconnects, or the relay stops reading. It reads as
// many as the kernel has tags, whether there is room to keep them or not. A sender that
// waits in the kernel holds a lock that a disconnection of the device needs.
func (c *client) read(e *export) error {
	for {
		h, err := readHeader(c.in)
		if err != nil {
			return err
		}
		if h.op == opDisconnect {
			return nil
		}
		r := &request{header: h, client: c}
		if h.op == opWrite {
			if h.length > maxLength {
				return errors.New("a write is longer than the protocol allows")
			}
			r.data = make([]byte, h.length)
			if _, err := io.ReadFull(c.in, r.data); err != nil {
				return err
			}
		}
		if !h.fits(e.size.Load()) {
			c.answer(r, errInvalid, nil)
			continue
		}
		e.post(func() { e.arrive(r) })
	}
}
