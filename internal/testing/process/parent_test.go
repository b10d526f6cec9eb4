//go:build linux

package process

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// parent in the environment makes this test binary a parent that is to be killed.
const parent = "PGSTORAGE_TEST_PARENT"

// A test that is killed runs no cleanup, so the kernel must end its children. Both
// hold the write end of a pipe: its end of file is the end of the last of them.
func TestChildEndsWithItsParent(t *testing.T) {
	if os.Getenv(parent) != "" {
		beParent(t)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildEndsWithItsParent$")
	cmd.Env = append(os.Environ(), parent+"=1")
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

// beParent starts a child that says a word, and waits to be killed.
func beParent(t *testing.T) {
	child := exec.CommandContext(t.Context(), "sh", "-c", "echo started; exec sleep 1000")
	child.Stdout = os.Stdout
	p, err := Start(child)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
}
