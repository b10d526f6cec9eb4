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

	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

// build the program in a folder of this module, for a guest.
func build(ctx context.Context, folder, to string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "guest", "-ldflags=-s -w", "-o", to, "./"+folder)
	cmd.Dir = repository.Root()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// Payload builds programs from their folders and writes files as JSON, for a guest. The
// keys are the names that the guest sees. The guest runs the program named run.
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
		if err := build(ctx, folder, payload[name]); err != nil {
			return nil, err
		}
	}
	return payload, nil
}

// Boot a machine, handle the facts that its guest prints, and return when it ends. It
// returns an error where the guest failed or printed a fact that does not parse.
func Boot(ctx context.Context, o vm.Options, facts Facts) error {
	listener := &listener{facts: facts}
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

// Facts has a function for each word that a guest begins a line with. The rest of such a
// line is JSON. Other lines are printed.
type Facts map[string]func(fact []byte) error

// Into keeps the last fact of a word.
func Into[T any](to *T) func([]byte) error {
	return func(fact []byte) error { return json.Unmarshal(fact, to) }
}

// Each passes every fact of a word to a function.
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
	facts Facts
	err   error
}

// Write gets whole lines.
func (l *listener) Write(line []byte) (int, error) {
	word, fact, _ := bytes.Cut(line, []byte(" "))
	if take, known := l.facts[string(word)]; known {
		l.err = errors.Join(l.err, take(fact))
		return len(line), nil
	}
	_, err := io.WriteString(os.Stdout, "    guest| "+string(line))
	return len(line), err
}
