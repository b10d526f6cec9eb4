package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.max")
	for text, want := range map[string]int64{"268435456\n": 241591905, "max\n": 0, "": 0} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := goal(file); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if goal(file+"-missing") != 0 {
		t.Error("a limit without a file")
	}
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	if err := os.WriteFile(file, []byte("1073741824\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	limitMemory(file)
	if debug.SetMemoryLimit(-1) != before {
		t.Error("GOMEMLIMIT does not win")
	}
	t.Setenv("GOMEMLIMIT", "")
	limitMemory(file)
	if got := debug.SetMemoryLimit(-1); got != 966367638 {
		t.Errorf("the limit is %d", got)
	}
}
