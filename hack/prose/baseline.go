package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

const baselineHeader = `# Findings that older pages and packages still have, by part. A number only falls:
# make prose-baseline lowers it. New pages and packages have none.
`

// problem is a part whose findings are not those of the baseline.
type problem struct {
	part           string
	allowed, found int
}

func (p problem) String() string {
	if p.found > p.allowed {
		return fmt.Sprintf("%s: %d findings, %d allowed; correct the new ones", p.part, p.found, p.allowed)
	}
	return fmt.Sprintf("%s: %d findings, %d allowed; run make prose-baseline and commit %s", p.part, p.found, p.allowed, baselineFile)
}

// judge compares exactly: more findings are faults, fewer ones a baseline to lower.
func judge(allowed, now map[string]int) []problem {
	var problems []problem
	for _, part := range parts(allowed, now) {
		if allowed[part] != now[part] {
			problems = append(problems, problem{part, allowed[part], now[part]})
		}
	}
	return problems
}

// lowered is the baseline of what was found. It refuses to raise a count; no
// baseline at all (nil) allows everything.
func lowered(allowed, now map[string]int) (map[string]int, error) {
	if allowed == nil {
		return now, nil
	}
	var raised []error
	for _, p := range judge(allowed, now) {
		if p.found > p.allowed {
			raised = append(raised, errors.New(p.String()))
		}
	}
	return now, errors.Join(raised...)
}

func parts(counts ...map[string]int) []string {
	all := map[string]bool{}
	for _, c := range counts {
		for part := range c {
			all[part] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func byPart(findings []finding) map[string]int {
	counts := map[string]int{}
	for _, f := range findings {
		counts[f.part]++
	}
	return counts
}

// readBaseline returns nil if there is none.
func readBaseline(file string) (map[string]int, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	allowed := map[string]int{}
	for scanner := bufio.NewScanner(bytes.NewReader(content)); scanner.Scan(); {
		line := scanner.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var count int
		number, part, _ := strings.Cut(line, " ")
		if _, err := fmt.Sscan(number, &count); err != nil || part == "" || count < 1 {
			return nil, fmt.Errorf("%s: %q is not a count and a part", file, line)
		}
		allowed[part] = count
	}
	return allowed, nil
}

func writeBaseline(file string, allowed map[string]int) error {
	var b strings.Builder
	b.WriteString(baselineHeader)
	total := 0
	for _, part := range parts(allowed) {
		fmt.Fprintf(&b, "%d %s\n", allowed[part], part)
		total += allowed[part]
	}
	fmt.Printf("vale: %s allows %d findings\n", file, total)
	return os.WriteFile(file, []byte(b.String()), 0o644) //nolint:gosec // a file of the repository, which everyone may read
}

func printFindings(findings []finding, wanted func(part string) bool) {
	for _, f := range findings {
		if wanted(f.part) {
			fmt.Printf("%s: %s (%s)\n", f.place, f.Message, strings.TrimPrefix(f.Check, "pgstorage."))
		}
	}
}

// printCounts by rule and top-level folder.
func printCounts(findings []finding) {
	counts := map[string]int{}
	for _, f := range findings {
		folder, _, _ := strings.Cut(f.part, "/")
		if strings.HasSuffix(f.part, " texts") {
			folder += " texts"
		}
		counts[folder+" "+strings.TrimPrefix(f.Check, "pgstorage.")]++
	}
	for _, key := range parts(counts) {
		fmt.Printf("%5d %s\n", counts[key], key)
	}
	fmt.Printf("%5d in all\n", len(findings))
}
