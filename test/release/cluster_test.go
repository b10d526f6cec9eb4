//go:build e2einstall

package release_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPageOnACluster types the commands of docs/install.md in their order, as they stand. The
// environment of hack/release-e2e.sh leads the hosts that they name to a local release.
func TestPageOnACluster(t *testing.T) {
	page := readFile(t, filepath.Join(root, "docs/install.md"))
	// Every section is typed into the same terminal, where section 3 changed the PATH.
	t.Setenv("PATH", filepath.Join(os.Getenv("HOME"), ".local/bin")+":"+os.Getenv("PATH"))
	var pod string
	for _, step := range []struct {
		heading string
		check   func(t *testing.T)
	}{
		{"## 1. CloudNativePG", func(*testing.T) {}},
		{"## 2. pgstorage", managerIsTheRelease},
		{"## 3. The plugin", func(*testing.T) {}},
		{"## 4. A first database", func(t *testing.T) {
			pod = kubectl(t, "get", "pod", "first-1", "-o", "jsonpath={.metadata.uid}")
		}},
		{"## 5. Change a value, and upgrade", func(t *testing.T) {
			managerIsTheRelease(t)
			if got := manager(t, ".args"); !strings.Contains(got, "--zap-log-level=debug") {
				t.Errorf("the second upgrade undid a value: %s", got)
			}
		}},
		{"## 6. Uninstall", func(t *testing.T) { databaseStays(t, pod) }},
		{"## Other ways to install", func(t *testing.T) {
			managerIsTheRelease(t)
			databaseStays(t, pod)
		}},
		{"## Uninstall without Helm", func(t *testing.T) { databaseStays(t, pod) }},
	} {
		script := blocks(t, page, step.heading)
		if out, err := shell(t, script); err != nil {
			t.Fatalf("%s: %v\n%s\n%s", step.heading, err, script, out)
		} else {
			t.Logf("%s\n%s", step.heading, out)
		}
		step.check(t)
	}
}

// shell runs commands as a user's shell does, but ends with the first that fails.
func shell(t *testing.T, script string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-xc", script)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = os.Getenv("HOME"), &out, &out
	err := cmd.Run()
	return out.String(), err
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "kubectl", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// manager is a field of the manager's container.
func manager(t *testing.T, field string) string {
	t.Helper()
	return kubectl(t, "-n", "pgstorage-system", "get", "deployment", "pgstorage-manager", "-o", "jsonpath={.spec.template.spec.containers[0]"+field+"}")
}

// managerIsTheRelease by the digest that the release has.
func managerIsTheRelease(t *testing.T) {
	t.Helper()
	kubectl(t, "-n", "pgstorage-system", "wait", "deployment/pgstorage-manager", "--for=condition=Available", "--timeout=60s")
	if got, want := manager(t, ".image"), os.Getenv("PGSTORAGE_RELEASED"); got != want {
		t.Errorf("the manager runs %s, want %s", got, want)
	}
}

// databaseStays with its objects, and no pod was replaced.
func databaseStays(t *testing.T, pod string) {
	t.Helper()
	kubectl(t, "get", "pgstoragecluster/first", "pgstorageprofile/standard")
	kubectl(t, "wait", "cluster.postgresql.cnpg.io/first", "--for=condition=Ready", "--timeout=60s")
	if got := kubectl(t, "get", "pod", "first-1", "-o", "jsonpath={.metadata.uid}"); got != pod {
		t.Errorf("pod first-1 is %s, want %s", got, pod)
	}
}
