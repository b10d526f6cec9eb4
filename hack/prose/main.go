// Command prose checks the language of everything that people read. It runs Vale, with
// the rules in .vale, on documentation, comments, descriptions of the API, alerts, and
// the texts of programs.
//
// Each finding counts. .vale/baseline lists how many an older page or package still
// has. A count that rises fails, and so does one that falls until -update lowers the
// baseline.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const baselineFile = ".vale/baseline"

func main() {
	vale := flag.String("vale", "vale", "path of the Vale program")
	update := flag.Bool("update", false, "lower the baseline to what was found; without a baseline, write one")
	list := flag.String("list", "", "list the findings of parts that begin with this, for example internal/kube")
	counts := flag.Bool("counts", false, "print how often each rule was violated, by part of the repository")
	flag.Parse()
	if err := run(*vale, *update, *list, *counts); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(vale string, update bool, list string, counts bool) error {
	dir, err := os.MkdirTemp("", "prose")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	files, err := tracked()
	if err != nil {
		return err
	}
	extracted, err := extract(dir, files)
	if err != nil {
		return err
	}
	linter := linter{program: vale, config: ".vale.ini"}
	if err := checkRules(linter); err != nil {
		return err
	}
	found, err := linter.lint(append(direct(files), extracted.files()...))
	if err != nil {
		return err
	}
	findings := extracted.resolve(found)
	switch {
	case counts:
		printCounts(findings)
		return nil
	case list != "":
		printFindings(findings, func(part string) bool { return strings.HasPrefix(part, list) })
		return nil
	}
	return compare(findings, update)
}

// compare the findings with the baseline, and lower it if asked to.
func compare(findings []finding, update bool) error {
	allowed, err := readBaseline(baselineFile)
	if err != nil {
		return err
	}
	now := byPart(findings)
	if update {
		if allowed, err = lowered(allowed, now); err != nil {
			return err
		}
		return writeBaseline(baselineFile, allowed)
	}
	problems := judge(allowed, now)
	if len(problems) == 0 {
		fmt.Printf("vale: nothing beyond the %d findings of %s\n", len(findings), baselineFile)
		return nil
	}
	above := map[string]bool{}
	for _, p := range problems {
		above[p.part] = p.found > p.allowed
	}
	printFindings(findings, func(part string) bool { return above[part] })
	for _, p := range problems {
		fmt.Println(p)
	}
	return fmt.Errorf("%d parts differ from %s", len(problems), baselineFile)
}

// tracked lists the files of the repository, also those that are not committed yet.
func tracked() ([]string, error) {
	out, err := exec.CommandContext(context.Background(), "git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	var files []string
	for file := range strings.FieldsSeq(string(out)) {
		if _, err := os.Stat(file); err == nil && !skipped(file) {
			files = append(files, file)
		}
	}
	return files, nil
}

// skipped files are generated or copied, or data of tests.
func skipped(file string) bool {
	for _, prefix := range []string{
		"api/v1alpha1/applyconfiguration/", "api/v1alpha1/zz_generated", "internal/operator/extapply/",
		"charts/pgstorage/files/",
	} {
		if strings.HasPrefix(file, prefix) {
			return true
		}
	}
	return strings.Contains(file, "/testdata/")
}

// direct files are those that Vale reads itself: pages, comments of Go, and YAML
// with its comments. The CRDs are left to extract, which joins their lines.
func direct(files []string) []string {
	var out []string
	for _, file := range files {
		switch filepath.Ext(file) {
		case ".md", ".go":
			out = append(out, file)
		case ".yaml":
			if !strings.HasPrefix(file, "config/crd/") {
				out = append(out, file)
			}
		}
	}
	return out
}
