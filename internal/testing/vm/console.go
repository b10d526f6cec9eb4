//go:build linux

package vm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// tailLines is how much of a console an error shows.
const tailLines = 40

// console keeps what a guest prints, by lines, and wakes who waits for one.
type console struct {
	mu      sync.Mutex
	to      io.Writer
	lines   []string
	partial []byte
	changed chan struct{}
}

func newConsole(to io.Writer) *console {
	return &console{to: to, changed: make(chan struct{})}
}

// Write takes bytes as they come: a serial line knows neither lines nor ends.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.partial = append(c.partial, p...)
	for {
		line, rest, found := bytes.Cut(c.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		text := strings.TrimRight(string(line), "\r")
		c.partial = rest
		c.lines = append(c.lines, text)
		if _, err := io.WriteString(c.to, text+"\n"); err != nil {
			return 0, err
		}
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// since returns the lines from the first on, and what closes with the next line.
func (c *console) since(first int) ([]string, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lines[first:], c.changed
}

func (c *console) waitFor(ctx context.Context, ended <-chan struct{}, text string) (string, error) {
	seen, over := 0, false
	for {
		lines, changed := c.since(seen)
		for _, line := range lines {
			if strings.Contains(line, text) {
				return line, nil
			}
		}
		if over {
			return "", errors.New("the machine has ended")
		}
		seen += len(lines)
		select {
		case <-changed:
		case <-ended:
			over = true // one more look: the last lines came before the end
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// lastMatch returns the submatches of the last line that matches.
func (c *console) lastMatch(pattern *regexp.Regexp) []string {
	lines, _ := c.since(0)
	for _, line := range slices.Backward(lines) {
		if match := pattern.FindStringSubmatch(line); match != nil {
			return match
		}
	}
	return nil
}

// tail is the console's end, with a line that is not whole.
func (c *console) tail() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.lines[max(0, len(c.lines)-tailLines):]
	return strings.Join(lines, "\n") + "\n" + string(c.partial)
}
