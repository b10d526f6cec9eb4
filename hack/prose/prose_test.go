package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBaselineIsExact(t *testing.T) {
	allowed := map[string]int{"docs/old.md": 3, "internal/kube": 2, "api": 1}
	for name, test := range map[string]struct {
		now  map[string]int
		want []problem
	}{
		"the same":                  {now: map[string]int{"docs/old.md": 3, "internal/kube": 2, "api": 1}},
		"a new finding":             {now: map[string]int{"docs/old.md": 4, "internal/kube": 2, "api": 1}, want: []problem{{"docs/old.md", 3, 4}}},
		"a new page with a finding": {now: map[string]int{"docs/old.md": 3, "docs/new.md": 1, "internal/kube": 2, "api": 1}, want: []problem{{"docs/new.md", 0, 1}}},
		"a finding less":            {now: map[string]int{"docs/old.md": 2, "internal/kube": 2, "api": 1}, want: []problem{{"docs/old.md", 3, 2}}},
		"a part without findings":   {now: map[string]int{"docs/old.md": 3, "internal/kube": 2}, want: []problem{{"api", 1, 0}}},
		"one part's findings do not pay for another's": {now: map[string]int{"docs/old.md": 2, "internal/kube": 3, "api": 1}, want: []problem{{"docs/old.md", 3, 2}, {"internal/kube", 2, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, judge(allowed, test.now), cmp.AllowUnexported(problem{})); diff != "" {
				t.Errorf("problems, -want +got:\n%s", diff)
			}
		})
	}
}

func TestBaselineOnlyFalls(t *testing.T) {
	allowed := map[string]int{"api": 2}
	if got, err := lowered(allowed, map[string]int{"api": 1}); err != nil || got["api"] != 1 {
		t.Errorf("lowered to %v, %v; want 1 finding in api and no error", got, err)
	}
	if got, err := lowered(allowed, map[string]int{"api": 3}); err == nil {
		t.Errorf("a baseline was raised to %v, want an error", got)
	}
	if got, err := lowered(nil, map[string]int{"api": 3}); err != nil || got["api"] != 3 {
		t.Errorf("first baseline is %v, %v; want 3 findings in api and no error", got, err)
	}
}

func TestBaselineIsReadAsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "baseline")
	if got, err := readBaseline(file); got != nil || err != nil {
		t.Errorf("absent baseline: %v, %v; want nil, nil", got, err)
	}
	want := map[string]int{"docs/a.md": 3, "internal/cli texts": 12}
	if err := writeBaseline(file, want); err != nil {
		t.Fatal(err)
	}
	got, err := readBaseline(file)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, -want +got:\n%s", err, diff)
	}
	for _, line := range []string{"many docs/a.md", "0 docs/a.md", "3"} {
		if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readBaseline(file); err == nil {
			t.Errorf("baseline %q is read as %v, want an error", line, got)
		}
	}
}

func TestTextsOfProgramsAreExtracted(t *testing.T) {
	dir := t.TempDir()
	source := `package p

import "a/path with several words in it"

const query = "SELECT one thing FROM a table"

func f() {
	use("Waiting for the " +
		"pool to be imported")
	use("short", "-v", "Shows what " + x + " is made of these days")
	use("Each has a state:\n\n  Ready    matches its spec\n           and nothing waits\n  Stalled  needs you")
}
`
	file := filepath.Join(dir, "p.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := literals(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []text{
		{3, "a/path with several words in it"},
		{8, "Waiting for the pool to be imported"},
		{10, "is made of these days"},
		{11, "Each has a state:\n\n\nReady    matches its spec\n           and nothing waits\n\nStalled  needs you"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(text{})); diff != "" {
		t.Errorf("texts, -want +got:\n%s", diff)
	}
}

func TestDescriptionsOfCRDsAreExtracted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crd.yaml")
	crd := "schema:\n  description: |-\n    Name of the pool.\n    Immutable.\n  properties:\n    description: {type: string, description: what a user reads}\n"
	if err := os.WriteFile(file, []byte(crd), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := descriptions(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []text{{2, "Name of the pool.\nImmutable."}, {6, "what a user reads"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(text{})); diff != "" {
		t.Errorf("descriptions, -want +got:\n%s", diff)
	}
}

func TestFindingsAreReportedInTheSource(t *testing.T) {
	e := extracts{"/tmp/x.md": {part: "p texts", passages: []passage{{1, "p/a.go:10"}, {3, "p/a.go:20"}, {7, "p/a.go:30"}}}}
	for line, want := range map[int]string{1: "p/a.go:10", 2: "p/a.go:10", 5: "p/a.go:20", 9: "p/a.go:30"} {
		got := e.resolve(map[string][]alert{"/tmp/x.md": {{Line: line}}})
		if len(got) != 1 || got[0].place != want || got[0].part != "p texts" {
			t.Errorf("line %d is %+v, want %s in p texts", line, got, want)
		}
	}
	if got := e.resolve(map[string][]alert{"internal/kube/a.go": {{Line: 4}}}); len(got) != 1 || got[0].place != "internal/kube/a.go:4" || got[0].part != "internal/kube" {
		t.Errorf("a comment is %+v, want internal/kube/a.go:4 in internal/kube", got)
	}
}
