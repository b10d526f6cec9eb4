// Command maturity writes the tables of what has been tested, from the evidence in the tree.
// They are in README.md, docs/maturity.md and docs/faults/README.md. It fails where evidence
// is named that does not exist, or a fault has no row. Usage: go run ./hack/maturity FOLDER
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pgstorage/pgstorage/internal/testing/document"
)

// root is the folder of the repository.
type root string

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/maturity FOLDER")
		os.Exit(2)
	}
	if err := root(os.Args[1]).write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (r root) write() error {
	rows, err := r.assess(features)
	if err != nil {
		return err
	}
	matrix, err := r.matrix(columns, lines)
	if err != nil {
		return err
	}
	for _, page := range []struct {
		path, text string
		place      document.Place
	}{
		{"README.md", linked(overview(rows), ""), place("state")},
		{"docs/maturity.md", linked(criteria(rows), "../"), place("features")},
		{"docs/faults/README.md", matrix, place("matrix")},
	} {
		if err := page.place.Write(filepath.Join(string(r), filepath.FromSlash(page.path)), page.text); err != nil {
			return err
		}
	}
	return nil
}

// place of a table in its page.
func place(name string) document.Place {
	return document.Place{Begin: "<!-- " + name + " -->", End: "<!-- end of " + name + " -->"}
}

// linked completes the links of a text, for a page so many folders below the root.
func linked(text, up string) string { return strings.ReplaceAll(text, "](ROOT", "]("+up) }

// assessed is a feature with its verdicts.
type assessed struct {
	feature
	EndToEnd, Faults, Tutorial, Upgrade verdict
}

func (r root) assess(all []feature) ([]assessed, error) {
	var out []assessed
	for _, f := range all {
		a := assessed{feature: f}
		var err error
		for _, criterion := range []struct {
			into  *verdict
			claim claim
			look  func(string) (string, string, error)
		}{
			{&a.EndToEnd, f.EndToEnd, r.test}, {&a.Faults, f.Faults, r.faults}, {&a.Tutorial, f.Tutorial, r.tutorial},
		} {
			if *criterion.into, err = criterion.claim.judge(criterion.look); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		if a.Upgrade, err = r.upgrade(); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// state follows from the criteria: with all of them met a feature is beta, and needs no gate.
func (a assessed) state() string {
	state := "alpha"
	if a.EndToEnd.Met && a.Faults.Met && a.Tutorial.Met && a.Upgrade.Met {
		state = "beta"
	}
	if a.Gate != "" {
		state += ", off by default (" + a.Gate + ")"
	}
	if a.Note != "" {
		state += "; " + a.Note
	}
	return state
}

// overview is the table of README.md.
func overview(rows []assessed) string {
	var b strings.Builder
	b.WriteString("| feature | state | end to end on Kubernetes | faults |\n|---|---|---|---|\n")
	for _, a := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", a.Name, a.state(), a.EndToEnd.Text, a.Faults.Text)
	}
	return b.String()
}

// criteria is the table of docs/maturity.md.
func criteria(rows []assessed) string {
	var b strings.Builder
	b.WriteString("| feature | state | end to end | faults | tutorial | upgrade |\n|---|---|---|---|---|---|\n")
	for _, a := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", a.Name, a.state(), a.EndToEnd.Text, a.Faults.Text, a.Tutorial.Text, a.Upgrade.Text)
	}
	return b.String()
}
