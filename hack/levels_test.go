package hack_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeMake runs the file of a target's name, if there is one, in place of the level.
const fakeMake = `#!/bin/bash
for target; do :; done
cd "$FAKE" || exit 1
if [ -e "$target" ]; then exec bash "./$target"; fi
printf 'ok  \tpackage/of/%s\t0.1s\n' "$target"
`

// levels is a run of levels.sh whose make does what the files of a folder say.
type levels struct {
	folder string
	cmd    *exec.Cmd
	out    bytes.Buffer
}

// newLevels of a set; targets have a script each, and memory is in GiB.
func newLevels(t *testing.T, set string, memory int, targets map[string]string) *levels {
	t.Helper()
	l := &levels{folder: t.TempDir()}
	targets["make"] = fakeMake
	targets["meminfo"] = "MemTotal: 1 kB\nMemAvailable:   " + strconv.Itoa(memory<<20) + " kB\n"
	for name, text := range targets {
		if err := os.WriteFile(filepath.Join(l.folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.cmd = exec.CommandContext(t.Context(), "./levels.sh", set)
	l.cmd.Env = append(os.Environ(), "FAKE="+l.folder, "PATH="+l.folder+":"+os.Getenv("PATH"),
		"XDG_CACHE_HOME="+l.folder, "PGSTORAGE_LANES=", "PGSTORAGE_MEMINFO="+filepath.Join(l.folder, "meminfo"))
	l.cmd.Stdout, l.cmd.Stderr = &l.out, &l.out
	return l
}

// code waits for the end of the run.
func (l *levels) code(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return l.cmd.ProcessState.ExitCode()
}

// wantLines checks that the output has a line for each pattern.
func (l *levels) wantLines(t *testing.T, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile("(?m)" + pattern).MatchString(l.out.String()) {
			t.Errorf("no line matches %q in:\n%s", pattern, l.out.String())
		}
	}
}

func TestLevelsReportWhatEachCost(t *testing.T) {
	l := newLevels(t, "all", 100, map[string]string{
		"test-vm": "echo '=== RUN   TestA'; echo '    disks| --- PASS: TestGuest (1s)'; echo '    a_test.go:1: noise'; echo '--- PASS: TestA (1.0s)'; echo '    --- SKIP: TestA/b (0s)'; echo 'guest cases, disks: 1 passed'; printf 'ok  \\tvm\\t1s\\n'",
		"lint":    "echo 'shellcheck: no findings'",
	})
	if code := l.code(t, l.cmd.Run()); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	l.wantLines(t,
		`^lint +main +\d+ +\d+ +\d+  passed +-$`, `^verify +main .* passed +1 packages passed, 0 failed$`, `^unit +main `, `^install +machine `, `^browser +main `,
		`^integration +main `, `^zerofs +machine `, `^vm +machine +\d+ +\d+ +\d+  passed +1 passed, 0 failed, 1 skipped$`, `^release +machine `, `^e2e +cluster `, `^total +3 +\d+ +\d+ +\d+  passed `,
		// The closing lines of the levels.
		`^shellcheck: no findings$`, `^--- PASS: TestA \(1.0s\)$`, `^guest cases, disks: 1 passed$`, `^ok  \tvm\t1s$`, `^ok  \tpackage/of/test-e2e\t0.1s$`,
	)
	for _, unwanted := range []string{"noise", "=== RUN", "disks|"} {
		if strings.Contains(l.out.String(), unwanted) {
			t.Errorf("%q is not a closing line, and was printed", unwanted)
		}
	}
}

func TestFailedLevelFailsTheRunAndStopsNoOther(t *testing.T) {
	l := newLevels(t, "all", 100, map[string]string{
		"test-unit": "echo '--- FAIL: TestB (0.1s)'; echo '    b_test.go:1: the reason'; printf 'FAIL\\tb\\t0.1s\\nok  \\tc\\t0.1s\\n'; exit 2",
	})
	if code := l.code(t, l.cmd.Run()); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	l.wantLines(t, `FAILED: unit after`, `^---- unit: FAILED, whole output$`, `^    b_test.go:1: the reason$`, `^unit +main +\d+ +\d+ +\d+  FAILED +1 packages passed, 1 failed$`,
		`^e2e +cluster +\d+ +\d+ +\d+  passed `, `^release +machine +\d+ +\d+ +\d+  passed `, `^total +3 +\d+ +\d+ +\d+  FAILED `)
	if reason, table := strings.Index(l.out.String(), "the reason"), strings.Index(l.out.String(), "level           lane"); reason > table {
		t.Error("the table comes before a level's whole output")
	}
	if !strings.HasSuffix(strings.TrimSpace(l.out.String()), "FAIL\tb\t0.1s\nok  \tc\t0.1s") {
		t.Errorf("what failed does not end the output:\n%s", l.out.String())
	}
}

func TestLevelsRunOneAfterAnotherWithoutMemory(t *testing.T) {
	// Each level fails while another runs.
	level := "mkdir \"$FAKE/lock\" || exit 1; rmdir \"$FAKE/lock\""
	targets := func() map[string]string {
		return map[string]string{"lint": level, "test-unit": level, "test-vm": level, "test-release": level, "test-e2e": level}
	}
	little := newLevels(t, "all", 7, targets())
	if code := little.code(t, little.cmd.Run()); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	little.wantLines(t, `one lane: .* need 16 GiB of memory, and 7 are available`, `^lint +one `, `^vm +one `, `^total +1 `)
	asked := newLevels(t, "all", 100, targets())
	asked.cmd.Env = append(asked.cmd.Env, "PGSTORAGE_LANES=1")
	if code := asked.code(t, asked.cmd.Run()); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	asked.wantLines(t, `one lane: PGSTORAGE_LANES=1`, `^vm +one `, `^total +1 `)
}

// Lanes run at once: each of the two levels waits for the other.
func TestLanesRunSideBySide(t *testing.T) {
	meet := func(mine, other string) string {
		return "mkfifo \"$FAKE/" + mine + ".pipe\" 2>/dev/null; for _ in {1..600}; do [ -p \"$FAKE/" + other + ".pipe\" ] && exit 0; sleep 0.1; done; exit 1"
	}
	l := newLevels(t, "all", 100, map[string]string{"lint": meet("lint", "vm"), "test-vm": meet("vm", "lint")})
	if code := l.code(t, l.cmd.Run()); code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, l.out.String())
	}
}

func TestInterruptEndsEveryLevel(t *testing.T) {
	// A level with a child, as go test has.
	hangs := func(name string) string {
		return "sleep 1000 & echo $! >\"$FAKE/" + name + ".part\"; mv \"$FAKE/" + name + ".part\" \"$FAKE/" + name + ".pid\"; echo begun; wait"
	}
	l := newLevels(t, "all", 100, map[string]string{"verify": hangs("verify"), "test-vm": hangs("vm")})
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	children := []int{l.pid(t, "verify"), l.pid(t, "vm")}
	if err := l.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := l.code(t, l.cmd.Wait()); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	for _, pid := range children {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) && !zombie(pid) {
			t.Errorf("process %d of a level still runs: %v", pid, err)
		}
	}
	l.wantLines(t, `^lint +main .* passed `, `^verify +main .* interrupted `, `^vm +machine .* interrupted `, `^release +- +- +- +-  not-run +-$`, `^begun$`, `^total .* FAILED `)
}

// What a failed level leaves behind must not hold up the report.
func TestOrphanDoesNotDelayTheReport(t *testing.T) {
	l := newLevels(t, "all", 100, map[string]string{
		"test-unit": "sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >\"$FAKE/orphan.part\"; mv \"$FAKE/orphan.part\" \"$FAKE/orphan.pid\"; printf 'ok  \\tc\\t0.1s\\n'",
	})
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	orphan := l.pid(t, "orphan")
	ended := make(chan error, 1)
	go func() { ended <- l.cmd.Wait() }()
	select {
	case err := <-ended:
		if code := l.code(t, err); code != 0 || zombie(orphan) {
			t.Errorf("exit code %d, the orphan has ended: %t", code, zombie(orphan))
		}
	case <-time.After(time.Minute):
		t.Error("the run waits for a process that a level left behind")
	}
	_ = syscall.Kill(orphan, syscall.SIGKILL)
}

// pid that a level wrote.
func (l *levels) pid(t *testing.T, name string) int {
	t.Helper()
	for limit := time.After(time.Minute); ; {
		if text, err := os.ReadFile(filepath.Join(l.folder, name+".pid")); err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			t.Fatalf("level %s did not start: %s", name, l.out.String())
		}
	}
}

// zombie reports whether a process has ended, although its parent has not collected it.
func zombie(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestQuickLevelsNeedNoMachine(t *testing.T) {
	l := newLevels(t, "quick", 100, map[string]string{"test-e2e": "exit 1", "test-vm": "exit 1", "test-ceph": "exit 1", "test-integration": "exit 1"})
	if code := l.code(t, l.cmd.Run()); code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, l.out.String())
	}
	l.wantLines(t, `^lint +main `, `^verify +main `, `^unit +second `, `^install +second `, `^plugin +second `)
}

// The long set has what make test has in part or not at all.
func TestLongLevelsAreTheOthers(t *testing.T) {
	l := newLevels(t, "long", 100, map[string]string{"lint": "exit 1", "test-unit": "exit 1"})
	if code := l.code(t, l.cmd.Run()); code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, l.out.String())
	}
	l.wantLines(t, `^vm +one `, `^e2e +one `, `^ceph +one `, `^e2e-sites +one `, `^e2e-zfs-nodes +one `, `^total +1 `)
}

func TestUnknownSetIsRefused(t *testing.T) {
	l := newLevels(t, "some", 100, map[string]string{})
	if code := l.code(t, l.cmd.Run()); code != 1 || !strings.Contains(l.out.String(), "usage: hack/levels.sh all|quick|long") {
		t.Errorf("exit code %d:\n%s", code, l.out.String())
	}
}

// Every test target of the Makefile is a level, or documented as none.
func TestEveryTestTargetIsALevel(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("levels.sh")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, match := range regexp.MustCompile(`(?m)^(test-[a-z0-9-]+|lint|verify):.*##`).FindAllStringSubmatch(string(makefile), -1) {
		if match[1] == "test-quick" || match[1] == "test-long" {
			continue
		}
		found++
		if !strings.Contains(string(page), "`make "+match[1]+"`") {
			t.Errorf("docs/testing.md does not list make %s", match[1])
		}
		level := regexp.MustCompile(`(?m)^\t\t[a-z0-9-]+ +` + match[1] + ` +\d+ +([a-z]|- +[a-z])`).Match(script)
		if outside := regexp.MustCompile("(?m)^\\| `make " + match[1] + "`.*not in `make test`").Match(page); level == outside {
			t.Errorf("make %s is a level: %t; docs/testing.md says that it is not: %t", match[1], level, outside)
		}
	}
	if found < 10 {
		t.Errorf("%d targets found in the Makefile", found)
	}
}
