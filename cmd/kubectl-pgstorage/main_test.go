package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait here; each thing that is waited for takes far less.
const patience = 2 * time.Minute

// asProgram in the environment makes the test's binary the program itself, so that
// real processes get real signals.
const asProgram = "PGSTORAGE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// process of the program.
type process struct {
	*exec.Cmd
	out  bytes.Buffer
	done chan error
}

func start(t *testing.T, in io.Reader, args ...string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.CommandContext(t.Context(), program, args...), done: make(chan error, 1)}
	p.Env = append(os.Environ(), asProgram+"=1", "HOME="+t.TempDir())
	p.Stdin, p.Stdout, p.Stderr = in, &p.out, &p.out
	p.WaitDelay = time.Second
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.Wait() }()
	return p
}

// ended waits for the process and returns its exit code and how long that took.
func (p *process) ended(t *testing.T) (int, time.Duration) {
	t.Helper()
	begin := time.Now()
	select {
	case err := <-p.done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
			t.Fatal(err)
		}
		return p.ProcessState.ExitCode(), time.Since(begin)
	case <-time.After(patience):
		_ = p.Process.Kill()
		t.Fatalf("it did not end\n%s", p.out.String())
	}
	return 0, 0
}

// silent accepts connections and never answers. What it accepts is counted.
func silent(t *testing.T) (kubeconfig string, accepted <-chan struct{}) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	connections := make(chan struct{}, 100)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			connections <- struct{}{}
		}
	}()
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}], "clusters": [{"name": "a", "cluster": {"server": "http://%s"}}], "users": [{"name": "a", "user": {}}]}`, listener.Addr())
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig, connections
}

// fifo that the test opens for writing once the program has opened it for reading,
// and writes nothing to.
func fifo(t *testing.T) (path string, opened <-chan struct{}) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	c := make(chan struct{}, 1)
	go func() {
		w, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err == nil {
			t.Cleanup(func() { _ = w.Close() })
			c <- struct{}{}
		}
	}()
	return name, c
}

func await(t *testing.T, what string, event <-chan struct{}, p *process) {
	t.Helper()
	select {
	case <-event:
	case err := <-p.done:
		t.Fatalf("%s: it ended before: %v\n%s", what, err, p.out.String())
	case <-time.After(patience):
		t.Fatalf("%s: nothing happened", what)
	}
}

// atOnce is far below any limit of a request, and far above what an end takes.
const atOnce = 15 * time.Second

// The server never answers.
func TestSignalsEndCommandsAtOnce(t *testing.T) {
	for _, tc := range []struct {
		signal syscall.Signal
		args   []string
	}{
		{syscall.SIGINT, []string{"status", "shop"}},
		{syscall.SIGTERM, []string{"status"}},
		{syscall.SIGINT, []string{"explain", "shop"}},
		{syscall.SIGTERM, []string{"doctor"}},
		{syscall.SIGINT, []string{"bench", "list"}},
		{syscall.SIGINT, []string{"bench", "follow", "nightly"}},
		{syscall.SIGTERM, []string{"bench", "start", "shop"}},
		{syscall.SIGINT, []string{"report", "nightly"}},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			kubeconfig, accepted := silent(t)
			p := start(t, nil, append(tc.args, "--kubeconfig", kubeconfig, "--request-timeout", "10m")...)
			await(t, "a connection", accepted, p)
			if err := p.Process.Signal(tc.signal); err != nil {
				t.Fatal(err)
			}
			if code, took := p.ended(t); code != 128+int(tc.signal) || took > atOnce {
				t.Errorf("exit code %d after %s\n%s", code, took, p.out.String())
			}
		})
	}
}

// The pipe has a writer that writes nothing.
func TestSignalsEndReadingAtOnce(t *testing.T) {
	for name, args := range map[string][]string{
		"render": {"render", "-f"}, "report": {"report", "--from"},
	} {
		t.Run(name, func(t *testing.T) {
			path, opened := fifo(t)
			p := start(t, nil, append(args, path)...)
			await(t, "the pipe", opened, p)
			if err := p.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if code, took := p.ended(t); code != 128+int(syscall.SIGINT) || took > atOnce {
				t.Errorf("exit code %d after %s\n%s", code, took, p.out.String())
			}
		})
	}
}

func TestRequestsEndWithTheirTimeout(t *testing.T) {
	for _, args := range [][]string{{"status", "shop"}, {"doctor"}, {"bench", "follow", "nightly"}, {"__complete", "status", ""}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			kubeconfig, accepted := silent(t)
			p := start(t, nil, append([]string{"--kubeconfig", kubeconfig, "--request-timeout", "1s"}, args...)...)
			await(t, "a connection", accepted, p)
			code, took := p.ended(t)
			if wanted := args[0] == "__complete"; (code == 0) != wanted || took > atOnce {
				t.Errorf("exit code %d after %s\n%s", code, took, p.out.String())
			}
		})
	}
	p := start(t, nil, "--help")
	if code, _ := p.ended(t); code != 0 || !strings.Contains(p.out.String(), `(default "30s")`) {
		t.Errorf("no limit by default: %d\n%s", code, p.out.String())
	}
}

// repeated text between a prefix and a suffix. It is not held in memory: what a process
// takes counts from what its parent had.
func repeated(prefix, text string, times int, suffix string) func(*bufio.Writer) {
	return func(w *bufio.Writer) {
		_, _ = w.WriteString(prefix)
		for range times {
			_, _ = w.WriteString(text)
		}
		_, _ = w.WriteString(suffix)
	}
}

func write(t *testing.T, path string, content func(*bufio.Writer)) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	content(w)
	// A write that failed before is the error of Flush.
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// memory that a command may take for what it refuses, and the most that it may take
// for the largest input that it reads.
const (
	refusedMemory = 400 << 20
	largestMemory = 1200 << 20
)

func TestMalformedInputIsRejectedWithinMemoryLimits(t *testing.T) {
	folder := t.TempDir()
	for name, tc := range map[string]struct {
		content func(w *bufio.Writer)
		want    string
		memory  int64
	}{
		"50 MB of text": {repeated("", "nonsense\n", 6<<20, ""), "the input is larger than 16 MiB", refusedMemory},
		"aliases of one text": {func(w *bufio.Writer) {
			repeated("a: &a ", "x", 1<<20, "\n")(w)
			repeated("b: [", "*a, ", 20_000, "*a]\n")(w)
		}, "exceeds 32 MiB after expanding its aliases", refusedMemory},
		"deep":                    {repeated("", "[", 15<<20, ""), "exceeded max depth", refusedMemory},
		"one line":                {repeated("", "x", 15<<20, ""), "not an object", refusedMemory},
		"many documents":          {repeated("", "a\n---\n", 1<<20, ""), "more than 10000 documents", refusedMemory},
		"many wrong documents":    {repeated("", "a\n---\n", 5_000, ""), "correct these first", refusedMemory},
		"the largest of one list": {repeated("a: [", "1, ", 5<<20, "1]\n"), "exceeds 32 MiB after expanding its aliases", largestMemory},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".yaml")
			write(t, path, tc.content)
			p := start(t, nil, "render", "-f", path)
			code, took := p.ended(t)
			if out := p.out.String(); code != 1 || !strings.Contains(out, tc.want) {
				t.Errorf("exit code %d, want %s\n%.500s", code, tc.want, out)
			}
			if runtime.GOOS != "linux" {
				t.Skip("the memory of a process is measured on Linux")
			}
			usage, ok := p.ProcessState.SysUsage().(*syscall.Rusage)
			if !ok {
				t.Fatalf("%T", p.ProcessState.SysUsage())
			}
			if kept := usage.Maxrss << 10; kept > tc.memory {
				t.Errorf("%d MiB of memory, at most %d", kept>>20, tc.memory>>20)
			} else {
				t.Logf("%d MiB of memory, %s", kept>>20, took)
			}
		})
	}
}
