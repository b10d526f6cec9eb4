//go:build vm

// Package vm_test boots virtual machines with real OpenZFS. Most cases are in
// test/vm/guest, which runs inside one of them; here is what takes a host: power
// cuts, disks that lie, and other machines. As many run at once as there are
// processors. Run it with: go test -tags vm ./test/vm
package vm_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

const (
	// imageTime bounds making the image where there is none: ZFS is compiled.
	imageTime = 60 * time.Minute
	// guestTime bounds everything in test/vm/guest, on an emulated processor.
	guestTime = 50 * time.Minute
	// bootTime bounds a machine that has little to do, also where other levels run beside it.
	bootTime = 10 * time.Minute

	blankDisks     = 12
	blankDiskBytes = 512 << 20
)

var (
	image vm.Image
	// guestLines print the results of TestGuest's cases at the very end.
	guestLines sync.Map
	// programs of guests by folder, as functions that compile each once into programFolder.
	programs      sync.Map
	programFolder string
)

func TestMain(m *testing.M) {
	ctx, cancel := context.WithTimeout(context.Background(), imageTime)
	var err error
	image, err = vm.FindImage(ctx)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if programFolder, err = os.MkdirTemp("", "pgvm-programs"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(programFolder); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	guestLines.Range(func(name, line any) bool {
		fmt.Printf("guest cases, %s: %s\n", name, line)
		return true
	})
	fmt.Print(s3nbdReport, zfsReport)
	os.Exit(code)
}

// boot starts a machine that ends with the test.
func boot(t *testing.T, o vm.Options) *vm.Machine {
	t.Helper()
	if o.Image.Dir == "" {
		o.Image = image
	}
	o.Dir = t.TempDir()
	if o.Processors == 0 {
		o.Processors = processors()
	}
	if o.Timeout == 0 {
		o.Timeout = bootTime
	}
	m, err := vm.Boot(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// processors of a machine that requests no number. Emulated processors wait for each other, and
// two machines run at once: with one processor each they take a quarter less time.
func processors() int {
	if image.Accelerator == "tcg" {
		return 1
	}
	return 2
}

// script makes a payload of a shell script that stops at the first failure.
func script(t *testing.T, lines ...string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run")
	text := "#!/bin/bash\nset -euo pipefail\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"run": path}
}

// guestBinary compiles a package's tests for the guest, without what only debuggers read.
func guestBinary(t *testing.T, folder string) string {
	t.Helper()
	return compiled(t, folder, "test", "-c", "-tags", "guest", "-ldflags=-s -w")
}

// guestProgram compiles a program for the guest.
func guestProgram(t *testing.T, folder string) string {
	t.Helper()
	return compiled(t, folder, "build", "-tags", "guest", "-ldflags=-s -w")
}

// compiled runs one command of go for each folder, however many tests use what it makes. The
// guest lacks our C library.
func compiled(t *testing.T, folder string, args ...string) string {
	t.Helper()
	compile, _ := programs.LoadOrStore(folder, sync.OnceValues(func() (string, error) {
		path := filepath.Join(programFolder, strings.ReplaceAll(folder, "/", "-"))
		cmd := exec.Command("go", append(args, "-o", path, "./"+folder)...)
		cmd.Dir = repository.Root()
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("compile %s: %w\n%s", folder, err, out)
		}
		return path, nil
	}))
	path, err := compile.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
