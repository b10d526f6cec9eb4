package program

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fake is a folder with one program, a script that is named as one.
func fake(t *testing.T, name, script string) string {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return bin
}

func TestCommandKeepsWhatItSaidLast(t *testing.T) {
	bin := fake(t, "pgbench", `echo report; for i in 1 2 3 4 5 6 7 8; do echo "line $i" >&2; done
		echo "progress: 1.0 s, 5.0 tps, lat 1.0 ms stddev 1.0, 0 failed" >&2; exit 3`)
	var lines int
	out, err := Command{Path: In(bin, "pgbench"), Env: Environment(), Line: func(string) { lines++ }}.Run(t.Context())
	var p *Error
	if !errors.As(err, &p) || p.Code != 3 || len(p.Said) != tail || p.Said[tail-1] != "line 8" {
		t.Errorf("%#v", err)
	}
	if lines != 9 || strings.TrimSpace(out) != "report" || strings.Contains(err.Error(), "progress") {
		t.Errorf("%d lines, %q, %v", lines, out, err)
	}
}

func TestCommandThatDoesNotEnd(t *testing.T) {
	bin := fake(t, "pgbench", "exec sleep 1000")
	_, err := Command{Path: In(bin, "pgbench"), Env: Environment(), Timeout: 50 * time.Millisecond}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "did not end within 50ms") {
		t.Errorf("got %v", err)
	}
}

func TestCommandThatIsMissing(t *testing.T) {
	_, err := Command{Path: In(t.TempDir(), "pgbench")}.Run(t.Context())
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if In("", "pgbench") != "pgbench" {
		t.Error("want the PATH")
	}
}
