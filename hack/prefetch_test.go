package hack_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// registries is the environment of a machine that reaches container registries, or none.
func registries(t *testing.T, answer string) []string {
	t.Helper()
	return append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "PGSTORAGE_PUBLISHED_registry_1_docker_io="+answer, "PGSTORAGE_PUBLISHED_ghcr_io="+answer)
}

// planned steps of a set of prefetch.sh. It runs the same list.
func planned(t *testing.T, env []string, set ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "./prefetch.sh", append([]string{"list"}, set...)...)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list %v: %v", set, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// The demo and a cluster are prepared by these steps and no others. What only a level of tests
// needs, such as the image of a virtual machine, is not among them.
func TestDemoPreparesOnlyWhatItUses(t *testing.T) {
	// Without kind on the PATH.
	path := "PATH=/usr/bin:/bin"
	if _, err := os.Stat("/usr/bin/kind"); err == nil {
		t.Skip("/usr/bin/kind is installed, so it cannot be missing")
	}
	sources := []string{
		"download docker.sh unpack", "download rootfs.sh node",
		"compile kubernetes.sh control", "compile kubernetes.sh node", "compile kubernetes.sh runc", "compile kubernetes.sh kind",
		"download kubernetes.sh cnpg-modules", "download rootfs.sh postgres", "compile kubernetes.sh cnpg",
	}
	images := []string{"pull kindest/node", "compile kubernetes.sh kind", "pull cloudnative-pg", "pull postgresql"}
	ours := []string{"download programs.sh modules", "compile programs.sh"}
	for _, tc := range []struct {
		set, published string
		want           []string
	}{
		{"cluster", "yes", images},
		{"cluster", "no", sources},
		{"demo", "yes", append(slices.Clip(images), ours...)},
		{"demo", "no", append(slices.Clip(sources), ours...)},
	} {
		env := append(registries(t, tc.published), path)
		if diff := cmp.Diff(tc.want, planned(t, env, tc.set)); diff != "" {
			t.Errorf("%s, registries answer: %s: (-want +got)\n%s", tc.set, tc.published, diff)
		}
	}
}

func TestPrefetchRefusesUnknownSets(t *testing.T) {
	for _, args := range [][]string{{"list", "everything"}, {"list"}} {
		cmd := exec.CommandContext(t.Context(), "./prefetch.sh", args...)
		cmd.Env = registries(t, "yes")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "usage: hack/prefetch.sh") {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}
