package install_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Workflows and base images are pinned by content, every check gates a release, and a token has
// the rights of one job.

const (
	workflows = ".github/workflows/"
	calledCI  = "./.github/workflows/ci.yaml"
	readRight = "read"
)

// workflow is what the checks read of one (GitHub's workflow syntax).
type workflow struct {
	// On is any of a name, a list and a map.
	On          any            `json:"on"`
	Permissions any            `json:"permissions"`
	Jobs        map[string]job `json:"jobs"`
}

type job struct {
	Uses        string `json:"uses"`
	Needs       any    `json:"needs"`
	If          string `json:"if"`
	Permissions any    `json:"permissions"`
	Container   any    `json:"container"`
	Services    any    `json:"services"`
	// ContinueOnError is a boolean or an expression.
	ContinueOnError any    `json:"continue-on-error"`
	Steps           []step `json:"steps"`
}

type step struct {
	Uses            string         `json:"uses"`
	Run             string         `json:"run"`
	If              string         `json:"if"`
	With            map[string]any `json:"with"`
	ContinueOnError any            `json:"continue-on-error"`
}

func parseWorkflow(t *testing.T, content string) workflow {
	t.Helper()
	// In YAML 1.1 "on" is true.
	content = regexp.MustCompile(`(?m)^on:`).ReplaceAllString(content, `"on":`)
	var w workflow
	if err := yaml.Unmarshal([]byte(content), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

var pinnedUse = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// unpinned names what a workflow runs that another may replace.
func unpinned(t *testing.T, content string) []string {
	t.Helper()
	var out []string
	for _, found := range regexp.MustCompile(`(?m)^\s*-?\s*uses:\s*(.*?)\s*$`).FindAllStringSubmatch(content, -1) {
		use := found[1]
		if !strings.HasPrefix(use, "./") && !pinnedUse.MatchString(use) {
			out = append(out, "uses "+use+": give the commit, and its version as a comment")
		}
	}
	w := parseWorkflow(t, content)
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		j := w.Jobs[name]
		if j.Container != nil || j.Services != nil {
			out = append(out, name+": containers of jobs are not checked here; extend this test")
		}
		for _, s := range j.Steps {
			out = append(out, unpinnedInputs(name, s)...)
		}
	}
	return out
}

// unpinnedInputs of a step.
func unpinnedInputs(job string, s step) []string {
	if strings.Contains(s.Run, "curl ") || strings.Contains(s.Run, "wget ") {
		return []string{job + ": a download without a checksum"}
	}
	return nil
}

// needs of a job as a list.
func needs(j job) []string {
	switch n := j.Needs.(type) {
	case string:
		return []string{n}
	case []any:
		var out []string
		for _, name := range n {
			out = append(out, fmt.Sprint(name))
		}
		return out
	}
	return nil
}

// writes lists the rights to write in permissions; a word such as write-all is one.
func writes(permissions any) []string {
	rights, ok := permissions.(map[string]any)
	if !ok {
		if permissions == nil || permissions == "read-all" {
			return nil
		}
		return []string{fmt.Sprint(permissions)}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(rights)) {
		if rights[name] != readRight && rights[name] != "none" {
			out = append(out, name)
		}
	}
	return out
}

// overprivileged names rights that more than one job has, and jobs that inherit theirs
// implicitly. It also names jobs that may write and use a cache that others may fill.
func overprivileged(w workflow) []string {
	var out []string
	if w.Permissions == nil {
		out = append(out, "the workflow has no permissions: its jobs have those of the repository's settings")
	}
	if rights := writes(w.Permissions); len(rights) > 0 {
		out = append(out, fmt.Sprintf("every job may write %s; give it to the job that needs it", strings.Join(rights, ", ")))
	}
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		j := w.Jobs[name]
		if j.Permissions != nil {
			if _, ok := j.Permissions.(map[string]any); !ok {
				out = append(out, fmt.Sprintf("%s: permissions %v", name, j.Permissions))
			}
		}
		for _, s := range j.Steps {
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
				out = append(out, name+": checkout keeps the token; set persist-credentials: false")
			}
			if len(writes(j.Permissions)) == 0 {
				continue
			}
			if strings.HasPrefix(s.Uses, "actions/cache@") || strings.HasPrefix(s.Uses, "actions/setup-go@") && s.With["cache"] != false {
				out = append(out, name+": may write, and uses a cache")
			}
		}
	}
	return out
}

// ungated names jobs that may write and can run without the checks of the same commit.
func ungated(w workflow) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		j := w.Jobs[name]
		if len(writes(j.Permissions)) == 0 {
			continue
		}
		if j.If != "" {
			out = append(out, name+": an if can run it although a check failed")
		}
		if !slices.ContainsFunc(needs(j), func(need string) bool {
			return w.Jobs[need].Uses == calledCI && w.Jobs[need].If == "" && w.Jobs[need].ContinueOnError == nil
		}) {
			out = append(out, name+": may write without needing the job of "+calledCI)
		}
	}
	return out
}

// unchecked says why a called workflow does not gate.
func unchecked(w workflow) []string {
	e2e, found := w.Jobs["e2e"]
	if !found {
		return []string{"there is no job e2e"}
	}
	var out []string
	if triggers, ok := w.On.(map[string]any); !ok || !slices.Contains(slices.Collect(maps.Keys(triggers)), "workflow_call") {
		out = append(out, "it cannot be called")
	}
	for name, j := range w.Jobs {
		if j.If != "" || j.ContinueOnError != nil {
			out = append(out, name+" can be skipped or fail without effect")
		}
		for _, s := range j.Steps {
			if s.If != "" || s.ContinueOnError != nil {
				out = append(out, name+": a step can be skipped or fail without effect")
			}
		}
	}
	if !slices.ContainsFunc(e2e.Steps, func(s step) bool { return strings.TrimSpace(s.Run) == "make test-e2e" }) {
		out = append(out, "job e2e does not run make test-e2e")
	}
	return out
}

func TestWorkflowsAreSafe(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root, workflows, "*"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d workflows: %v", len(paths), err)
	}
	pins := map[string]string{}
	for _, path := range paths {
		name := workflows + filepath.Base(path)
		content := readFile(t, name)
		w := parseWorkflow(t, content)
		for _, problem := range slices.Concat(unpinned(t, content), overprivileged(w), ungated(w)) {
			t.Errorf("%s: %s", name, problem)
		}
		for _, use := range regexp.MustCompile(`uses: ([\w./-]+)@(\S+)`).FindAllStringSubmatch(content, -1) {
			if before := pins[use[1]]; before != "" && before != use[2] {
				t.Errorf("%s: %s is pinned to %s and to %s", name, use[1], before, use[2])
			}
			pins[use[1]] = use[2]
		}
	}
	for _, problem := range unchecked(parseWorkflow(t, readFile(t, workflows+"ci.yaml"))) {
		t.Errorf("ci.yaml: %s", problem)
	}
}

// Each check finds what it is for.
func TestUnsafeWorkflowsAreFound(t *testing.T) {
	release, ci := readFile(t, workflows+"release.yaml"), readFile(t, workflows+"ci.yaml")
	for name, tc := range map[string]struct {
		old, new string
		check    func(content string) []string
		in       string
	}{
		"a tag":                     {"@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "@v7", func(c string) []string { return unpinned(t, c) }, release},
		"a commit without version":  {"@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "@3d3c42e5aac5ba805825da76410c181273ba90b1", func(c string) []string { return unpinned(t, c) }, ci},
		"rights of the workflow":    {"\npermissions:\n  contents: read\n", "\npermissions:\n  contents: write\n", func(c string) []string { return overprivileged(parseWorkflow(t, c)) }, release},
		"all rights":                {"\npermissions:\n  contents: read\n", "\npermissions: write-all\n", func(c string) []string { return overprivileged(parseWorkflow(t, c)) }, ci},
		"no rights said":            {"\npermissions:\n  contents: read\n", "\n", func(c string) []string { return overprivileged(parseWorkflow(t, c)) }, ci},
		"a kept token":              {"persist-credentials: false", "fetch-depth: 0", func(c string) []string { return overprivileged(parseWorkflow(t, c)) }, ci},
		"a cache":                   {"        go-version-file: go.mod\n        cache: false\n    - uses: actions/download-artifact", "        go-version-file: go.mod\n    - uses: actions/download-artifact", func(c string) []string { return overprivileged(parseWorkflow(t, c)) }, release},
		"an image without checks":   {"needs: [ci, build]", "needs: [build]", func(c string) []string { return ungated(parseWorkflow(t, c)) }, release},
		"a release without checks":  {"needs: [ci, publish]", "needs: [publish]", func(c string) []string { return ungated(parseWorkflow(t, c)) }, release},
		"a release whatever failed": {"  release:\n", "  release:\n    if: always()\n", func(c string) []string { return ungated(parseWorkflow(t, c)) }, release},
		"checks of another commit":  {"uses: ./.github/workflows/ci.yaml", "uses: pgstorage/pgstorage/.github/workflows/ci.yaml@main", func(c string) []string { return ungated(parseWorkflow(t, c)) }, release},
		"no e2e":                    {"  e2e:\n", "  other:\n", func(c string) []string { return unchecked(parseWorkflow(t, c)) }, ci},
		"e2e that runs nothing":     {"make test-e2e", "make test-unit", func(c string) []string { return unchecked(parseWorkflow(t, c)) }, ci},
		"e2e that may fail":         {"  e2e:\n", "  e2e:\n    continue-on-error: true\n", func(c string) []string { return unchecked(parseWorkflow(t, c)) }, ci},
		"e2e that is skipped":       {"    - run: make test-e2e", "    - if: false\n      run: make test-e2e", func(c string) []string { return unchecked(parseWorkflow(t, c)) }, ci},
	} {
		changed := strings.Replace(tc.in, tc.old, tc.new, 1)
		if changed == tc.in {
			t.Errorf("%s: the workflow has no %q", name, tc.old)
			continue
		}
		if before := tc.check(tc.in); len(before) > 0 {
			t.Errorf("%s: before: %q", name, before)
		}
		if found := tc.check(changed); len(found) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
}

// tracked are the files of the repository, without those of tools and of git.
func tracked(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin" || entry.Name() == "dist") {
			return fs.SkipDir
		}
		relative, err := filepath.Rel(root, path)
		out = append(out, relative)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Pins move: each kind of them, and each Go module, is in the updater's list.
func TestEveryPinIsUpdated(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, ".github/dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directory   string   `json:"directory"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	if err := yaml.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, u := range config.Updates {
		if u.Directory != "" {
			u.Directories = append(u.Directories, u.Directory)
		}
		found[u.Ecosystem] = append(found[u.Ecosystem], u.Directories...)
	}
	wanted := map[string][]string{"github-actions": {"/"}}
	for _, path := range tracked(t) {
		if filepath.Base(path) == "go.mod" && !strings.Contains(path, "testdata") {
			wanted["gomod"] = append(wanted["gomod"], strings.TrimSuffix("/"+filepath.Dir(path), "."))
		}
	}
	for ecosystem, directories := range wanted {
		slices.Sort(found[ecosystem])
		slices.Sort(directories)
		if !slices.Equal(found[ecosystem], directories) {
			t.Errorf("%s: %q is updated, want %q", ecosystem, found[ecosystem], directories)
		}
	}
}

// The workflow runs the stages that make test-release runs, and adds the identity; the
// documentation says how to verify what they sign.
func TestReleaseRunsTheTestedStages(t *testing.T) {
	release, script, page := readFile(t, workflows+"release.yaml"), readFile(t, "hack/release.sh"), readFile(t, "docs/install.md")
	for _, want := range []string{
		`hack/release.sh build "$GITHUB_REF_NAME"`, `hack/release.sh publish "$GITHUB_REF_NAME"`, `hack/release.sh sign "$GITHUB_REF_NAME"`,
		"subject-checksums: dist/assets/checksums.txt", "push-to-registry: true", "--notes-file signed/notes.md",
	} {
		if !strings.Contains(release, want) {
			t.Errorf("the release has no %s", want)
		}
	}
	for _, forbidden := range []string{"DRY_RUN", "COSIGN_KEY"} {
		if strings.Contains(release, forbidden) || !strings.Contains(script, forbidden) {
			t.Errorf("%s is for the dry run alone", forbidden)
		}
	}
	for _, want := range []string{
		"cosign verify ", "cosign verify-blob ", "cosign verify-attestation ", "gh attestation verify ", "sha256sum --check", "https://token.actions.githubusercontent.com",
		"https://github.com/pgstorage/pgstorage/" + workflows + "release.yaml@refs/tags/",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/install.md has no %s", want)
		}
	}
}
