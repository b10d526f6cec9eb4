package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/walkthrough"
)

// verdict on a criterion: what the tables say, and whether it is met.
type verdict struct {
	Text string
	Met  bool
}

// judge a claim. look examines the evidence, and returns what it shows or why it does not count.
func (c claim) judge(look func(evidence string) (shows, open string, err error)) (verdict, error) {
	if c.Evidence == "" {
		if c.Open != "" {
			return verdict{Text: "open: " + c.Open}, nil
		}
		return verdict{Text: c.Where, Met: true}, nil
	}
	shows, open, err := look(c.Evidence)
	if err != nil {
		return verdict{}, err
	}
	if c.Open != "" {
		open = c.Open
	}
	if open != "" {
		return verdict{Text: "open: " + open}, nil
	}
	if c.Where != "" {
		shows = c.Where
	}
	return verdict{Text: shows, Met: true}, nil
}

// test looks for FOLDER TESTNAME.
func (r root) test(evidence string) (shows, open string, err error) {
	folder, name, _ := strings.Cut(evidence, " ")
	files, err := filepath.Glob(filepath.Join(string(r), folder, "*_test.go"))
	if err != nil {
		return "", "", err
	}
	function := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", "", err
		}
		if function.Match(content) {
			return name, "", nil
		}
	}
	return "", "", fmt.Errorf("%s has no test %s", folder, name)
}

// faults counts the runs of a file, in which no commit may be lost.
func (r root) faults(evidence string) (shows, open string, err error) {
	path, words, _ := strings.Cut(evidence, " ")
	runs, err := r.runs(path)
	if err != nil {
		return "", "", err
	}
	runs = slices.DeleteFunc(runs, func(run *faults.Run) bool { return !strings.Contains(run.Case, words) })
	if len(runs) == 0 {
		return "", "no run is recorded", nil
	}
	acknowledged, lost := 0, 0
	for _, run := range runs {
		acknowledged += run.Acknowledged
		lost += run.Lost
	}
	page := fmt.Sprintf("[%d runs](ROOT%s), %d of %d acknowledged commits lost", len(runs), strings.TrimSuffix(path, "jsonl")+"md", lost, acknowledged)
	if lost > 0 {
		return "", page, nil
	}
	return page, "", nil
}

func (r root) runs(path string) ([]*faults.Run, error) {
	file, err := faults.Open(filepath.Join(string(r), path))
	if err != nil {
		return nil, err
	}
	return file.Runs(), nil
}

// tutorial looks for blocks that no test runs.
func (r root) tutorial(evidence string) (shows, open string, err error) {
	source, err := os.ReadFile(filepath.Join(string(r), evidence))
	if err != nil {
		return "", "", err
	}
	page, err := walkthrough.Parse(evidence, string(source))
	if err != nil {
		return "", "", err
	}
	all, needs := 0, map[string]int{}
	for _, b := range page.Blocks {
		if !b.Commands() {
			continue
		}
		all++
		switch test := walkthrough.Needs[b.Needs].RunBy; {
		case test != "":
			if _, _, err := r.test(test); err != nil {
				return "", "", err
			}
		case b.Needs != "":
			needs["`"+b.Needs+"`"]++
		}
	}
	if len(needs) == 0 {
		return fmt.Sprintf("[all %d blocks](ROOT%s)", all, evidence), "", nil
	}
	var lacking []string
	for name, n := range needs {
		lacking = append(lacking, fmt.Sprintf("%d need %s", n, name))
	}
	slices.Sort(lacking)
	return "", fmt.Sprintf("of [%d blocks](ROOT%s) %s", all, evidence, strings.Join(lacking, ", ")), nil
}

var released = regexp.MustCompile(`(?m)^## v\S+ - \d{4}-\d\d-\d\d$`)

// upgrade is open until there are two releases and a test that upgrades from one to the other.
func (r root) upgrade() (verdict, error) {
	content, err := os.ReadFile(filepath.Join(string(r), "CHANGELOG.md")) //nolint:gosec // G703: the repository is the caller's
	if err != nil {
		return verdict{}, err
	}
	if released.Match(content) {
		return verdict{Text: "open: no test upgrades from the last release"}, nil
	}
	return verdict{Text: "open: no release yet"}, nil
}
