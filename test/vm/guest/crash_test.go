//go:build guest

package guest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/testing/long"
)

// moment of an agent's life at which it is killed.
type moment string

const (
	neverKilled moment = "never"
	// Before and after its command number At.
	killedBefore moment = "before"
	killedAfter  moment = "after"
	// These fall within the zpool create that the agent started and that survives it: once the
	// program runs, and once the disks have their partitions.
	killedStarted     moment = "started"
	killedPartitioned moment = "partitioned"
)

// crash is the job of a child: an agent that is killed at a moment.
type crash struct {
	When moment
	At   int
	// Dir has what survives the agent: its status, as the API server keeps it, and the commands
	// that it ran.
	Dir string
	// Wipe is that of the first disk.
	Wipe bool
}

const crashEnv = "PGSTORAGE_CRASH"

func (c crash) file(name string) string { return filepath.Join(c.Dir, name) }

// declared of the pool on disk 0.
func (c crash) declared() *v1alpha1.PgNodeStorage {
	s := declared("crashed", madeOf(v1alpha1.VdevStripe, 0))
	s.Spec.Pool.Create.Vdevs[0].Devices[0].Wipe = &c.Wipe
	return s
}

// TestCrashChild is the agent that is killed, in a process of its own. It does nothing without
// a job from the tests below.
func TestCrashChild(t *testing.T) {
	text := os.Getenv(crashEnv)
	if text == "" {
		return
	}
	var c crash
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	n := agent.New("", c.runner())
	s := c.declared()
	for range 10 {
		result, err := n.Pass(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		result.Status.Conditions = status.Conditions(s.Status.Conditions, s.Generation, metav1.Now(), result.Outcomes)
		s.Status = result.Status
		if err := c.keep(s.Status); err != nil {
			t.Fatal(err)
		}
		if !result.Changed {
			return
		}
		if err := c.note("passes", []string{strconv.Itoa(len(c.lines(t, "commands")))}); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("ten passes did not converge: %+v", s.Status.Conditions)
}

func (c crash) keep(s v1alpha1.PgNodeStorageStatus) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(c.file("status"), data, 0o600)
}

// runner dies at the moment. It records each command before it runs, and the changes that were
// made. A change that the client repeats at once, because udev was late, counts as one.
func (c crash) runner() host.Runner {
	count := 0
	var last []string
	return &host.Hook{
		Runner: &mortal{Runner: &host.Exec{}, crash: c, count: &count},
		Before: func(argv []string) error {
			if argv[0] == "zpool" && argv[1] == "create" && slices.Equal(argv, last) {
				return nil
			}
			last = slices.Clone(argv)
			count++
			if err := c.note("commands", argv); err != nil {
				return err
			}
			if c.When == killedBefore && c.At == count {
				die()
			}
			return nil
		},
	}
}

func (c crash) note(name string, argv []string) error {
	f, err := os.OpenFile(c.file(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, strings.Join(argv, " "))
	return errors.Join(err, f.Close())
}

// mortal dies once a command has run, or while zpool create does.
type mortal struct {
	host.Runner
	crash crash
	count *int
}

func (m *mortal) Run(ctx context.Context, program string, args ...string) (host.Output, error) {
	out, err := m.Runner.Run(ctx, program, args...)
	m.dieAfter()
	return out, err
}

func (m *mortal) Change(ctx context.Context, program string, args ...string) (host.Output, error) {
	if program == "zpool" && args[0] == "create" && (m.crash.When == killedStarted || m.crash.When == killedPartitioned) {
		go func() { _, _ = m.Runner.Change(ctx, program, args...) }()
		m.dieAmid()
	}
	out, err := m.Runner.Change(ctx, program, args...)
	if err == nil {
		if err := m.crash.note("changes", append([]string{program}, args...)); err != nil {
			return out, err
		}
	}
	m.dieAfter()
	return out, err
}

func (m *mortal) dieAfter() {
	if m.crash.When == killedAfter && m.crash.At == *m.count {
		die()
	}
}

// dieAmid halts the running command, and records its process id. The kernel knows partitions
// before udev has named them, for which zpool waits.
func (m *mortal) dieAmid() {
	kernel, err := filepath.EvalSymlinks(disk(0))
	if err != nil {
		return
	}
	partition := "/sys/class/block/" + filepath.Base(kernel) + "1"
	pid := 0
	for pid == 0 {
		pid = childOf(os.Getpid(), "zpool")
	}
	for m.crash.When == killedPartitioned && !exists(partition) {
		continue
	}
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	_ = os.WriteFile(m.crash.file("pid"), []byte(strconv.Itoa(pid)), 0o600)
	die()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// childOf finds a process by its parent and program, or 0.
func childOf(parent int, program string) int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		f := strings.Fields(string(text)) // number, (program), state, parent
		if len(f) > 3 && f[1] == "("+program+")" && f[3] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(f[0])
			return pid
		}
	}
	return 0
}

// die ends the process as the OOM killer does: it cleans up nothing.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// killed runs the child, which must die at its moment, or finish.
func (c crash) killed(t *testing.T) {
	t.Helper()
	if killed := runChild(t, "TestCrashChild", crashEnv, c); killed != (c.When != neverKilled) {
		t.Fatalf("the child was killed: %v", killed)
	}
}

// runChild runs a test of this binary in a process of its own, with its job in the environment.
// It reports whether the child was killed. Any other failure of the child fails the test.
func runChild(t *testing.T, test, env string, todo any) (killed bool) {
	t.Helper()
	text, err := json.Marshal(todo)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), env+"="+string(text))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	exit, _ := errors.AsType[*exec.ExitError](err)
	if exit == nil || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child was not killed: %v: %s", err, out)
	}
	return true
}

// lines of a file of the crash; none where there is no file.
func (c crash) lines(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(c.file(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
}

// prepare clears disk 0, which then carries a file system if it is to be wiped.
func (c crash) prepare(t *testing.T) {
	t.Helper()
	erase(t, "crashed", 0)
	if c.Wipe {
		text(0, "bluestore block device\n")(t, disk(0))
	}
}

// recover has a fresh agent converge, with the status that was kept or without one. It returns
// the pool creations that succeeded, of both agents.
func (c crash) recover(t *testing.T, kept bool) {
	t.Helper()
	was := importedGUID(t)
	s := c.declared()
	if kept {
		if err := json.Unmarshal([]byte(file(t, c.file("status"), "")), &s.Status); err != nil {
			t.Fatal(err)
		}
	}
	n, _ := c.successor()
	ready(t, n, s)
	if now := importedGUID(t); was != "" && now != was {
		t.Errorf("the pool's GUID was %s and is %s", was, now)
	}
	made := 0
	for _, change := range c.lines(t, "changes") {
		if strings.HasPrefix(change, "zpool create ") {
			made++
		}
	}
	if made != 1 {
		t.Errorf("zpool create succeeded %d times:\n%s", made, strings.Join(c.lines(t, "changes"), "\n"))
	}
}

// successor of the agent that was killed: it continues with the same notes, and lives.
func (c crash) successor() (*agent.Node, *host.Counter) {
	c.When = neverKilled
	counter := host.Counting(c.runner())
	return agent.New("", counter), counter
}

// importedGUID of the pool, or empty.
func importedGUID(t *testing.T) string {
	t.Helper()
	for line := range strings.Lines(run(t, "zpool", "list", "-Hp", "-o", "name,guid,health")) {
		if f := strings.Fields(line); f[0] == "crashed" {
			if f[2] != "ONLINE" {
				t.Errorf("the pool is %s", f[2])
			}
			return f[1]
		}
	}
	return ""
}

// everything declared of the pool, as programs print it.
func everything(t *testing.T) string {
	t.Helper()
	return run(t, "zpool", "get", "-Hp", "-o", "name,property,value,source", "ashift,autotrim,failmode,health,size", "crashed") + "\n" +
		run(t, "zfs", "get", "-Hp", "-r", "-o", "name,property,value,source", "-s", "local", "all", "crashed")
}

// After an agent was killed at any command, the next one converges. There is one pool, created
// once, with everything as without a crash.
func TestNextAgentRecoversFromACrashAtEveryCommand(t *testing.T) {
	var commands []string
	var begins []int // the first commands of the later passes, by their index
	var want string
	t.Run("never", func(t *testing.T) {
		c := crash{When: neverKilled, Dir: t.TempDir(), Wipe: true}
		c.prepare(t)
		c.killed(t)
		commands, want = c.lines(t, "commands"), everything(t)
		for _, count := range c.lines(t, "passes") {
			begin, err := strconv.Atoi(count)
			if err != nil {
				t.Fatal(err)
			}
			begins = append(begins, begin)
		}
	})
	if len(commands) < 20 || strings.Count(want, "\n") < 30 {
		t.Fatalf("%d commands made\n%s", len(commands), want)
	}
	made := slices.IndexFunc(commands, func(c string) bool { return strings.HasPrefix(c, "zpool create ") })
	for i, command := range commands {
		for _, when := range []moment{killedBefore, killedAfter} {
			for _, kept := range []bool{false, true} {
				if kept && i <= made || when == killedAfter && reads(t, command) {
					continue
				}
				if when == killedBefore && i > 0 && !slices.Contains(begins, i) && reads(t, commands[i-1]) {
					continue
				}
				name := fmt.Sprintf("%s %d %.20s, status kept %v", when, i+1, command, kept)
				c := crash{When: when, At: i + 1, Wipe: true}
				t.Run(name, func(t *testing.T) { crashAt(t, c, command, kept, want) })
			}
		}
	}
}

// reads reports that a command changes nothing. A crash after it is then equal to a crash before
// it, and to one before the next command of the same pass.
func reads(t *testing.T, command string) bool {
	words := strings.Fields(command)
	return host.Check(t.Context(), false, words[0], words[1:]...) == nil
}

// crashAt kills at a command, with the status kept or lost. There is a status once the first
// pass has ended.
func crashAt(t *testing.T, c crash, command string, kept bool, want string) {
	c.Dir = t.TempDir()
	c.prepare(t)
	c.killed(t)
	if commands := c.lines(t, "commands"); len(commands) != c.At || commands[c.At-1] != command {
		t.Fatalf("killed at another command: %q", commands)
	}
	c.recover(t, kept)
	if got := everything(t); got != want {
		t.Errorf("made\n%s\nwant\n%s", got, want)
	}
}

// adoptOrphans makes this process the parent of what its killed children leave, so
// that it can wait for them.
func adoptOrphans(t *testing.T) {
	t.Helper()
	const subreaper = 36 // PR_SET_CHILD_SUBREAPER
	set := func(on uintptr) {
		if _, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, subreaper, on, 0); err != 0 {
			t.Fatal(err)
		}
	}
	set(1)
	t.Cleanup(func() { set(0) })
}

// An agent is killed while zpool create runs, which survives it. Whatever the next agent does
// meanwhile, in the end there is one complete pool, which can be exported and imported.
func TestPoolSurvivesACrashDuringItsCreation(t *testing.T) {
	long.Skip(t, "make test-vm")
	adoptOrphans(t)
	for _, when := range []moment{killedStarted, killedPartitioned} {
		for _, wipe := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, wipe %v", when, wipe), func(t *testing.T) {
				c := crash{When: when, Wipe: wipe, Dir: t.TempDir()}
				c.prepare(t)
				c.killed(t)
				s := c.declared()
				n, _ := c.successor()
				for range 3 {
					pass(t, n, s)
				}
				was := importedGUID(t)
				c.end(t, syscall.SIGCONT)
				ready(t, n, s)
				if now := importedGUID(t); was != "" && now != was {
					t.Errorf("the pool's GUID was %s and is %s", was, now)
				}
				was = importedGUID(t)
				alone(t, "zpool", "export", "crashed")
				ready(t, n, s)
				if now := importedGUID(t); now != was {
					t.Errorf("the pool's GUID was %s and is %s", was, now)
				}
			})
		}
	}
}

// end ends the command that outlived its agent, by a signal.
func (c crash) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	pid, err := strconv.Atoi(file(t, c.file("pid"), ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		_, err = syscall.Wait4(pid, nil, 0, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Where zpool create is killed with its agent, as with a container, its partitions remain. Only
// we know that they are ours; the agent cannot, so an administrator must set wipe. Then the
// agent continues.
func TestKilledCreationNeedsAWipe(t *testing.T) {
	adoptOrphans(t)
	c := crash{When: killedPartitioned, Dir: t.TempDir()}
	c.prepare(t)
	c.killed(t)
	c.end(t, syscall.SIGKILL)
	settle(t)
	s := c.declared()
	before := digests(t, 0)
	refused(t, s, 2, notBlank(t, carrier{words: tableOfPool}, 0))
	wantDigests(t, before, 0)
	s.Spec.Pool.Create.Vdevs[0].Devices[0].Wipe = new(true)
	n, _ := c.successor()
	ready(t, n, s)
	if made := slices.DeleteFunc(c.lines(t, "changes"), func(l string) bool { return !strings.HasPrefix(l, "zpool create ") }); len(made) != 1 {
		t.Errorf("ran %q", made)
	}
}
