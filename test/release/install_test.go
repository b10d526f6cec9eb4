//go:build release

package release_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func helm(t *testing.T, args ...string) string {
	t.Helper()
	return must(t, os.Getenv("HELM"), args...)
}

// rendersRelease fails unless every image of ours in a manifest is the released one, by digest.
func rendersRelease(t *testing.T, manifests string) {
	t.Helper()
	want, count := image+":"+version+"@"+imageDigest(t), 0
	for _, field := range strings.FieldsFunc(manifests, func(r rune) bool { return strings.ContainsRune(" \n=\"", r) }) {
		if !strings.HasPrefix(field, image) {
			continue
		}
		count++
		if field != want {
			t.Errorf("got image %s, want %s", field, want)
		}
	}
	if count < 3 {
		t.Errorf("only %d images in\n%.2000s", count, manifests)
	}
}

func TestChartOfTheRegistryRendersTheRelease(t *testing.T) {
	folder := t.TempDir()
	helm(t, "pull", "oci://"+chart, "--version", strings.TrimPrefix(version, "v"), "--destination", folder)
	archive := filepath.Join(folder, "pgstorage-"+strings.TrimPrefix(version, "v")+".tgz")
	if readFile(t, archive) != readFile(t, filepath.Join(release.assets, filepath.Base(archive))) {
		t.Error("the registry has another chart than the release's files")
	}
	rendersRelease(t, helm(t, "template", "pgstorage", archive, "--kube-version", "1.34.0", "--set", "agent.enabled=true"))
	shown := helm(t, "show", "chart", archive)
	if !strings.Contains(shown, "\nversion: "+strings.TrimPrefix(version, "v")+"\n") || !strings.Contains(shown, "appVersion: "+version+"\n") {
		t.Errorf("got %s", shown)
	}
}

// An own image needs its repository and tag alone; the release's digest does not stay.
func TestTagOfTheUserWins(t *testing.T) {
	out := helm(t, "template", "pgstorage", "oci://"+chart, "--version", strings.TrimPrefix(version, "v"), "--kube-version", "1.34.0",
		"--set", "image.repository=registry.example/own,image.tag=v2")
	if !strings.Contains(out, "image: registry.example/own:v2\n") || strings.Contains(out, "registry.example/own:v2@") || strings.Contains(out, image+":") {
		t.Error("the chart does not render image.repository and image.tag alone")
	}
}

func TestHelmRepositoryHasTheChart(t *testing.T) {
	config := []string{"--repository-config", filepath.Join(t.TempDir(), "repositories.yaml"), "--repository-cache", t.TempDir()}
	helm(t, append([]string{"repo", "add", "pgstorage", "https://github.com/pgstorage/pgstorage/releases/latest/download"}, config...)...)
	out := helm(t, append([]string{"search", "repo", "pgstorage", "--output", "yaml"}, config...)...)
	if !strings.Contains(out, "app_version: "+version) || !strings.Contains(out, "version: "+strings.TrimPrefix(version, "v")+"\n") {
		t.Errorf("got %s", out)
	}
	rendersRelease(t, helm(t, append([]string{"template", "pgstorage", "pgstorage/pgstorage", "--kube-version", "1.34.0"}, config...)...))
}

// The index of a release also has the charts of the releases before, as they were.
func TestHelmRepositoryKeepsEarlierCharts(t *testing.T) {
	out, bare := t.TempDir(), strings.TrimPrefix(version, "v")
	assets, previous := filepath.Join(out, "assets"), filepath.Join(out, "previous.yaml")
	archive := "pgstorage-" + bare + ".tgz"
	must(t, "mkdir", assets)
	must(t, "cp", filepath.Join(release.assets, archive), assets)
	earlier := strings.ReplaceAll(readFile(t, filepath.Join(release.assets, "index.yaml")), bare, "0.0.1")
	if err := os.WriteFile(previous, []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "env", "OUT="+out, "PREVIOUS_INDEX="+previous, absolute(t, "hack/release.sh"), "repository", version)
	index := readFile(t, filepath.Join(assets, "index.yaml"))
	for _, want := range []string{"/v0.0.1/pgstorage-0.0.1.tgz", "/" + version + "/" + archive} {
		if !strings.Contains(index, want) {
			t.Errorf("no %s in %s", want, index)
		}
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	out, err := filepath.Abs(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestManifestsNameTheRelease(t *testing.T) {
	rendersRelease(t, readFile(t, filepath.Join(release.assets, "install.yaml")))
}

// krewManifest is the part of krew's format that an installation reads.
type krewManifest struct {
	Spec struct {
		Version   string `json:"version"`
		Platforms []struct {
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
		} `json:"platforms"`
	} `json:"spec"`
}

// Every platform's archive installs as krew does it: fetch, compare the sum, unpack, take the
// listed files. The one of this machine runs.
func TestPluginInstallsAsKrewDoes(t *testing.T) {
	var manifest krewManifest
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(release.assets, "pgstorage.yaml"))), &manifest); err != nil {
		t.Fatal(err)
	}
	platforms := strings.Fields(must(t, absolute(t, "hack/plugin.sh"), "platforms"))
	if manifest.Spec.Version != version || len(manifest.Spec.Platforms) != len(platforms) {
		t.Errorf("version %s, %d platforms, want %s, %q", manifest.Spec.Version, len(manifest.Spec.Platforms), version, platforms)
	}
	ran := false
	for _, p := range manifest.Spec.Platforms {
		folder := t.TempDir()
		archive := filepath.Join(folder, "archive.tar.gz")
		must(t, "curl", "-fsSL", "-o", archive, p.URI)
		if got := digest([]byte(readFile(t, archive))); got != "sha256:"+p.SHA256 {
			t.Errorf("%s: sum %s, want %s", p.URI, got, p.SHA256)
		}
		must(t, "tar", "-xzf", archive, "-C", folder)
		for _, f := range p.Files {
			if info, err := os.Stat(filepath.Join(folder, f.From)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %s: %v", p.URI, f.From, err)
			}
		}
		if p.Selector.MatchLabels["os"] == runtime.GOOS && p.Selector.MatchLabels["arch"] == runtime.GOARCH {
			ran = true
			if out := must(t, filepath.Join(folder, p.Bin), "version"); !strings.Contains(out, version) {
				t.Errorf("got %s, want %s", out, version)
			}
		}
	}
	if !ran {
		t.Errorf("no archive is for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
}

// substitutions of lines of docs/install.md: the only ones. A release is signed by the identity
// of GitHub's workflow, which no other machine has; the dry run has a key.
var substitutions = strings.NewReplacer(
	`--certificate-identity "$IDENTITY" --certificate-oidc-issuer "$ISSUER"`, `--key "$KEY.pub" --insecure-ignore-tlog=true`,
)

// The commands of the page that need no cluster run as they stand, for the hosts that they name.
func TestPageWithoutACluster(t *testing.T) {
	page := readFile(t, filepath.Join(root, "docs/install.md"))
	home := t.TempDir()
	for _, heading := range []string{"## 3. The plugin", "## Verify a release"} {
		script := substitutions.Replace(blocks(t, page, heading))
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		var out bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &out
		cmd.Env = append(release.env, "HOME="+home, "KEY="+release.key,
			"PATH="+home+"/.local/bin:"+filepath.Dir(os.Getenv("COSIGN"))+":"+os.Getenv("PATH"))
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", heading, err, script, out.String())
		}
	}
}
