//go:build linux

package ledger

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
)

// Host keeps the facts: a line for each, over TCP.
type Host struct {
	conn  net.Conn
	lines *bufio.Reader
}

// Dial the host of a virtual machine.
func Dial(ctx context.Context, address string) (*Host, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &Host{conn: conn, lines: bufio.NewReader(conn)}, nil
}

// Send sends a line. It ignores errors: a host that cannot read the line reports its own.
func (h *Host) Send(format string, args ...any) {
	if h != nil {
		_, _ = fmt.Fprintf(h.conn, format+"\n", args...)
	}
}

// Ask a question and wait for its answer, a line.
func (h *Host) Ask(question string) (string, error) {
	h.Send("%s", question)
	line, err := h.lines.ReadString('\n')
	return strings.TrimSpace(line), err
}
