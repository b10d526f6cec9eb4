//go:build linux

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Tied writes a script of a program's name into a folder and returns its path. The script runs
// the program in its place, so that it ends when this process ends. It is for programs that
// another package starts, which must do so within Lasting.
func Tied(folder, program string) (string, error) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		return "", fmt.Errorf("needed: setpriv of util-linux: %w", err)
	}
	// We may have ended before the kernel knew that the script ends with us. Its parent is
	// another process then.
	script := fmt.Sprintf("#!/bin/sh\nexec %s --pdeathsig KILL sh -c '[ \"$PPID\" = %d ] && exec \"$0\" \"$@\"' %s \"$@\"\n",
		quoted(setpriv), os.Getpid(), quoted(program))
	path := filepath.Join(folder, filepath.Base(program))
	// A child that another goroutine forks meanwhile would hold the file open for writing, and
	// the kernel runs no such file.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return path, os.WriteFile(path, []byte(script), 0o700) //nolint:gosec // a program
}

// quoted for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// Lasting calls a function on a thread that lasts as long as this process. The kernel takes the
// end of the thread that started a child for the end of its parent.
func Lasting(start func() error) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, and the goroutine never returns
		started <- start()
		select {}
	}()
	return <-started
}
