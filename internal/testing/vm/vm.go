//go:build linux

// Package vm boots virtual machines for tests of what a container's kernel lacks:
// ZFS, NBD, disks that fail, power that goes. hack/vm.sh makes the image; QEMU and
// nbdkit run here on the host, and end with the test's process, however it ends.
package vm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/process"
)

const (
	defaultTimeout    = 5 * time.Minute
	defaultMemoryMiB  = 2048
	defaultProcessors = 2
	// patience bounds how long a killed process may take to end.
	patience = 30 * time.Second
)

// ErrPowerCut is what Wait returns for a machine whose power was cut.
var ErrPowerCut = errors.New("the power was cut")

var (
	errTimeout = errors.New("its time was over")
	errEnded   = errors.New("QEMU ended")
)

// Options of a machine.
type Options struct {
	Image Image
	// Dir is the machine's own, for what it writes; t.TempDir() will do.
	Dir string
	// Payload has, for each name in the guest's /payload, a file here. The one
	// named run is what the guest runs, with Args and Env.
	Payload map[string]string
	Args    []string
	Env     []string
	Disks   []Disk
	// Memory in MiB; 2048 without it.
	Memory int
	// Processors; 2 without it.
	Processors int
	// Model of an emulated processor, as QEMU names it; QEMU's own without it, which has
	// no instruction younger than SSE3.
	Model string
	// Console gets what the guest prints, line by line.
	Console io.Writer
	// Timeout ends a machine that is still running; 5 minutes without it.
	Timeout time.Duration
}

// Result of a machine that powered itself off.
type Result struct {
	ExitCode int
	// Artefacts is a folder with what the guest left in /artefacts.
	Artefacts string
}

// Machine is one boot.
type Machine struct {
	options Options
	console *console
	qemu    *process.Process
	servers []*Server
	// end stops everything that belongs to the machine; why has the first reason.
	end context.CancelCauseFunc
	why func() error
	cut atomic.Bool
}

// Boot starts a machine. It lives until it powers off, Close, or the end of ctx.
func Boot(ctx context.Context, o Options) (*Machine, error) {
	m := &Machine{options: o.withDefaults()}
	m.console = newConsole(m.options.Console)
	ctx, m.end = context.WithCancelCause(ctx)
	ctx, free := context.WithTimeoutCause(ctx, m.options.Timeout, errTimeout)
	m.why = func() error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if err := m.start(ctx); err != nil {
		m.stopServers()
		free()
		return nil, fmt.Errorf("boot a virtual machine: %w", err)
	}
	go func() {
		<-m.qemu.Done()
		m.end(errEnded)
		free()
	}()
	return m, nil
}

func (o Options) withDefaults() Options {
	if o.Memory == 0 {
		o.Memory = defaultMemoryMiB
	}
	if o.Processors == 0 {
		o.Processors = defaultProcessors
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Console == nil {
		o.Console = io.Discard
	}
	return o
}

func (m *Machine) start(ctx context.Context) error {
	if err := m.writePayload(); err != nil {
		return err
	}
	disks, err := m.prepareDisks(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", m.arguments(disks)...) //nolint:gosec // a test's own arguments
	cmd.Stdout, cmd.Stderr = m.console, m.console
	// QEMU's copy of the root image lies there.
	cmd.Env = append(os.Environ(), "TMPDIR="+m.options.Dir)
	m.qemu, err = process.Start(cmd)
	return err
}

// WaitFor returns the first whole line of the console that contains text, also
// one from before the call. It fails when the machine ends without such a line.
func (m *Machine) WaitFor(ctx context.Context, text string) (string, error) {
	line, err := m.console.waitFor(ctx, m.qemu.Done(), text)
	if err != nil {
		return "", fmt.Errorf("wait for %q on the console: %w; its end:\n%s", text, err, m.console.tail())
	}
	return line, nil
}

// Wait waits until the machine has ended, and unpacks what it left.
func (m *Machine) Wait(ctx context.Context) (Result, error) {
	select {
	case <-m.qemu.Done():
	case <-ctx.Done():
		return Result{}, fmt.Errorf("wait for a virtual machine: %w", context.Cause(ctx))
	}
	m.stopServers()
	if m.cut.Load() {
		return Result{}, ErrPowerCut
	}
	code, err := m.exitCode()
	if err != nil {
		return Result{}, err
	}
	artefacts := filepath.Join(m.options.Dir, "artefacts")
	if err := extractTar(m.artefactsPath(), artefacts); err != nil {
		return Result{}, fmt.Errorf("unpack the guest's artefacts: %w", err)
	}
	return Result{ExitCode: code, Artefacts: artefacts}, nil
}

var exitLine = regexp.MustCompile(`^pgstorage-vm: exit (\d+)$`)

// exitCode is what the guest's init printed last: before it, the payload had the console.
func (m *Machine) exitCode() (int, error) {
	match := m.console.lastMatch(exitLine)
	if match == nil {
		return 0, fmt.Errorf("the machine told no exit code: %w; the console's end:\n%s", errors.Join(m.why(), m.qemu.Wait(patience)), m.console.tail())
	}
	return strconv.Atoi(match[1])
}

// PowerCut ends the machine as a power failure would, and returns when it is gone.
//
// What a disk keeps depends on its backend. A Disk of a file keeps every write that QEMU had
// passed to the host, flushed or not. Killing QEMU does not cut the host's power. It loses only
// writes still on their way, and what the guest had in its own memory.
//
// A Volatile disk also loses what the guest had not flushed, as a drive does whose cache has no
// battery. Its server dies with the unflushed writes. PowerCut halts the guest first, so that
// the guest does not see its disks die.
func (m *Machine) PowerCut() error {
	m.cut.Store(true)
	if err := m.qemu.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("halt the machine: %w", err)
	}
	m.stopServers()
	m.Close()
	return m.qemu.Kill()
}

// Freeze stops the machine's processors, and all else of it but its disks, until Thaw.
// Its clock does not stand still meanwhile.
func (m *Machine) Freeze() error { return m.qemu.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen machine continue.
func (m *Machine) Thaw() error { return m.qemu.Signal(syscall.SIGCONT) }

// Close ends a machine at once, if it still runs; so it suits t.Cleanup.
func (m *Machine) Close() {
	_ = m.qemu.Kill()
	m.stopServers()
}

func (m *Machine) stopServers() {
	for _, s := range m.servers {
		s.Kill()
	}
}
