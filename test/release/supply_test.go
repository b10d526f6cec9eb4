//go:build release

package release_test

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkReproducible builds a program again from a copy of the sources in another folder, and
// compares the bytes.
func checkReproducible(t *testing.T, platform, program string) {
	t.Helper()
	system, arch, _ := strings.Cut(platform, "/")
	again := filepath.Join(t.TempDir(), filepath.Base(program))
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+version, "-o", again, "./cmd/"+filepath.Base(program))
	cmd.Dir, cmd.Env = sources(t), append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if readFile(t, again) != readFile(t, program) {
		t.Errorf("%s of %s: another build of the same sources has other bytes", filepath.Base(program), platform)
	}
}

// sources is a copy of what is compiled.
func sources(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(readFile(t, filepath.Join(root, name))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"api", "cmd", "config", "controllers", "internal"} {
		if err := os.CopyFS(filepath.Join(folder, name), os.DirFS(filepath.Join(root, name))); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// The same parts give the same image and the same chart.
func TestImageAndChartAreReproducible(t *testing.T) {
	tool, again := filepath.Join(release.out, "work/release"), filepath.Join(t.TempDir(), "image")
	when, err := command(root, "git", "log", "-1", "--format=%ct")
	if err != nil {
		t.Fatal(when, err)
	}
	cmd := exec.CommandContext(t.Context(), tool, "image", version, filepath.Join(release.out, "work/programs"), again)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strings.TrimSpace(when))
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != imageDigest(t) {
		t.Errorf("got %s %v, want %s", out, err, imageDigest(t))
	}
}

// The SBOM of a platform lists the modules that Go's linker noted in its programs, and no others.
func TestSBOMListsTheModules(t *testing.T) {
	for platform := range machines {
		folder := strings.Replace(platform, "/", "_", 1)
		var bom struct {
			BOMFormat  string `json:"bomFormat"`
			Components []struct {
				Type    string `json:"type"`
				Name    string `json:"name"`
				Version string `json:"version"`
				PURL    string `json:"purl"`
			} `json:"components"`
		}
		if err := json.Unmarshal([]byte(readFile(t, filepath.Join(release.assets, "sbom_"+folder+".cdx.json"))), &bom); err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, c := range bom.Components {
			if c.Type == "library" {
				got[c.PURL] = true
			}
		}
		want := map[string]bool{}
		for _, program := range []string{"manager", "agent", "bench", "site"} {
			info, err := buildinfo.ReadFile(filepath.Join(release.out, "work/programs", folder, program))
			if err != nil {
				t.Fatal(err)
			}
			want["pkg:golang/std@"+strings.TrimPrefix(info.GoVersion, "go")] = true
			for _, m := range info.Deps {
				want["pkg:golang/"+m.Path+"@"+m.Version] = true
			}
		}
		if bom.BOMFormat != "CycloneDX" || !maps.Equal(got, want) || len(want) < 20 {
			t.Errorf("%s: %s lists %d modules, the programs have %d", platform, bom.BOMFormat, len(got), len(want))
		}
	}
}

type statement struct {
	Type          string `json:"_type"`
	PredicateType string `json:"predicateType"`
	Subject       []struct {
		Name   string            `json:"name"`
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
	Predicate struct {
		BuildDefinition struct {
			ResolvedDependencies []struct {
				URI    string            `json:"uri"`
				Digest map[string]string `json:"digest"`
			} `json:"resolvedDependencies"`
		} `json:"buildDefinition"`
	} `json:"predicate"`
}

// The provenance names the commit, the image and every file with its digest.
func TestProvenanceNamesCommitAndDigests(t *testing.T) {
	var s statement
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(release.assets, "provenance.intoto.json"))), &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != "https://in-toto.io/Statement/v1" || s.PredicateType != "https://slsa.dev/provenance/v1" {
		t.Errorf("got %s, %s", s.Type, s.PredicateType)
	}
	commit, err := command(root, "git", "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(commit, err)
	}
	sources := s.Predicate.BuildDefinition.ResolvedDependencies
	if len(sources) != 1 || sources[0].Digest["gitCommit"] != strings.TrimSpace(commit) || !strings.HasSuffix(sources[0].URI, "@refs/tags/"+version) {
		t.Errorf("got sources %+v, want commit %s", sources, commit)
	}
	got := map[string]string{}
	for _, subject := range s.Subject {
		got[subject.Name] = "sha256:" + subject.Digest["sha256"]
	}
	want := map[string]string{image: imageDigest(t)}
	for _, name := range files(t) {
		if name != "provenance.intoto.json" && !strings.HasPrefix(name, "checksums.txt") {
			want[name] = digest([]byte(readFile(t, filepath.Join(release.assets, name))))
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got subjects %v, want %v", got, want)
	}
}

// files of the release.
func files(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(release.assets)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestChecksumsCoverEveryFile(t *testing.T) {
	var listed []string
	for line := range strings.Lines(readFile(t, filepath.Join(release.assets, "checksums.txt"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed = append(listed, name)
		if got := digest([]byte(readFile(t, filepath.Join(release.assets, name)))); got != "sha256:"+sum {
			t.Errorf("%s: sum %s, want %s", name, got, sum)
		}
	}
	want := slices.DeleteFunc(files(t), func(name string) bool { return strings.HasPrefix(name, "checksums.txt") })
	if !slices.Equal(listed, want) || len(want) < 8 {
		t.Errorf("checksums of %q, want %q", listed, want)
	}
}

// verify with the public key. The flag accepts signatures that no log lists.
func verify(args ...string) (string, error) {
	return command("", os.Getenv("COSIGN"), append(args, "--key", release.key+".pub", "--insecure-ignore-tlog=true")...)
}

func TestSignaturesVerify(t *testing.T) {
	index := imageDigest(t)
	chartDigest := strings.TrimSpace(readFile(t, filepath.Join(release.out, "chart.digest")))
	for _, args := range [][]string{
		{"verify", image + ":" + version},
		{"verify", image + "@" + platforms(t)["linux/arm64"].Digest},
		{"verify", chart + ":" + strings.TrimPrefix(version, "v")},
		{"verify-attestation", "--type", "slsaprovenance1", image + "@" + index},
		{"verify-attestation", "--type", "slsaprovenance1", chart + "@" + chartDigest},
		{"verify-attestation", "--type", "cyclonedx", image + "@" + platforms(t)["linux/amd64"].Digest},
		{"verify-attestation", "--type", "cyclonedx", image + "@" + platforms(t)["linux/arm64"].Digest},
		{"verify-blob", "--bundle", filepath.Join(release.assets, "checksums.txt.sigstore.json"), filepath.Join(release.assets, "checksums.txt")},
	} {
		if out, err := verify(args...); err != nil {
			t.Errorf("cosign %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// A changed file, an image that the release did not make, and another key are not verified.
func TestChangedArtefactsDoNotVerify(t *testing.T) {
	changed := filepath.Join(t.TempDir(), "checksums.txt")
	if err := os.WriteFile(changed, []byte(readFile(t, filepath.Join(release.assets, "checksums.txt"))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(release.assets, "checksums.txt.sigstore.json")
	if out, err := verify("verify-blob", "--bundle", bundle, changed); err == nil {
		t.Errorf("a changed file verifies: %s", out)
	}
	other := filepath.Join(t.TempDir(), "image")
	if err := os.CopyFS(filepath.Join(other, "linux_amd64"), os.DirFS(filepath.Join(release.out, "work/programs/linux_arm64"))); err != nil {
		t.Fatal(err)
	}
	layout, tool := filepath.Join(t.TempDir(), "layout"), filepath.Join(release.out, "work/release")
	if out, err := command("", "env", "SOURCE_DATE_EPOCH=1", tool, "image", version, other, layout); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	must(t, tool, "push", layout, image+":changed")
	if out, err := verify("verify", image+":changed"); err == nil {
		t.Errorf("an image of other content verifies: %s", out)
	}
	key := t.TempDir()
	if out, err := command(key, os.Getenv("COSIGN"), "generate-key-pair"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if out, err := command(key, os.Getenv("COSIGN"), "verify", "--key", "cosign.pub", "--insecure-ignore-tlog=true", image+":"+version); err == nil {
		t.Errorf("another key verifies: %s", out)
	}
}

// A release without its section of the change log does not start.
func TestReleaseNeedsItsNotes(t *testing.T) {
	out, err := command("", filepath.Join(root, "hack/release.sh"), "notes", "v9.9.9")
	if err == nil || !strings.Contains(out, `CHANGELOG.md has no section "## v9.9.9 - DATE"`) {
		t.Errorf("%v: %s", err, out)
	}
	if notes := readFile(t, filepath.Join(release.out, "notes.md")); !strings.Contains(notes, "### Added") || strings.Contains(notes, "\n## ") {
		t.Errorf("notes of %s: %s", version, fmt.Sprintf("%.200q", notes))
	}
}
