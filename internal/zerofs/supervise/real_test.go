//go:build zerofs && linux

// Tests with a real ZeroFS 0.19 and a real S3 server: go test -tags zerofs. The
// programs are named by PGSTORAGE_ZEROFS and PGSTORAGE_S3 (versitygw), nbdcopy is
// libnbd's; without one of them the tests are skipped. All listen on loopback.
package supervise_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/ninep"
	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/preflight"
)

// parts of a test, all of them real.
type parts struct {
	*testing.T
	server          zerofs.Server
	dir, s3, bucket string
	// size of the export.
	size uint64
	// unseen is a server whose output the supervisor does not see.
	unseen bool
	// change of the configuration that is rendered; nil: none.
	change func(string) string
}

func newReal(t *testing.T) *parts {
	t.Helper()
	if _, err := exec.LookPath("nbdcopy"); err != nil {
		t.Skip("needed: nbdcopy (libnbd-bin)")
	}
	gateway := os.Getenv("PGSTORAGE_S3")
	if gateway == "" || os.Getenv("PGSTORAGE_ZEROFS") == "" {
		t.Skip("needed: PGSTORAGE_ZEROFS (hack/zerofs.sh) and PGSTORAGE_S3 (hack/tools.sh versitygw)")
	}
	dir := t.TempDir()
	r := &parts{T: t, dir: dir, bucket: filepath.Join(dir, "s3", "pool"), size: 8 << 20}
	if err := os.MkdirAll(r.bucket, 0o700); err != nil {
		t.Fatal(err)
	}
	r.s3 = "http://" + address(t)
	store := exec.Command(gateway, "--port", strings.TrimPrefix(r.s3, "http://"), "posix", filepath.Dir(r.bucket))
	store.Env = append(os.Environ(), "ROOT_ACCESS_KEY=thekey", "ROOT_SECRET_KEY=thesecret")
	if err := store.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Process.Kill(); _ = store.Wait() })
	r.environment("thekey", "thesecret", "for-tests-only")
	r.server = zerofs.Server{
		Family: v1alpha1.ZeroFS019, URL: "s3://pool/prod/" + zerofs.NodeNameInURL, Endpoint: r.s3, Region: "us-east-1",
		PathStyle: true, AllowHTTP: true, CacheDir: filepath.Join(dir, "cache"), CacheSize: 2 << 30, CacheMemory: 64 << 20,
		FlushInterval: 10 * time.Minute, NBDSocket: filepath.Join(dir, "run", "nbd.sock"), NinePSocket: filepath.Join(dir, "run", "9p.sock"),
	}
	return r
}

func (r *parts) environment(key, secret, password string) {
	r.Setenv(zerofs.EnvAccessKeyID, key)
	r.Setenv(zerofs.EnvSecretAccessKey, secret)
	r.Setenv(zerofs.EnvPassword, password)
	r.Setenv(zerofs.EnvNodeName, "node-1")
}

// address on loopback that nobody has.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func (r *parts) options() preflight.Options {
	password := os.Getenv(zerofs.EnvPassword)
	return preflight.Options{
		URL: "s3://pool/prod/node-1", Endpoint: r.s3, Region: "us-east-1", PathStyle: true, Password: &password,
		AccessKeyID: os.Getenv(zerofs.EnvAccessKeyID), SecretAccessKey: os.Getenv(zerofs.EnvSecretAccessKey),
		Patience: 5 * time.Second, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

// running server.
type running struct {
	*trial
	ended chan int
}

// run a server with the configuration that is rendered for it.
func (r *parts) run() *running {
	r.Helper()
	text, err := zerofs.Config(r.server)
	if err != nil {
		r.Fatal(err)
	}
	if r.change != nil {
		text = []byte(r.change(string(text)))
	}
	file := filepath.Join(r.dir, "zerofs.toml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		r.Fatal(err)
	}
	run := &running{trial: newTrial(r.T, filepath.Join(r.dir, "run"), ""), ended: make(chan int, 1)}
	run.TerminationLog = filepath.Join(r.dir, "termination")
	run.Command = []string{os.Getenv("PGSTORAGE_ZEROFS"), "run", "-c", file}
	if r.unseen {
		run.Command = append([]string{"sh", "-c", `exec "$0" "$@" >/dev/null 2>&1`}, run.Command...)
	}
	run.Secrets = zerofs.SecretsOf(os.Environ())
	go func() {
		code, err := run.Run()
		if err != nil {
			r.Error(err)
		}
		run.ended <- code
	}()
	return run
}

// up waits for the server, and makes its export.
func (r *parts) up() {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	defer cancel()
	c := &ninep.Client{Socket: r.server.NinePSocket}
	for {
		err := c.Create(ctx, "disk", r.size)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			r.Fatal(err)
		}
		<-time.After(100 * time.Millisecond)
	}
}

func (r *running) end(t *testing.T) int {
	t.Helper()
	select {
	case code := <-r.ended:
		return code
	case <-time.After(60 * time.Second):
		t.Fatalf("the server did not end: %s", &r.err)
		return 0
	}
}

func (r *parts) copy(from, to string) {
	r.Helper()
	if out, err := exec.CommandContext(r.Context(), "nbdcopy", from, to).CombinedOutput(); err != nil {
		r.Fatalf("nbdcopy %s %s: %v: %s", from, to, err, out)
	}
}

// What was written and never flushed is there after an orderly end, and the store has
// the node's prefix.
func TestRealOrderlyEnd(t *testing.T) {
	r := newReal(t)
	if err := preflight.Check(t.Context(), r.options()); err != nil {
		t.Fatal("an empty prefix:", err)
	}
	first := r.run()
	r.up()
	disk := "nbd+unix:///disk?socket=" + r.server.NBDSocket
	data := filepath.Join(r.dir, "data")
	want := make([]byte, 8<<20)
	_, _ = rand.Read(want)
	if err := os.WriteFile(data, want, 0o600); err != nil {
		t.Fatal(err)
	}
	r.copy(data, disk)
	first.signals <- syscall.SIGTERM
	if code := first.end(t); code != 0 {
		t.Fatalf("%d: %s", code, &first.err)
	}
	before, err := zerofs.ReadIncarnation(first.Dir)
	if err != nil || before.State != zerofs.StateStopped {
		t.Errorf("%v %+v", err, before)
	}
	if err := preflight.Check(t.Context(), r.options()); err != nil {
		t.Error("its own prefix:", err)
	}
	if err := os.RemoveAll(r.server.CacheDir); err != nil {
		t.Fatal(err)
	}
	second := r.run()
	r.up()
	back := filepath.Join(r.dir, "back")
	r.copy(disk, back)
	if got, err := os.ReadFile(back); err != nil || !bytes.Equal(got, want) {
		t.Errorf("what was written is not there: %v", err)
	}
	after, err := zerofs.ReadIncarnation(second.Dir)
	if err != nil || after.Previous == nil || *after.Previous != (zerofs.Previous{ID: before.ID, Clean: true}) {
		t.Errorf("%v %+v", err, after)
	}
	second.signals <- syscall.SIGTERM
	second.end(t)
	if all, err := os.ReadDir(filepath.Join(r.bucket, "prod", "node-1")); err != nil || len(all) == 0 {
		t.Errorf("NODE_NAME in the url: %v", err)
	}
}

// The control: what was not flushed is lost with a server that is killed, and its
// successor knows.
func TestRealKill(t *testing.T) {
	r := newReal(t)
	first := r.run()
	r.up()
	disk := "nbd+unix:///disk?socket=" + r.server.NBDSocket
	data, back := filepath.Join(r.dir, "data"), filepath.Join(r.dir, "back")
	want := bytes.Repeat([]byte("pgstorage"), (8<<20)/9)
	if err := os.WriteFile(data, want, 0o600); err != nil {
		t.Fatal(err)
	}
	r.copy(data, disk)
	first.signals <- syscall.SIGKILL
	if code := first.end(t); code != 137 {
		t.Errorf("exit code %d", code)
	}
	before, err := zerofs.ReadIncarnation(first.Dir)
	if err != nil || before.State != zerofs.StateFailed {
		t.Errorf("%v %+v", err, before)
	}
	second := r.run()
	r.up()
	r.copy(disk, back)
	if got, err := os.ReadFile(back); err != nil || bytes.HasPrefix(got, want) {
		t.Errorf("something flushed what nobody had asked to flush, so the orderly end proves nothing: %v", err)
	}
	after, err := zerofs.ReadIncarnation(second.Dir)
	if err != nil || after.Previous == nil || *after.Previous != (zerofs.Previous{ID: before.ID}) {
		t.Errorf("%v %+v", err, after)
	}
	second.signals <- syscall.SIGTERM
	second.end(t)
}

func TestRealFailures(t *testing.T) {
	r := newReal(t)
	first := r.run()
	r.up()
	first.signals <- syscall.SIGTERM
	first.end(t)
	for name, c := range map[string]struct {
		key, secret, password string
		change                func(s *zerofs.Server)
		reason                string
	}{
		"password":       {"thekey", "thesecret", "another-password", nil, zerofs.ReasonPasswordWrong},
		"short password": {"thekey", "thesecret", "short", nil, zerofs.ReasonPasswordInvalid},
		"key":            {"nobody", "thesecret", "for-tests-only", nil, zerofs.ReasonCredentialsRejected},
		"secret":         {"thekey", "guessed-s3cret", "for-tests-only", nil, zerofs.ReasonCredentialsRejected},
		"bucket":         {"thekey", "thesecret", "for-tests-only", func(s *zerofs.Server) { s.URL = "s3://nobucket/prod/a" }, zerofs.ReasonBucketNotFound},
		"endpoint":       {"thekey", "thesecret", "for-tests-only", func(s *zerofs.Server) { s.Endpoint = "http://" + address(t) }, zerofs.ReasonEndpointUnreachable},
		"family":         {"thekey", "thesecret", "for-tests-only", func(s *zerofs.Server) { s.Family = v1alpha1.ZeroFS2 }, zerofs.ReasonConfigRejected},
	} {
		t.Run(name, func(t *testing.T) {
			r := &parts{T: t, server: r.server, dir: r.dir, s3: r.s3, bucket: r.bucket}
			r.environment(c.key, c.secret, c.password)
			if c.change != nil {
				c.change(&r.server)
			}
			run := r.run()
			if code := run.end(t); code != 1 {
				t.Errorf("exit code %d", code)
			}
			raw, err := os.ReadFile(run.TerminationLog)
			f := zerofs.ParseFailure(string(raw))
			if err != nil || f == nil || f.Reason != c.reason {
				t.Errorf("%v %s, wanted %s", err, raw, c.reason)
			}
			for _, hidden := range []string{c.key, c.secret, c.password} {
				if all := run.err.String() + run.log.String() + string(raw); strings.Contains(all, hidden) {
					t.Errorf("%q is shown: %s", hidden, all)
				}
			}
		})
	}
}
