//go:build zerofs && linux

// Tests with a real ZeroFS 0.19 and a real S3 server: go test -tags zerofs. The
// programs are named by PGSTORAGE_ZEROFS and PGSTORAGE_S3 (versitygw), nbdcopy is
// libnbd's; without one of them the tests are skipped. All listen on loopback.
package supervise_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/process"
	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
	"github.com/pgstorage/pgstorage/internal/zerofs/preflight"
)

// parts of a test, all of them real.
type parts struct {
	*testing.T
	server          zerofs.Server
	dir, s3, bucket string
	// size of the export.
	size uint64
	// life that was up last.
	life string
	// unseen is a server whose output the supervisor does not see.
	unseen bool
	// clock of the supervisor; nil: the real one.
	clock clock.WithTicker
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
		FlushInterval: 10 * time.Minute,
	}
	r.sockets()
	return r
}

// sockets of ZeroFS in the server's folder.
func (r *parts) sockets() {
	r.server.NBDSocket, r.server.NinePSocket = r.in(zerofs.UpstreamSocket), r.in(zerofs.NinePSocket)
}

// in the server's folder.
func (r *parts) in(name string) string { return filepath.Join(r.dir, "run", name) }

// nbd is the URI of the disk.
func (r *parts) nbd() string { return "nbd+unix:///disk?socket=" + r.in(zerofs.NBDSocket) }

func (r *parts) environment(key, secret, password string) {
	r.Setenv(zerofs.EnvAccessKeyID, key)
	r.Setenv(zerofs.EnvSecretAccessKey, secret)
	r.Setenv(zerofs.EnvPassword, password)
	r.Setenv(zerofs.EnvNodeName, "node-1")
}

// address on loopback without a listener.
func address(t *testing.T) string {
	t.Helper()
	at, err := process.Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
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

// command of ZeroFS, with the configuration that is rendered for it. It leaves its
// process id in a file.
func (r *parts) command() []string {
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
	script := `echo $$ >"` + r.in("pid") + `"; exec "$0" "$@"`
	if r.unseen {
		script += " >/dev/null 2>&1"
	}
	return []string{"sh", "-c", script, os.Getenv("PGSTORAGE_ZEROFS"), "run", "-c", file}
}

// kill ZeroFS, and nothing else.
func (r *parts) kill() { r.signal(syscall.SIGKILL) }

func (r *parts) signal(s syscall.Signal) {
	r.Helper()
	raw, err := os.ReadFile(r.in("pid"))
	if err != nil {
		r.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err == nil {
		err = syscall.Kill(id, s)
	}
	if err != nil {
		r.Fatal(err)
	}
}

// run a server.
func (r *parts) run() *running {
	r.Helper()
	run := &running{trial: newTrial(r.T, filepath.Join(r.dir, "run"), ""), ended: make(chan int, 1)}
	run.TerminationLog, run.Prometheus = filepath.Join(r.dir, "termination"), address(r.T)
	run.Command = r.command()
	if r.clock != nil {
		run.Clock = r.clock
	}
	run.Secrets = zerofs.SecretsOf(os.Environ())
	go func() {
		code, err := run.Run(r.Context())
		if err != nil {
			r.Error(err)
		}
		run.ended <- code
	}()
	return run
}

// child is a server in a process of its own, with all that it starts.
func (r *parts) child() *process.Process {
	r.Helper()
	cmd := exec.Command(os.Args[0], append([]string{r.in("")}, r.command()...)...)
	cmd.Env = append(os.Environ(), "SUPERVISED=supervise")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p, err := process.Start(cmd)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = syscall.Kill(-p.ID(), syscall.SIGKILL) })
	return p
}

// crash a child, as the kernel does with all of a container whose first process ends.
func (r *parts) crash(p *process.Process) {
	r.Helper()
	if err := syscall.Kill(-p.ID(), syscall.SIGKILL); err != nil {
		r.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		r.Fatal(err)
	}
	lock, err := os.Open(r.in("lock"))
	if err == nil {
		err = errors.Join(unix.Flock(int(lock.Fd()), unix.LOCK_EX), lock.Close())
	}
	if err != nil {
		r.Fatal(err)
	}
}

// status of the server, once it is as it should be.
func (r *parts) status(holds func(zerofs.ServerStatus) bool) zerofs.ServerStatus {
	r.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	late := time.After(time.Minute)
	for {
		s, err := zerofs.ReadStatus(r.in(""))
		if err == nil && holds(s) {
			return s
		}
		select {
		case <-again.C:
		case <-late:
			r.Fatalf("%v %+v", err, s)
		}
	}
}

// in a phase.
func in(p zerofs.Phase) func(zerofs.ServerStatus) bool {
	return func(s zerofs.ServerStatus) bool { return s.Phase == p }
}

// metric waits until a server says something of itself.
func (r *running) metric(t *testing.T, line string) {
	t.Helper()
	for late := time.Now().Add(30 * time.Second); ; {
		got, err := r.metrics()
		if err == nil && strings.Contains(got, "\npgstorage_s3nbd_"+line+"\n") {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%v, no %s in %s", err, line, got)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (r *running) metrics() (string, error) {
	answer, err := http.Get("http://" + r.Prometheus + "/metrics")
	if err != nil {
		return "", err
	}
	defer answer.Body.Close() //nolint:errcheck // read
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

// up waits for the server, and makes its export.
func (r *parts) up() {
	r.Helper()
	r.life = r.status(func(s zerofs.ServerStatus) bool { return s.Phase == zerofs.PhaseServing && s.Life != r.life }).Life
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	defer cancel()
	c := &exports.Client{Socket: r.server.NinePSocket}
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
	data := filepath.Join(r.dir, "data")
	want := make([]byte, 8<<20)
	_, _ = rand.Read(want)
	if err := os.WriteFile(data, want, 0o600); err != nil {
		t.Fatal(err)
	}
	r.copy(data, r.nbd())
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
	r.copy(r.nbd(), back)
	if got, err := os.ReadFile(back); err != nil || !bytes.Equal(got, want) {
		t.Errorf("what was written is not there: %v", err)
	}
	second.signals <- syscall.SIGTERM
	second.end(t)
	third := r.run()
	r.up()
	after, err := zerofs.ReadIncarnation(third.Dir)
	if err != nil || len(after.Inherits) != 2 || after.Inherits[1] != before.ID {
		t.Errorf("%v %+v", err, after)
	}
	third.signals <- syscall.SIGTERM
	third.end(t)
	if all, err := os.ReadDir(filepath.Join(r.bucket, "prod", "node-1")); err != nil || len(all) == 0 {
		t.Errorf("NODE_NAME in the url: %v", err)
	}
}

// Many requests are under way whenever ZeroFS is killed; none fails, and none is lost.
func TestRealKilledUnderLoad(t *testing.T) {
	r := newReal(t)
	r.size = 16 << 20
	run := r.run()
	r.up()
	data, back := filepath.Join(r.dir, "data"), filepath.Join(r.dir, "back")
	want := make([]byte, r.size)
	_, _ = rand.Read(want)
	if err := os.WriteFile(data, want, 0o600); err != nil {
		t.Fatal(err)
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		r.copy(data, r.nbd())
	}()
	kills := int64(0)
	for done := false; !done; {
		r.status(func(s zerofs.ServerStatus) bool { return s.Phase == zerofs.PhaseServing && s.Restarts == kills })
		select {
		case <-copied:
			done = true
		case <-time.After(50 * time.Millisecond):
		}
		if !done && kills < 2 {
			r.kill()
			kills++
		}
	}
	r.copy(r.nbd(), back)
	if got, err := os.ReadFile(back); err != nil || !bytes.Equal(got, want) {
		t.Errorf("what was written is not there: %v", err)
	}
	r.stop(run)
	s, err := zerofs.ReadStatus(run.Dir)
	if err != nil || kills == 0 || s.Restarts != kills {
		t.Errorf("%d kills: %v %+v", kills, err, s)
	}
	t.Logf("%d kills, %d restarts, %d writes, %d of them repeated", kills, s.Restarts, s.Writes, s.RepeatedWrites)
}

// The control: what was not flushed is lost with a relay that is killed, and its
// successor knows.
func TestRealKill(t *testing.T) {
	r := newReal(t)
	first := r.child()
	r.up()
	data, back := filepath.Join(r.dir, "data"), filepath.Join(r.dir, "back")
	want := bytes.Repeat([]byte("pgstorage"), (8<<20)/9)
	if err := os.WriteFile(data, want, 0o600); err != nil {
		t.Fatal(err)
	}
	r.copy(data, r.nbd())
	r.crash(first)
	before, err := zerofs.ReadIncarnation(r.in(""))
	if err != nil || before.State != zerofs.StateRunning {
		t.Errorf("%v %+v", err, before)
	}
	second := r.run()
	r.up()
	r.copy(r.nbd(), back)
	if got, err := os.ReadFile(back); err != nil || bytes.HasPrefix(got, want) {
		t.Errorf("something flushed what nobody had asked to flush, so the orderly end proves nothing: %v", err)
	}
	after, err := zerofs.ReadIncarnation(second.Dir)
	if err != nil || after.ID == before.ID || len(after.Inherits) > 0 {
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
