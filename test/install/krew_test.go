package install_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// krewManifest is what krew reads (its pkg/index/types.go, v1alpha2).
type krewManifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string         `json:"version"`
		Homepage         string         `json:"homepage"`
		ShortDescription string         `json:"shortDescription"`
		Description      string         `json:"description"`
		Caveats          string         `json:"caveats"`
		Platforms        []krewPlatform `json:"platforms"`
	} `json:"spec"`
}

type krewPlatform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Bin    string `json:"bin"`
	Files  []struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"files"`
}

// plugin runs hack/plugin.sh for every platform, also where make test builds fewer.
func plugin(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "hack/plugin.sh"), args...)
	cmd.Env = append(os.Environ(), "PLUGIN_PLATFORMS=")
	return run(cmd)
}

// platforms that are built.
func platforms(t *testing.T) []string {
	t.Helper()
	out, stderr, err := plugin(t, "platforms")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	return strings.Fields(out)
}

// archives of a version without contents of worth.
func archives(t *testing.T, version string) (folder string, sums map[string]string) {
	t.Helper()
	folder, sums = t.TempDir(), map[string]string{}
	for _, platform := range platforms(t) {
		name := fmt.Sprintf("kubectl-pgstorage_%s_%s.tar.gz", version, strings.ReplaceAll(platform, "/", "_"))
		if err := os.WriteFile(filepath.Join(folder, name), []byte(platform), 0o600); err != nil {
			t.Fatal(err)
		}
		sums[platform] = fmt.Sprintf("%x", sha256.Sum256([]byte(platform)))
	}
	return folder, sums
}

// The krew manifest is one, and has every platform that is built and no other.
func TestKrewManifestIsValid(t *testing.T) {
	const version = "v0.1.0"
	folder, sums := archives(t, version)
	out, stderr, err := plugin(t, "manifest", version, folder)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	m := krewManifest{}
	if err := yaml.UnmarshalStrict([]byte(out), &m); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if m.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || m.Kind != "Plugin" || m.Metadata.Name != "pgstorage" || m.Spec.Version != version {
		t.Errorf("%+v", m)
	}
	// Krew's index takes no description on several lines, and no full stop.
	if d := m.Spec.ShortDescription; d == "" || len(d) > 50 || strings.ContainsAny(d, "\n.") {
		t.Errorf("short description %q", d)
	}
	var found []string
	for _, p := range m.Spec.Platforms {
		platform := p.Selector.MatchLabels["os"] + "/" + p.Selector.MatchLabels["arch"]
		found = append(found, platform)
		if p.SHA256 != sums[platform] {
			t.Errorf("%s: sum %s, want %s", platform, p.SHA256, sums[platform])
		}
		file := fmt.Sprintf("kubectl-pgstorage_%s_%s.tar.gz", version, strings.ReplaceAll(platform, "/", "_"))
		if want := "https://github.com/pgstorage/pgstorage/releases/download/" + version + "/" + file; p.URI != want {
			t.Errorf("%s: %s, want %s", platform, p.URI, want)
		}
		if want := "kubectl-pgstorage"; strings.TrimSuffix(p.Bin, ".exe") != want || strings.HasSuffix(p.Bin, ".exe") != strings.HasPrefix(platform, "windows/") {
			t.Errorf("%s: bin %s", platform, p.Bin)
		}
		if len(p.Files) != 2 || p.Files[0].From != p.Bin {
			t.Errorf("%s: files %+v", platform, p.Files)
		}
	}
	if want := platforms(t); !slices.Equal(found, want) || len(want) < 4 {
		t.Errorf("platforms %v, want %v", found, want)
	}
}

func TestKrewManifestNeedsAVersionAndArchives(t *testing.T) {
	folder, _ := archives(t, "v0.1.0")
	for _, tc := range []struct{ version, want string }{
		{"dev", "VERSION must be as v0.1.0, not dev"},
		{"v0.2.0", "is not there; make it by"},
	} {
		if _, stderr, err := plugin(t, "manifest", tc.version, folder); err == nil || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: %v %s", tc.version, err, stderr)
		}
	}
}
