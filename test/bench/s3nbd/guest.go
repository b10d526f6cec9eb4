//go:build linux

package s3nbd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

const (
	// bootTime bounds a boot, on an emulated processor.
	bootTime = 4 * time.Minute
	// stepTime bounds what the guest does at a word of ours: filling the database is the
	// longest.
	stepTime = 10 * time.Minute
)

// guest is a node with the whole stack (test/vm/s3nbd/node). It runs commands, a line each.
type guest struct {
	machine *vm.Machine
	conn    net.Conn
	lines   *bufio.Scanner
}

// meet the guest, which connects to a listener when it is ready.
func meet(machine *vm.Machine, listener *net.TCPListener) (*guest, error) {
	deadline := time.Now().Add(bootTime)
	if err := listener.SetDeadline(deadline); err != nil {
		return nil, err
	}
	conn, err := listener.Accept()
	if err != nil {
		return nil, fmt.Errorf("the guest does not say that it is there: %w", err)
	}
	g := &guest{machine: machine, conn: conn, lines: bufio.NewScanner(conn)}
	g.lines.Buffer(nil, 64<<20)
	_, err = g.answer(deadline)
	return g, err
}

// do what a line says, and return what that printed.
func (g *guest) do(ctx context.Context, line string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	line = strings.Join(strings.Fields(line), " ")
	if _, err := fmt.Fprintln(g.conn, line); err != nil {
		return "", err
	}
	text, err := g.answer(time.Now().Add(stepTime))
	if err != nil {
		return "", fmt.Errorf("%s: %w", line, err)
	}
	return text, nil
}

// sh runs a script, in one line.
func (g *guest) sh(ctx context.Context, script string) (string, error) {
	return g.do(ctx, "sh "+script)
}

func (g *guest) answer(deadline time.Time) (string, error) {
	if err := g.conn.SetReadDeadline(deadline); err != nil {
		return "", err
	}
	for g.lines.Scan() {
		word, rest, _ := strings.Cut(g.lines.Text(), " ")
		switch word {
		case "ready":
			return "", nil
		case "done":
			return strconv.Unquote(rest)
		case "failed":
			text, err := strconv.Unquote(rest)
			return "", errors.Join(errors.New(text), err)
		}
	}
	return "", errors.Join(errors.New("the guest says no more"), g.lines.Err())
}

// console shows what the guest prints, without the ends of long lines.
type console struct{}

// Write gets whole lines.
func (console) Write(line []byte) (int, error) {
	const enough = 160
	text := strings.TrimRight(string(line), "\r\n")
	if len(text) > enough {
		text = text[:enough]
	}
	_, err := fmt.Println("    guest| " + text)
	return len(line), err
}
