package host

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain is also a program zpool, for the tests that need one without libraries.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "zpool" {
		wd, _ := os.Getwd()
		_, err := os.Stat("/inside")
		fmt.Printf("args=%q env=%q wd=%s inside=%v\n", os.Args[1:], os.Environ(), wd, err == nil)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake gives an Exec with one program, a script.
func fake(t *testing.T, program, script string) *Exec {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Exec{dirs: []string{"/nowhere", dir}, Timeout: 20 * time.Second}
}

func TestOutputAndEnvironment(t *testing.T) {
	t.Setenv("SECRET", "not for children")
	e := fake(t, "zpool", `echo "$@"; env | sort; pwd; echo complaint >&2`)
	out, err := e.Run(t.Context(), "zpool", "get", "-Hp", "all", "$(id)")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out.Stdout), "\n")
	if lines[0] != "get -Hp all $(id)" {
		t.Errorf("arguments %q", lines[0])
	}
	for _, want := range append(environment, "/") {
		if !slices.Contains(lines, want) {
			t.Errorf("no %q in %q", want, lines)
		}
	}
	if strings.Contains(string(out.Stdout), "SECRET") {
		t.Error("the agent's environment reaches its children")
	}
	if string(out.Stderr) != "complaint\n" {
		t.Errorf("stderr %q", out.Stderr)
	}
}

func TestErrorsTellTheCommand(t *testing.T) {
	e := fake(t, "zpool", "printf 'one\\n\\ntwo\\nthree\\nfour\\n' >&2; exit 3")
	_, err := e.Change(t.Context(), "zpool", "set", "autotrim=on", "tank")
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatalf("%T", err)
	}
	if failed.ExitCode != 3 || failed.Stderr != "one\n\ntwo\nthree\nfour\n" || failed.Argv[1] != "set" {
		t.Errorf("%+v", failed)
	}
	if want := "zpool set autotrim=on tank: exit status 3: one; two; three; ..."; err.Error() != want {
		t.Errorf("%q, wanted %q", err, want)
	}
}

// A search for pools on a node with many disks does not hide what zpool said of it.
func TestErrorsShortenLongCommands(t *testing.T) {
	argv := []string{"zpool", "import", "-N"}
	for i := range 400 {
		argv = append(argv, "-d", fmt.Sprintf("/dev/disk/by-id/nvme-model-with-a-long-name-%d", i))
	}
	failed := &Error{Argv: append(argv, "42"), Err: errors.New("exit status 1"), Stderr: "cannot import 'tank': pool is busy\n"}
	got := failed.Error()
	if !strings.HasPrefix(got, "zpool import -N -d /dev/disk/by-id/nvme-model-with-a-long-name-0 ") ||
		!strings.HasSuffix(got, " ... 42: exit status 1: cannot import 'tank': pool is busy") || len(got) > 2000 || len(failed.Argv) != 804 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestRefusedCommandsDoNotStart(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "ran")
	e := fake(t, "zpool", "touch "+mark)
	_, err := e.Change(t.Context(), "zpool", "destroy", "tank")
	var failed *Error
	if !errors.Is(err, ErrRefused) || !errors.As(err, &failed) || failed.ExitCode != -1 {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
}

func TestProgramsThatAreNotThere(t *testing.T) {
	e := fake(t, "zpool", "true")
	if _, err := e.Run(t.Context(), "zfs", "version"); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("%v", err)
	}
	if err := os.Mkdir(filepath.Join(e.dirs[1], "zfs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "zfs", "version"); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("a directory: %v", err)
	}
	e = fake(t, "zpool", "true")
	if err := os.WriteFile(filepath.Join(e.dirs[1], "zpool"), []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "zpool", "version"); !errors.Is(err, syscall.ENOEXEC) {
		t.Errorf("no program: %v", err)
	}
	// The zero value knows the node's directories.
	if _, err := new(Exec).Run(t.Context(), "lsblk", "-J"); err != nil && !errors.Is(err, ErrNotInstalled) {
		if failed := new(Error); !errors.As(err, &failed) {
			t.Errorf("%v", err)
		}
	}
}

func TestTimeoutKillsTheWholeGroup(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	e := fake(t, "zpool", "sleep 600 & echo $! > "+pid+".new; mv "+pid+".new "+pid+"; wait")
	e.Timeout = 500 * time.Millisecond
	start := time.Now()
	_, err := e.Run(t.Context(), "zpool", "version")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "500ms") {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > closeDelay {
		t.Errorf("took %s: the grandchild held the pipe", took)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Skipf("the machine is too slow to start a child in %s", e.Timeout)
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	eventually(t, func() bool { return gone(n) })
}

// gone reports whether a process has ended, even if its parent has not read the exit code.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			t.Fatal("not within 10 s")
		case <-tick.C:
		}
	}
}

func TestSlowCommandsHaveLonger(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"zpool import -N 123":  10 * time.Second,
		"zpool create tank /x": 10 * time.Second,
		"zpool list":           time.Second,
		"lsblk":                time.Second,
	} {
		f := strings.Fields(line)
		if got := (&Exec{Timeout: time.Second}).timeout(f[0], f[1:]); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
	if got := new(Exec).timeout("lsblk", nil); got != DefaultTimeout {
		t.Error(got)
	}
}

func TestCancelledByTheCaller(t *testing.T) {
	e := fake(t, "zpool", "exec sleep 600")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := e.Run(ctx, "zpool", "version")
	if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "no end within") {
		t.Errorf("%v", err)
	}
}

// Ending the agent must not leave a pool half made.
func TestChangesOutliveTheirCaller(t *testing.T) {
	e := fake(t, "zpool", "echo made")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := e.Change(ctx, "zpool", "create", "tank", "/dev/disk/by-id/x"); err != nil || string(out.Stdout) != "made\n" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
	if _, err := e.Run(ctx, "zpool", "version"); !errors.Is(err, context.Canceled) {
		t.Errorf("a read: %v", err)
	}
}

func TestTooMuchOutput(t *testing.T) {
	for _, to := range []string{"1", "2"} {
		e := fake(t, "zpool", "yes >&"+to)
		e.MaxOutput = 10_000
		_, err := e.Run(t.Context(), "zpool", "version")
		if !errors.Is(err, ErrTooMuchOutput) {
			t.Errorf("stream %s: %v", to, err)
		}
	}
	e := fake(t, "zpool", "printf 1234")
	e.MaxOutput = 4
	if out, err := e.Run(t.Context(), "zpool", "version"); err != nil || string(out.Stdout) != "1234" {
		t.Errorf("exactly the bound: %q, %v", out.Stdout, err)
	}
}

// A command that a signal does not end, as in the kernel on a suspended pool.
func TestStuckCommandsDoNotBlock(t *testing.T) {
	e := fake(t, "zpool", "exec sleep 600")
	e.Timeout, e.stuckAfter = 20*time.Millisecond, 20*time.Millisecond
	pids := make(chan int, 2*MaxStuck)
	e.kill = func(pid int) error { pids <- pid; return nil }
	for range MaxStuck {
		_, err := e.Run(t.Context(), "zpool", "version")
		if !errors.Is(err, ErrStuck) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v", err)
		}
	}
	_, err := e.Run(t.Context(), "zpool", "version")
	if !errors.Is(err, ErrStuck) || !strings.Contains(err.Error(), "no more are started") {
		t.Errorf("%v", err)
	}
	for range MaxStuck {
		_ = syscall.Kill(-<-pids, syscall.SIGKILL)
	}
	eventually(t, func() bool { return e.stuck.Load() == 0 })
	if len(pids) > 0 {
		t.Error("one more was started")
	}
}

func TestManyCommandsAtOnce(t *testing.T) {
	e := fake(t, "zpool", "echo \"$3\"")
	var all sync.WaitGroup
	for i := range 2 * MaxStuck { // commands that run are not stuck
		all.Go(func() {
			want := fmt.Sprintf("pool%d", i)
			out, err := e.Run(t.Context(), "zpool", "get", "all", want)
			if err != nil || strings.TrimSpace(string(out.Stdout)) != want {
				t.Errorf("%s: %q, %v", want, out.Stdout, err)
			}
		})
	}
	all.Wait()
	if n := e.stuck.Load(); n != 0 {
		t.Errorf("%d stuck", n)
	}
}

func TestConfinedToTheNodesRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("chroot needs root")
	}
	self := "/proc/self/exe"
	if !static(t, self) {
		t.Skip("this test's binary needs libraries")
	}
	root := t.TempDir()
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{"usr/lib/zfs/zpool": data, "inside": nil} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "usr/sbin"), 0o755); err != nil {
		t.Fatal(err)
	}
	// An absolute link is valid only below the root.
	if err := os.Symlink("/usr/lib/zfs/zpool", filepath.Join(root, "usr/sbin/zpool")); err != nil {
		t.Fatal(err)
	}
	out, err := (&Exec{Root: root}).Run(t.Context(), "zpool", "version")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("args=[\"version\"] env=%q wd=/ inside=true\n", environment)
	if string(out.Stdout) != want {
		t.Errorf("%s, wanted %s", out.Stdout, want)
	}
}

func static(t *testing.T, path string) bool {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Skipf("no ELF on %s: %v", runtime.GOOS, err)
	}
	linked := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	return !linked && f.Close() == nil
}
