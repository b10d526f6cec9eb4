package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// planted is the folder of faults that each rule must find.
const planted = "hack/prose/testdata/planted"

// alert is one entry of Vale's JSON.
type alert struct {
	Check, Match, Message string
	Line                  int
}

// finding is an alert at the place to edit.
type finding struct {
	part, place string
	alert
}

// linter is a Vale and its configuration.
type linter struct{ program, config string }

// lint returns the alerts of each file.
func (l linter) lint(files []string) (map[string][]alert, error) {
	args := append([]string{"--config", l.config, "--no-global", "--no-exit", "--output=JSON", "--minAlertLevel=suggestion"}, files...)
	cmd := exec.CommandContext(context.Background(), l.program, args...) //nolint:gosec // the program is the Vale that hack/tools.sh built
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run Vale: %w: %s", err, out)
	}
	found := map[string][]alert{}
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, fmt.Errorf("read the output of Vale: %w", err)
	}
	return found, nil
}

// checkRules fails when one of our rules no longer finds its planted fault in a page
// and in a comment of Go.
func checkRules(l linter) error {
	rules, err := filepath.Glob(".vale/pgstorage/*.yml")
	if err != nil {
		return err
	}
	var missed []error
	for _, file := range []string{planted + "/page.md", planted + "/comment.go"} {
		found, err := l.lint([]string{file})
		if err != nil {
			return err
		}
		for _, rule := range rules {
			name := "pgstorage." + strings.TrimSuffix(filepath.Base(rule), ".yml")
			if !slices.ContainsFunc(found[file], func(a alert) bool { return a.Check == name }) {
				missed = append(missed, fmt.Errorf("rule %s does not find the fault planted in %s", name, file))
			}
		}
	}
	return errors.Join(missed...)
}

// resolve turns alerts in extracts into findings in their sources.
func (e extracts) resolve(found map[string][]alert) []finding {
	var out []finding
	for file, alerts := range found {
		for _, a := range alerts {
			f := finding{part: partOf(file), place: fmt.Sprintf("%s:%d", file, a.Line), alert: a}
			if extracted, ok := e[file]; ok {
				f.part = extracted.part
				for _, p := range extracted.passages {
					if p.line <= a.Line {
						f.place = p.source
					}
				}
			}
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b finding) int {
		return strings.Compare(a.part+" "+a.place+a.Match, b.part+" "+b.place+b.Match)
	})
	return out
}

// partOf a file is what the baseline counts: the package of a Go file, or the file.
func partOf(file string) string {
	if strings.HasSuffix(file, ".go") {
		return filepath.Dir(file)
	}
	return file
}
