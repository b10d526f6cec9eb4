//go:build guest

package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
)

// host is the one who remembers: a line for each fact, over TCP.
type host struct {
	conn  net.Conn
	lines *bufio.Reader
}

func dial(ctx context.Context, address string) (*host, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &host{conn: conn, lines: bufio.NewReader(conn)}, nil
}

// tell does not look for errors: a host that does not hear has its own.
func (h *host) tell(format string, args ...any) {
	if h != nil {
		_, _ = fmt.Fprintf(h.conn, format+"\n", args...)
	}
}

func (h *host) ask(question string) (string, error) {
	h.tell("%s", question)
	line, err := h.lines.ReadString('\n')
	return strings.TrimSpace(line), err
}
