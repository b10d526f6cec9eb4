//go:build linux

// Package zerofs runs a real ZeroFS for tests, on this host or in a virtual
// machine: it needs nothing but the program and its configuration.
package zerofs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/process"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

// logTail is how much of the log an error shows.
const logTail = 4 << 10

// Options of a server.
type Options struct {
	// Program is a zerofs; Program() builds one.
	Program string
	Config  Config
	// ReadyTime bounds how long it may take until it answers; a minute without it.
	ReadyTime time.Duration
}

// Server is a ZeroFS. Its log grows through all restarts.
type Server struct {
	options Options
	process *process.Process
}

// Program builds the pinned ZeroFS where there is none yet, which takes minutes.
func Program(ctx context.Context) (string, error) {
	out, err := process.Output(ctx, filepath.Join(repository.Root(), "hack", "zerofs.sh"))
	return strings.TrimSpace(string(out)), err
}

// Start starts a ZeroFS and waits until it answers. It ends with ctx at the latest.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.ReadyTime == 0 {
		o.ReadyTime = time.Minute
	}
	s := &Server{options: o}
	if err := o.Config.Write(); err != nil {
		return nil, err
	}
	return s, s.Restart(ctx)
}

// Log is the path of its log.
func (s *Server) Log() string { return filepath.Join(s.options.Config.Dir, "zerofs.log") }

// Restart kills one that still runs, and starts another with the same configuration.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Kill(); err != nil {
		return err
	}
	err := s.start(ctx)
	if err == nil {
		err = s.process.UntilReady(ctx, s.options.ReadyTime, s.answers)
	}
	if err != nil {
		return fmt.Errorf("start ZeroFS: %w; its log's end:\n%s", errors.Join(err, s.Kill()), s.tail())
	}
	return nil
}

func (s *Server) start(ctx context.Context) error {
	log, err := os.OpenFile(s.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the child has its own copy

	cmd := exec.CommandContext(ctx, s.options.Program, "run", "--config", s.options.Config.Path()) //nolint:gosec // a test's own arguments
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	cmd.Stdout, cmd.Stderr = log, log
	p, err := process.Start(cmd)
	if err == nil {
		s.process = p
	}
	return err
}

// answers asks both servers as clients do.
func (s *Server) answers(ctx context.Context) error {
	if _, err := (&exports.Client{Socket: s.options.Config.NineP()}).Exports(ctx); err != nil {
		return err
	}
	return greets(ctx, s.options.Config.NBD())
}

// greets waits for the words that an NBD server speaks first.
func greets(ctx context.Context, socket string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // only read
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	magic := make([]byte, 8)
	if _, err := io.ReadFull(conn, magic); err != nil {
		return err
	}
	if string(magic) != "NBDMAGIC" {
		return fmt.Errorf("an NBD server does not say %q", magic)
	}
	return nil
}

// Kill ends it at once, if it runs, with what it has acknowledged but not stored.
func (s *Server) Kill() error {
	if s.process == nil {
		return nil
	}
	return s.process.Kill()
}

// Stop asks it to store what it has and to end, which it must do within a limit.
func (s *Server) Stop(limit time.Duration) error {
	err := s.process.Signal(syscall.SIGTERM)
	if err == nil {
		err = s.process.Wait(limit)
	}
	if err != nil {
		return fmt.Errorf("stop ZeroFS: %w; its log's end:\n%s", err, s.tail())
	}
	return nil
}

func (s *Server) tail() string {
	content, err := os.ReadFile(s.Log())
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-logTail):])
}
