package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/testing/faults"
)

// tree is a folder with files.
func tree(t *testing.T, files map[string]string) root {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root(dir)
}

var sample = map[string]string{
	"CHANGELOG.md":     "# Changes\n\n## v0.1.0 - not released\n",
	"test/a/x_test.go": "package a\n\nfunc TestJourney(t *testing.T) {}\n",

	"test/install/x_test.go": "package install\n\nfunc TestOfflineCommandsOfTutorialsRun(t *testing.T) {}\n",
	"docs/v.md":              "# V\n\n<!-- needs: offline -->\n```sh\ntrue\n```\n",
	"docs/w.md":              "# W\n\n<!-- needs: branches -->\n```sh\ntrue\n```\n",
	"docs/t.md":              "# T\n\n```sh\ntrue\n```\n\n<!-- needs: ceph -->\n```sh\nfalse\n```\n",
	"docs/u.md":              "# U\n\n```sh\ntrue\n```\n",
	"docs/f.jsonl":           `{"case":"cut","acknowledged":5,"seconds":2}` + "\n" + `{"case":"cut","acknowledged":5,"seconds":9}` + "\n",
	"docs/lost.jsonl":        `{"case":"cut","acknowledged":5,"lost":1,"seconds":2}` + "\n",
}

func TestEvidenceDecidesTheVerdict(t *testing.T) {
	r := tree(t, sample)
	for name, tc := range map[string]struct {
		claim claim
		look  func(string) (string, string, error)
		want  verdict
	}{
		"a test":                {claim{Evidence: "test/a TestJourney", Where: "kind"}, r.test, verdict{"kind", true}},
		"a test that fails":     {claim{Evidence: "test/a TestJourney", Open: "it fails"}, r.test, verdict{"open: it fails", false}},
		"no evidence":           {claim{Open: "never ran"}, r.test, verdict{"open: never ran", false}},
		"not applicable":        {noStorage, r.faults, verdict{"keeps no data", true}},
		"faults":                {claim{Evidence: "docs/f.jsonl"}, r.faults, verdict{"[2 runs](ROOTdocs/f.md), 0 of 10 acknowledged commits lost", true}},
		"a lost commit":         {claim{Evidence: "docs/lost.jsonl"}, r.faults, verdict{"open: [1 runs](ROOTdocs/lost.md), 1 of 5 acknowledged commits lost", false}},
		"no run":                {claim{Evidence: "docs/none.jsonl"}, r.faults, verdict{"open: no run is recorded", false}},
		"a walked tutorial":     {claim{Evidence: "docs/u.md"}, r.tutorial, verdict{"[all 1 blocks](ROOTdocs/u.md)", true}},
		"one of another test":   {claim{Evidence: "docs/v.md"}, r.tutorial, verdict{"[all 1 blocks](ROOTdocs/v.md)", true}},
		"a tutorial with needs": {claim{Evidence: "docs/t.md"}, r.tutorial, verdict{"open: of [2 blocks](ROOTdocs/t.md) 1 need `ceph`", false}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.claim.judge(tc.look)
			if err != nil || got != tc.want {
				t.Errorf("got %+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
}

func TestEvidenceMustExist(t *testing.T) {
	r := tree(t, sample)
	if _, err := (claim{Evidence: "test/a TestOther"}).judge(r.test); err == nil {
		t.Error("a test that does not exist is evidence")
	}
	if _, err := (claim{Evidence: "docs/w.md"}).judge(r.tutorial); err == nil {
		t.Error("a test of another folder that does not exist runs the tutorial")
	}
	if _, err := (claim{Evidence: "docs/other.md"}).judge(r.tutorial); err == nil {
		t.Error("a tutorial that does not exist is evidence")
	}
}

func TestFeatureIsBetaWithAllCriteria(t *testing.T) {
	met := verdict{Met: true}
	a := assessed{feature: feature{Gate: "feature gate `X`"}, EndToEnd: met, Faults: met, Tutorial: met}
	if got, want := a.state(), "alpha, off by default (feature gate `X`)"; got != want {
		t.Errorf("without upgrade: %q, want %q", got, want)
	}
	a.Upgrade, a.Gate, a.Note = met, "", "a note"
	if got, want := a.state(), "beta; a note"; got != want {
		t.Errorf("with all: %q, want %q", got, want)
	}
}

func TestUpgradeNeedsARelease(t *testing.T) {
	for changes, want := range map[string]string{
		"## v0.2.0 - not released\n":                           "open: no release yet",
		"## v0.2.0 - not released\n\n## v0.1.0 - 2026-12-01\n": "open: no test upgrades from the last release",
	} {
		got, err := tree(t, map[string]string{"CHANGELOG.md": changes}).upgrade()
		if err != nil || got.Text != want || got.Met {
			t.Errorf("%q: %+v, %v", changes, got, err)
		}
	}
}

func TestMatrixHasEveryCaseInARow(t *testing.T) {
	r := tree(t, sample)
	columns := []column{{"A", "docs/f.jsonl"}, {"B", "docs/none.jsonl"}, {"C", "docs/lost.jsonl"}}
	got, err := r.matrix(columns, []line{{"power", []string{"cut"}}, {"other", nil}})
	const want = "| fault | A | B | C |\n|---|---|---|---|\n| power | 2 runs, 0 lost, 6 s (worst 9) | not run | 1 run, 1 lost, 2 s |\n| other | not run | not run | not run |\n"
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := r.matrix(columns, []line{{"other", nil}}); err == nil || !strings.Contains(err.Error(), `the case "cut"`) {
		t.Errorf("a case without a row: %v", err)
	}
}

// A page of faults is written by its tests. What changes its file, or how a row is made, must write
// the page too.
func TestPagesHaveTheirRuns(t *testing.T) {
	files, err := filepath.Glob("../../docs/faults/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		runs, err := faults.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(strings.TrimSuffix(file, ".jsonl") + ".md")
		if err != nil {
			t.Fatal(err)
		}
		_, rows, _ := strings.Cut(faults.Table(runs.Runs(), ""), "|---|\n")
		if rows == "" || !strings.Contains(string(page), rows) {
			t.Errorf("the page of %s does not have the rows\n%s", file, rows)
		}
	}
}
