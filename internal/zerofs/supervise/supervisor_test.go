package supervise_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/supervise"
)

// TestMain is also the server that is supervised: SUPERVISED says what it does.
func TestMain(m *testing.M) {
	switch does := os.Getenv("SUPERVISED"); does {
	case "":
	case "supervise":
		os.Exit(superviseArgs())
	default:
		os.Exit(serve(does))
	}
	os.Exit(m.Run())
}

// superviseArgs is a server as its container has it: a folder and the program's command.
func superviseArgs() int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	s := &supervise.Supervisor{
		Dir: os.Args[1], Command: os.Args[2:], Stdout: io.Discard, Stderr: io.Discard, Signals: signals,
		Log: slog.New(slog.DiscardHandler), Clock: clock.RealClock{},
	}
	code, err := s.Run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}

// serve until a request to stop, if configured, and exit with a code.
func serve(does string) int {
	what, number, _ := strings.Cut(does, " ")
	code, _ := strconv.Atoi(number)
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("out of s3cret")
	switch what {
	case "serve":
		fmt.Fprintln(os.Stderr, "ready")
		fmt.Fprintln(os.Stderr, "told", <-told)
	case "linger":
		fmt.Println("ERROR slatedb::dispatcher: background task panicked unexpectedly. [task_name=compactor, error=s3cret]")
		<-told
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "deny":
		fmt.Fprint(os.Stderr, "\x1b[32m INFO\x1b[0m started with s3cret\nError: Failed to unwrap DEK: Invalid password or corrupted key\n\nStack backtrace:\n   0: <unknown>\n  at s3cret")
	}
	return code
}

// trial of one server.
type trial struct {
	*supervise.Supervisor
	out, err, log bytes.Buffer
	signals       chan os.Signal
}

func newTrial(t *testing.T, dir, does string) *trial {
	t.Helper()
	t.Setenv("SUPERVISED", does)
	r := &trial{signals: make(chan os.Signal, 2)}
	r.Supervisor = &supervise.Supervisor{
		Dir: dir, Command: []string{os.Args[0]}, Stdout: &r.out, Stderr: &r.err, Secrets: zerofs.Secrets{"s3cret"},
		TerminationLog: filepath.Join(dir, "termination"), Signals: r.signals,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)), Clock: clock.RealClock{},
	}
	return r
}

func (w *tell) String() string { return w.said.String() }

// signal the server to stop once it is ready.
type tell struct {
	said    bytes.Buffer
	signals chan os.Signal
	with    []os.Signal
}

func (w *tell) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("ready")) {
		for _, s := range w.with {
			w.signals <- s
		}
	}
	return w.said.Write(p)
}

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		does   string
		with   []os.Signal
		code   int
		state  zerofs.State
		reason string
	}{
		{"serve 0", []os.Signal{syscall.SIGTERM}, 0, zerofs.StateStopped, ""},
		{"serve 0", []os.Signal{syscall.SIGINT}, 0, zerofs.StateStopped, ""},
		{"serve 0", []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, 0, zerofs.StateStopped, ""},
		{"serve 1", []os.Signal{syscall.SIGTERM}, 1, zerofs.StateFailed, zerofs.ReasonServerFailed},
		{"end 0", nil, 0, zerofs.StateFailed, zerofs.ReasonServerFailed},
		{"end 3", nil, 3, zerofs.StateFailed, zerofs.ReasonServerFailed},
		{"die", nil, 137, zerofs.StateFailed, zerofs.ReasonServerFailed},
		{"linger 0", nil, 137, zerofs.StateFailed, zerofs.ReasonStoreLost},
		{"deny 1", nil, 1, zerofs.StateFailed, zerofs.ReasonPasswordWrong},
	} {
		t.Run(fmt.Sprint(c.does, c.with), func(t *testing.T) {
			r := newTrial(t, filepath.Join(t.TempDir(), "run"), c.does)
			r.Stderr = &tell{signals: r.signals, with: c.with}
			code, err := r.Run(t.Context())
			if err != nil || code != c.code {
				t.Errorf("%d %v\n%s", code, err, &r.log)
			}
			life, err := zerofs.ReadIncarnation(r.Dir)
			if err != nil || life.State != c.state || life.ExitCode == nil || *life.ExitCode != c.code || life.Served || len(life.ID) != 36 || len(life.BootID) != 36 {
				t.Errorf("%v %+v", err, life)
			}
			if s, err := zerofs.ReadStatus(r.Dir); err != nil || s.Life != life.ID || s.Restarts != 0 {
				t.Errorf("%v %+v", err, s)
			}
			raw, err := os.ReadFile(r.TerminationLog)
			switch f := zerofs.ParseFailure(string(raw)); {
			case c.reason == "" && !errors.Is(err, fs.ErrNotExist):
				t.Errorf("a clean end was reported: %s", raw)
			case c.reason != "" && (f == nil || f.Reason != c.reason):
				t.Errorf("reported as %s, wanted %s", raw, c.reason)
			}
			if all := fmt.Sprint(&r.out, r.Stderr, &r.log, string(raw)); strings.Contains(all, "s3cret") || !strings.Contains(all, "out of ***") {
				t.Error(all)
			}
		})
	}
}

func TestInherits(t *testing.T) {
	dir := t.TempDir()
	var chain []string
	for i, does := range []string{"serve 0", "end 1", "serve 0", "serve 0"} {
		r := newTrial(t, dir, does)
		r.Stderr = &tell{signals: r.signals, with: []os.Signal{syscall.SIGTERM}}
		if _, err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		life, err := zerofs.ReadIncarnation(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(chain, life.Inherits); diff != "" {
			t.Errorf("%d: %s", i, diff)
		}
		if life.State == zerofs.StateStopped {
			chain = append([]string{life.ID}, chain...)
		}
	}
}

// A life that served and did not end cleanly leaves nothing to inherit, nor does half a
// file of another program.
func TestNothingInherited(t *testing.T) {
	for _, text := range []string{
		`{"id":"b","state":"Running","served":true,"inherits":["a"]}`,
		`{"id":"b","state":"Failed","served":true,"inherits":["a"]}`,
		`{"id":"b","st`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, zerofs.IncarnationFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := newTrial(t, dir, "end 0").Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if life, err := zerofs.ReadIncarnation(dir); err != nil || life.ID == "b" || len(life.Inherits) > 0 || life.Served {
			t.Errorf("%s: %v %+v", text, err, life)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(dir, "nbd.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newTrial(t, dir, "end 0").Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the stale socket: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "kept")); err != nil {
		t.Error(err)
	}
	if i, err := os.Stat(dir); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", i.Mode(), err)
	}
}

// While a server lives, no second one is started, and nothing of it is touched.
func TestOneAtATime(t *testing.T) {
	dir := t.TempDir()
	first := newTrial(t, dir, "serve 0")
	ready := make(chan os.Signal, 1)
	first.Stderr = &tell{signals: ready, with: []os.Signal{syscall.SIGTERM}}
	ended := make(chan error, 1)
	go func() {
		_, err := first.Run(t.Context())
		ended <- err
	}()
	<-ready
	before, err := zerofs.ReadIncarnation(dir)
	if err != nil || before.State != zerofs.StateRunning || before.ExitCode != nil {
		t.Errorf("%v %+v", err, before)
	}
	second := newTrial(t, dir, "end 0")
	if code, err := second.Run(t.Context()); code != 127 || !errors.Is(err, supervise.ErrHeld) {
		t.Errorf("%d %v", code, err)
	}
	if after, err := zerofs.ReadIncarnation(dir); err != nil || after.ID != before.ID {
		t.Errorf("%v %+v", err, after)
	}
	first.signals <- syscall.SIGTERM
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the server did not end")
	}
}

// Where there is no time for order, nothing is left running.
func TestAborted(t *testing.T) {
	r := newTrial(t, t.TempDir(), "serve 0")
	ready := make(chan os.Signal, 1)
	r.Stderr = &tell{signals: ready, with: []os.Signal{syscall.SIGTERM}}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-ready; cancel() }()
	code, err := r.Run(ctx)
	life, readErr := zerofs.ReadIncarnation(r.Dir)
	if code == 0 || err != nil || readErr != nil || life.State != zerofs.StateFailed {
		t.Errorf("%d %v %v %+v", code, err, readErr, life)
	}
	if next, err := newTrial(t, r.Dir, "end 3").Run(t.Context()); next != 3 || err != nil {
		t.Errorf("its successor: %d %v", next, err)
	}
}

// Who looks whether a server lives keeps none from starting.
func TestLockLookedAt(t *testing.T) {
	r := newTrial(t, t.TempDir(), "end 3")
	lock, err := os.Create(filepath.Join(r.Dir, "lock"))
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_SH)
	}
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { _ = lock.Close() })
	if code, err := r.Run(t.Context()); code != 3 || err != nil {
		t.Errorf("%d %v", code, err)
	}
}

// A server without metrics is better than none.
func TestNoMetrics(t *testing.T) {
	r := newTrial(t, t.TempDir(), "serve 0")
	r.Prometheus = "nowhere"
	r.Stderr = &tell{signals: r.signals, with: []os.Signal{syscall.SIGTERM}}
	if code, err := r.Run(t.Context()); code != 0 || err != nil {
		t.Errorf("%d %v", code, err)
	}
}

func TestNoProgram(t *testing.T) {
	r := newTrial(t, t.TempDir(), "end 0")
	r.Command = []string{"/nonexistent/zerofs"}
	code, err := r.Run(t.Context())
	life, readErr := zerofs.ReadIncarnation(r.Dir)
	if code != 127 || err == nil || readErr != nil || life.State != zerofs.StateFailed {
		t.Errorf("%d %v %v %+v", code, err, readErr, life)
	}
}
