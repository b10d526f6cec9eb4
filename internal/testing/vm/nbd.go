//go:build linux

package vm

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/pgstorage/pgstorage/internal/testing/process"
)

// Export is a file that nbdkit serves, through filters such as error, delay, log
// or stats.
type Export struct {
	Path string
	// SizeBytes of a file that is to be made.
	SizeBytes int64
	// Filters as nbdkit names them, the outermost first.
	Filters []string
	// Parameters of the filters, such as "wdelay=10ms".
	Parameters []string
	// Log gets what nbdkit prints.
	Log io.Writer
}

// Server is a running nbdkit.
type Server struct {
	// Socket is for Disk.NBD, or for an NBD client on this host.
	Socket  string
	process *process.Process
	remove  func()
}

// volatile is an export that keeps unflushed writes to itself. Its blocks are a
// page's size: a flush takes whole blocks along.
func volatile(path string, log io.Writer) Export {
	return Export{
		Path: path, Log: log, Filters: []string{"cache"},
		Parameters: []string{"cache=writeback", "cache-min-block-size=4K"},
	}
}

// Serve starts nbdkit until Kill or the end of ctx. It can be connected to at once:
// the socket listens before nbdkit is there.
func Serve(ctx context.Context, e Export) (*Server, error) {
	if err := makeDisk(e.Path, e.SizeBytes); err != nil {
		return nil, err
	}
	// A folder of its own, since a socket's path has at most 107 bytes.
	folder, err := os.MkdirTemp("", "pgvm")
	if err != nil {
		return nil, err
	}
	s := &Server{Socket: filepath.Join(folder, "nbd"), remove: sync.OnceFunc(func() { _ = os.RemoveAll(folder) })}
	if err := s.start(ctx, e); err != nil {
		s.remove()
		return nil, fmt.Errorf("serve %s: %w", e.Path, err)
	}
	return s, nil
}

// start hands the listening socket over as systemd would. Only the child knows the
// process id that nbdkit asks for, hence the shell.
func (s *Server) start(ctx context.Context, e Export) error {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.Socket, Net: "unix"})
	if err != nil {
		return err
	}
	defer listener.Close() //nolint:errcheck // nbdkit has its own copy
	listener.SetUnlinkOnClose(false)
	socket, err := listener.File()
	if err != nil {
		return err
	}
	defer socket.Close() //nolint:errcheck // nbdkit has its own copy
	args := append([]string{"-c", `LISTEN_PID=$$ exec nbdkit "$@"`, "nbdkit"}, e.arguments()...)
	cmd := exec.CommandContext(ctx, "sh", args...) //nolint:gosec // a test's own arguments
	cmd.Env = append(os.Environ(), "LISTEN_FDS=1", "TMPDIR="+filepath.Dir(s.Socket))
	cmd.ExtraFiles = []*os.File{socket} // descriptor 3
	cmd.Stdout, cmd.Stderr = e.Log, e.Log
	s.process, err = process.Start(cmd)
	return err
}

func (e Export) arguments() []string {
	args := []string{"--foreground"}
	for _, filter := range e.Filters {
		args = append(args, "--filter="+filter)
	}
	return append(append(args, "file", e.Path), e.Parameters...)
}

// Kill ends the server at once, with what only it knew, and waits for its end.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Stop asks the server to end, so that its stats filter can still write.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

func (s *Server) end(sig syscall.Signal) {
	_ = s.process.Signal(sig)
	_ = s.process.Wait(patience)
	_ = s.process.Kill() // if it still runs
	s.remove()
}
