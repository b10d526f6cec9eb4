// Package install_test proves what an installation consists of. The chart and the kustomization
// are the same objects, request no more rights than the manager uses, and refuse wrong values.
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
// hack/tools.sh builds from its pinned version.
func tool(t *testing.T, variable, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	program := os.Getenv(variable)
	if program == "" {
		program = build(t, name)
	}
	return run(exec.CommandContext(t.Context(), program, args...))
}

func build(t *testing.T, name string) string {
	t.Helper()
	out, stderr, err := run(exec.CommandContext(t.Context(), filepath.Join(root, "hack/tools.sh"), name))
	if err != nil {
		t.Fatalf("hack/tools.sh %s: %v\n%s", name, err, stderr)
	}
	lines := strings.Fields(out)
	if len(lines) == 0 {
		t.Fatalf("hack/tools.sh %s prints no path", name)
	}
	return lines[len(lines)-1]
}

func run(cmd *exec.Cmd) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
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
