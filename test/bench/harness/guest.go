//go:build linux

package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/pgstorage/pgstorage/internal/testing/slowdisk"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

// Build a program of this module for a guest, by its folder.
func Build(ctx context.Context, folder, to string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "guest", "-ldflags=-s -w", "-o", to, "./"+folder) //nolint:gosec // G204: a folder of this module
	cmd.Dir = vm.Root()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// Payload of a guest: the programs that are built from folders, and files of JSON. The
// names are those that the guest has them by; what is named run is what it runs.
func Payload(ctx context.Context, dir string, programs map[string]string, files map[string]any) (map[string]string, error) {
	payload := map[string]string{}
	for name, content := range files {
		text, err := json.Marshal(content)
		if err != nil {
			return nil, err
		}
		payload[name] = filepath.Join(dir, name)
		if err := os.WriteFile(payload[name], text, 0o600); err != nil {
			return nil, err
		}
	}
	for name, folder := range programs {
		payload[name] = filepath.Join(dir, name)
		if err := Build(ctx, folder, payload[name]); err != nil {
			return nil, err
		}
	}
	return payload, nil
}

// Boot a machine, listen to what its guest tells, and return at its end. A guest that
// does not end well is an error, and so is what it told and was not understood.
func Boot(ctx context.Context, o vm.Options, told Told) error {
	listener := &listener{told: told}
	o.Console = listener
	m, err := vm.Boot(ctx, o)
	if err != nil {
		return err
	}
	defer m.Close()
	result, err := m.Wait(ctx)
	if err == nil && result.ExitCode != 0 {
		err = fmt.Errorf("the guest ended with exit code %d", result.ExitCode)
	}
	return errors.Join(err, listener.err)
}

// Told says what is done with each word that a guest begins a line with: the rest of
// such a line is JSON. All other lines are shown.
type Told map[string]func(fact []byte) error

// Into keeps the last fact of a word.
func Into[T any](to *T) func([]byte) error {
	return func(fact []byte) error { return json.Unmarshal(fact, to) }
}

// Each fact of a word is taken by itself.
func Each[T any](take func(T)) func([]byte) error {
	return func(fact []byte) error {
		var value T
		if err := json.Unmarshal(fact, &value); err != nil {
			return err
		}
		take(value)
		return nil
	}
}

// listener reads a guest's console.
type listener struct {
	told Told
	err  error
}

// Write gets whole lines.
func (l *listener) Write(line []byte) (int, error) {
	word, fact, _ := bytes.Cut(line, []byte(" "))
	if take, known := l.told[string(word)]; known {
		l.err = errors.Join(l.err, take(fact))
		return len(line), nil
	}
	_, err := io.WriteString(os.Stdout, "    guest| "+string(line))
	return len(line), err
}

// Confirm that a guest's kernel counted what a disk saw, but for what was written after
// its last look.
func Confirm(disk *slowdisk.Disk, writtenBytes, flushes int64) error {
	written := disk.WrittenBytes()
	fmt.Printf("the guest counted %d bytes written and %d flushes; the disk saw %d and %d\n", writtenBytes, flushes, written, disk.Flushes())
	if writtenBytes == 0 || float64(written)/float64(writtenBytes) > 1.01 || written < writtenBytes {
		return errors.New("the guest's counters are not the disk's")
	}
	return nil
}
