//go:build linux

// Package postgres starts throwaway servers of the PostgreSQL that this machine has.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// EnvBin names the folder of the PostgreSQL programs that are used; without it, the
// newest that Debian's packages installed are.
const EnvBin = "PGSTORAGE_TEST_POSTGRES_BIN"

// ErrNone is the error where there is no server to start.
var ErrNone = errors.New("no PostgreSQL server here: install the package postgresql, or set " + EnvBin)

// Bin is the folder of the programs.
func Bin() (string, error) {
	if bin := os.Getenv(EnvBin); bin != "" {
		return bin, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", ErrNone
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

// Server trusts every client that can reach its Unix socket, which is in Dir. It owns Dir.
type Server struct {
	Bin, Dir, Data string
	settings       []string
}

// Start starts a server with checksums. Settings, as name=value, replace the defaults of
// Postgres. The superuser is postgres.
func Start(ctx context.Context, settings ...string) (*Server, error) {
	bin, err := Bin()
	if err != nil {
		return nil, err
	}
	// Short enough for the name of a socket.
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	s := &Server{Bin: bin, Dir: dir, Data: filepath.Join(dir, "data"), settings: settings}
	if err := errors.Join(s.open(), s.start(ctx)); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// open the folder to the server's user, and to those who connect.
func (s *Server) open() error {
	uid, gid, other := unprivileged()
	if other {
		if err := os.Chown(s.Dir, uid, gid); err != nil {
			return err
		}
	}
	return os.Chmod(s.Dir, 0o755) //nolint:gosec // G302: another user than the server's connects
}

func (s *Server) start(ctx context.Context) error {
	if err := s.Run(ctx, "initdb", "-D", s.Data, "-U", "postgres", "-A", "trust", "--data-checksums", "--no-sync"); err != nil {
		return err
	}
	return s.Up(ctx)
}

// patience in seconds of pg_ctl. Its own is a minute, which a start with many workers exceeded
// where other levels ran beside it.
const patience = "240"

// Up starts a server that was shut down, with the settings that it had.
func (s *Server) Up(ctx context.Context) error {
	options := strings.Join(append([]string{"-c listen_addresses= -c unix_socket_directories=" + s.Dir}, s.settings...), " -c ")
	return s.Run(ctx, "pg_ctl", "-D", s.Data, "-w", "-t", patience, "-l", filepath.Join(s.Dir, "log"), "-o", options, "start")
}

// Down ends the server at once, as a crash does. Its data stays, and Up starts it again.
func (s *Server) Down(ctx context.Context) error {
	return s.Run(ctx, "pg_ctl", "-D", s.Data, "-m", "immediate", "-w", "-t", patience, "stop")
}

// Stop ends the server at once, and removes everything.
func (s *Server) Stop() error {
	_, err := os.Stat(filepath.Join(s.Data, "postmaster.pid"))
	if err == nil {
		err = s.Down(context.Background())
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}

// Run runs a program of the server until it ends.
func (s *Server) Run(ctx context.Context, name string, args ...string) error {
	out, err := s.Command(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// Command runs a program of the server under a user other than root, whom Postgres refuses.
func (s *Server) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.Bin, name), args...) //nolint:gosec // G204: a program of Postgres
	cmd.Dir, cmd.Env = s.Dir, []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}
	if uid, gid, ok := unprivileged(); ok {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}} //nolint:gosec // G115: of /etc/passwd
	}
	return cmd
}

func unprivileged() (uid, gid int, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.Atoi(u.Uid)
		gid, errGID := strconv.Atoi(u.Gid)
		if errUID == nil && errGID == nil {
			return uid, gid, true
		}
	}
	return 0, 0, false
}
