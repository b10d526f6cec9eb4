//go:build linux

package vm

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a child that does not outlive us.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // after done
}

// startProcess starts a child that the kernel kills when we die. The kernel takes
// the end of the thread that started it for our end, so that thread stays.
func startProcess(cmd *exec.Cmd) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.WaitDelay = patience
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, <-started
}

// signal does nothing to a process that has ended.
func (p *process) signal(s os.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
		return p.cmd.Process.Signal(s)
	}
}

func (p *process) waitEnd(limit time.Duration) error {
	select {
	case <-p.done:
		return nil
	case <-time.After(limit):
		return fmt.Errorf("process %d has not ended within %s", p.cmd.Process.Pid, limit)
	}
}
