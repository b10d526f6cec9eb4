//go:build linux

// Package s3 runs a real S3 server for tests, behind a proxy that counts requests and injects
// faults.
package s3

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/process"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// readyTime bounds how long the server may take until it answers.
const readyTime = time.Minute

// Region is the server's.
const Region = "us-east-1"

// Options of a store.
type Options struct {
	// Program is a versitygw; Program() builds one.
	Program string
	// Dir keeps the objects, a folder for each bucket, on a file system that has
	// extended attributes. It outlives the store; t.TempDir() will do.
	Dir     string
	Buckets []string
	// Log gets what the server prints.
	Log io.Writer
}

// Store is an S3 server on a Unix socket, and the proxy before it on loopback. Its
// port and credentials stay the same for as long as it lives.
type Store struct {
	*Proxy
	AccessKey, SecretKey string

	options Options
	folder  string // of the socket, whose path has at most 107 bytes
	server  *process.Process
}

// Program builds the pinned server where there is none yet.
func Program(ctx context.Context) (string, error) {
	out, err := process.Output(ctx, filepath.Join(repository.Root(), "hack", "tools.sh"), "versitygw")
	return strings.TrimSpace(string(out)), err
}

// Start runs a store until Close, and creates the buckets that are missing.
func Start(ctx context.Context, o Options) (*Store, error) {
	for _, bucket := range o.Buckets {
		if err := os.MkdirAll(filepath.Join(o.Dir, bucket), 0o750); err != nil {
			return nil, err
		}
	}
	folder, err := os.MkdirTemp("", "pgs3")
	if err != nil {
		return nil, err
	}
	s := &Store{AccessKey: rand.Text(), SecretKey: rand.Text(), options: o, folder: folder}
	if s.Proxy, err = NewProxy(s.socket()); err == nil {
		err = s.Restart(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("start an S3 server: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

// Endpoint is the proxy's address, with the name that its clients know this host
// by: 127.0.0.1 here, 10.0.2.2 in a virtual machine.
func (s *Store) Endpoint(host string) string {
	return "http://" + net.JoinHostPort(host, strconv.Itoa(s.Port()))
}

// Restart kills a server that still runs, and starts one with the same data.
func (s *Store) Restart(ctx context.Context) error {
	if err := s.Kill(); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, s.options.Program, "--quiet", "--region", Region, "--port", s.socket(), "posix", s.options.Dir) //nolint:gosec // a test's own arguments
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.AccessKey, "ROOT_SECRET_KEY="+s.SecretKey)
	cmd.Stdout, cmd.Stderr = s.options.Log, s.options.Log
	server, err := process.Start(cmd)
	if err != nil {
		return err
	}
	s.server = server
	return server.UntilReady(ctx, readyTime, s.answers)
}

func (s *Store) socket() string { return filepath.Join(s.folder, "s3") }

// answers looks past the proxy: a request without credentials is refused.
func (s *Store) answers(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://store/", nil)
	if err != nil {
		return err
	}
	transport := transport(s.socket())
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Kill ends the server at once, if it runs. Its clients' connections are closed.
func (s *Store) Kill() error {
	if s.server == nil {
		return nil
	}
	return s.server.Kill()
}

// Freeze halts the server: its clients wait for an answer.
func (s *Store) Freeze() error { return s.server.Signal(syscall.SIGSTOP) }

// Thaw lets a halted server continue.
func (s *Store) Thaw() error { return s.server.Signal(syscall.SIGCONT) }

// Objects of a bucket, each with a digest of its content, past server and proxy.
func (s *Store) Objects(bucket string) (map[string]string, error) {
	out := map[string]string{}
	root := filepath.Join(s.options.Dir, bucket)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path) //nolint:gosec // below a test's own folder
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		out[name] = fmt.Sprintf("%x", sha256.Sum256(content))
		return err
	})
	return out, err
}

// Put an object into a bucket, past server and proxy.
func (s *Store) Put(bucket, key, content string) error {
	path := filepath.Join(s.options.Dir, bucket, key)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(content), 0o600))
}

// Close ends server and proxy; what the buckets have stays.
func (s *Store) Close() error {
	err := s.Kill()
	if s.Proxy != nil {
		err = errors.Join(err, s.Proxy.Close())
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}
