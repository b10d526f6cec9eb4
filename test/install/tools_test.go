// Package install_test proves what an installation consists of: the chart and
// the kustomization are the same objects, ask for no more rights than the
// manager uses, and refuse wrong values.
package install_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	root        = "../.."
	chart       = root + "/charts/pgstorage"
	namespace   = "pgstorage-system"
	kubeVersion = "1.34.0" // a helm built from its module knows none
)

// tool runs the program that the environment variable names, else the one that
// hack/tools pins.
func tool(t *testing.T, variable, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var cmd *exec.Cmd
	if program := os.Getenv(variable); program != "" {
		cmd = exec.CommandContext(t.Context(), program, args...)
	} else if modfile := pinnedBy(t, name); modfile != "" {
		cmd = exec.CommandContext(t.Context(), "go", append([]string{"tool", "-modfile=" + modfile, name}, args...)...)
	} else {
		t.Skipf("%s is neither named by %s nor pinned in hack/tools", name, variable)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// pinnedBy is the module file in hack/tools that lists the program as a tool.
func pinnedBy(t *testing.T, name string) string {
	t.Helper()
	for _, pattern := range []string{"hack/tools/go.mod", "hack/tools/*/go.mod"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !pins(t, file, name) {
				continue
			}
			modfile, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			return modfile
		}
	}
	return ""
}

func pins(t *testing.T, modfile, name string) bool {
	t.Helper()
	content, err := os.ReadFile(modfile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "tool "))
		if len(fields) == 1 && toolName(fields[0]) == name {
			return true
		}
	}
	return false
}

// toolName is the name go tool knows a package by: its last element that is not
// a major version.
func toolName(path string) string {
	name := filepath.Base(path)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		return filepath.Base(filepath.Dir(path))
	}
	return name
}

// helmTemplate renders the chart; the error is helm's own words.
func helmTemplate(t *testing.T, args ...string) (string, error) {
	t.Helper()
	args = append([]string{"template", "pgstorage", chart, "--namespace", namespace, "--kube-version", kubeVersion}, args...)
	out, stderr, err := tool(t, "HELM", "helm", args...)
	if err != nil {
		return "", &toolError{stderr, err}
	}
	return out, nil
}

func kustomize(t *testing.T, dir string) string {
	t.Helper()
	out, stderr, err := tool(t, "KUSTOMIZE", "kustomize", "build", dir)
	if err != nil {
		t.Fatalf("kustomize build %s: %v\n%s", dir, err, stderr)
	}
	return out
}

type toolError struct {
	stderr string
	err    error
}

func (e *toolError) Error() string { return e.err.Error() + ": " + e.stderr }
func (e *toolError) Unwrap() error { return e.err }

func goRun(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run"}, args...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}
