//go:build linux

package process

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// parent in the environment makes this test binary a parent that is to be killed.
const parent = "PGSTORAGE_TEST_PARENT"

// The main thread never ends, so no other goroutine may have it.
func init() { runtime.LockOSThread() }

// says makes sh say a word and run until a signal ends it.
const says = "echo started; exec sleep 1000"

// parents start a child each, and wait for its end.
var parents = map[string]func(*testing.T){
	"starts it": func(t *testing.T) {
		child := exec.CommandContext(t.Context(), "sh", "-c", says)
		child.Stdout = os.Stdout
		p, err := Start(child)
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
	},
	"has another package start it in a process group": func(t *testing.T) {
		child := tied(t, "-c", says)
		child.Stdout = os.Stdout
		child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := Lasting(child.Start); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
	},
}

// A test that is killed runs no cleanup, so the kernel must end its children. Both
// hold the write end of a pipe: its end of file is the end of the last of them.
func TestChildEndsWithItsParent(t *testing.T) {
	if be := parents[os.Getenv(parent)]; be != nil {
		be(t)
		return
	}
	for name := range parents {
		t.Run(name, func(t *testing.T) { childEnds(t, name) })
	}
}

func childEnds(t *testing.T, name string) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildEndsWithItsParent$")
	cmd.Env = append(os.Environ(), parent+"="+name)
	cmd.Stdout = writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := reader.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(reader, make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(reader); err != nil {
		t.Errorf("the child outlives its parent: %v", err)
	}
	_ = cmd.Wait()
}

// tied is a command of a shell that ends with this process.
func tied(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	// The path of a program can have a quotation mark.
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "a user's sh")
	if err := os.Symlink(sh, program); err != nil {
		t.Fatal(err)
	}
	path, err := Tied(t.TempDir(), program)
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), path, args...)
}

// The kernel takes the end of a thread for the end of the parent.
func TestTiedChildOutlivesTheThreadOfItsCaller(t *testing.T) {
	child := tied(t, "-c", "echo started; read -r word && exit 3")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	thread, started := 0, make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		thread = syscall.Gettid()
		err := Lasting(child.Start)
		if err == nil {
			_, err = io.ReadFull(out, make([]byte, 2)) // the kernel knows of the tie now
		}
		started <- err
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	waitForEndOf(t, thread)
	if _, err := io.WriteString(in, "go on\n"); err != nil {
		t.Error(err)
	}
	if _ = child.Wait(); child.ProcessState.ExitCode() != 3 {
		t.Errorf("the child ended: %s", child.ProcessState)
	}
}

// waitForEndOf a thread of this process.
func waitForEndOf(t *testing.T, thread int) {
	t.Helper()
	for limit := time.After(patience); ; {
		if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(thread)); err != nil {
			return
		}
		select {
		case <-limit:
			t.Fatal("the thread does not end")
		case <-time.After(pause):
		}
	}
}

// The parent may end before its child has asked the kernel to end it, too.
func TestTiedProgramDoesNotStartForAnotherParent(t *testing.T) {
	child := tied(t, "-c", "exit 3")
	other := exec.CommandContext(t.Context(), "sh", "-c", `"$0" "$@"; echo $?`)
	other.Args = append(other.Args, child.Args...)
	if out, err := other.Output(); err != nil || string(out) != "1\n" {
		t.Errorf("a child of another process: exit code %q, %v, want 1", out, err)
	}
}
