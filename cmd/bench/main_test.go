package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{
		nil, {"copy"}, {"copy", "a", "b"}, {"dance"}, {"run"}, {"run", "--spec", "x"}, {"run", "--shell"}, {"fio"}, {"fio", "--spec"}, {"fio", "--shell", "x"},
		{"observe"}, {"observe", "--socket", "s", "--database", "d"}, {"observe", "--socket", "s", "--database", "d", "--role", "r", "more"},
		{"run", "--spec", "x", "--namespace", "y", "--name", "z"},
		{"run", "--spec", "x", "--namespace", "y", "--name", "z", "--record", "r", "more"},
	} {
		if err := dispatch(t.Context(), args); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestRunOutsideOfACluster(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	err := dispatch(t.Context(), []string{"run", "--spec", "x", "--namespace", "y", "--name", "z", "--record", "r"})
	if err == nil || errors.Is(err, errUsage) {
		t.Errorf("got %v", err)
	}
}

func TestFioWithoutSpecificationLetsThePodGoOn(t *testing.T) {
	if err := dispatch(t.Context(), []string{"fio", "--spec", filepath.Join(t.TempDir(), "none")}); err != nil {
		t.Error(err)
	}
}

func TestCopy(t *testing.T) {
	dest := filepath.Join(t.TempDir(), "bench")
	if err := dispatch(t.Context(), []string{"copy", dest}); err != nil {
		t.Fatal(err)
	}
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(dest)
	if err != nil || got.Size() != self.Size() || got.Mode().Perm()&0o111 == 0 {
		t.Errorf("%v %v", got, err)
	}
	if err := copySelf(filepath.Join(dest, "under a file")); err == nil {
		t.Error("want an error")
	}
}
