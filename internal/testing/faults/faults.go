// Package faults keeps the result of each run of a fault, one JSON line each, and makes a table
// of all of them. Runs of several days add up: a failed run stays.
package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// Run of one fault.
type Run struct {
	// Date in UTC, as 2026-02-03.
	Date string `json:"date"`
	// Versions of what ran.
	Versions string `json:"versions"`
	// Accelerator of the virtual machine's processor: kvm, or tcg where it is emulated. Empty
	// where there was no virtual machine.
	Accelerator string `json:"accelerator"`
	// Slower compares the machine with the host. It is how many times as long the same work took in
	// the machine when it started, beside whatever else ran. 0 where it was not measured.
	Slower float64 `json:"slower"`
	// Case is the fault.
	Case string `json:"case"`
	// Acknowledged commits of the run, and those of them that are lost.
	Acknowledged int `json:"acknowledged"`
	Lost         int `json:"lost"`
	// Seconds that the page of the fault defines: for S3NBD those from the end of the fault
	// until a commit was acknowledged again.
	Seconds float64 `json:"seconds"`
}

// File of runs, as it was when it was opened.
type File struct {
	path   string
	raw    []byte
	former []*Run
}

// Open a file of runs, which need not be there yet.
func Open(path string) (*File, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	former, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &File{path, raw, former}, nil
}

// Runs that were in the file when it was opened.
func (f *File) Runs() []*Run { return f.former }

// Write the runs that came since the file was opened behind the former ones, and return
// all. What a run lost may be found later: then they are written once more.
func (f *File) Write(runs []*Run) ([]*Run, error) {
	out := bytes.NewBuffer(slices.Clone(f.raw))
	lines := json.NewEncoder(out)
	for _, r := range runs {
		if err := lines.Encode(r); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(f.path, out.Bytes(), 0o644); err != nil { //nolint:gosec // Write appends the runs that came since the file was opened, and returns all runs. A loss may be detected later; Write then writes that run again.
		return nil, err
	}
	return slices.Concat(f.former, runs), nil
}

func parse(raw []byte) (all []*Run, err error) {
	lines := json.NewDecoder(bytes.NewReader(raw))
	lines.DisallowUnknownFields()
	for {
		r := &Run{}
		err := lines.Decode(r)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
}

// Table of runs by case, in Markdown; empty where there are none. The heading of the seconds
// says what they are.
func Table(runs []*Run, seconds string) string {
	if len(runs) == 0 {
		return ""
	}
	cases := map[string][]*Run{}
	for _, r := range runs {
		cases[r.Case] = append(cases[r.Case], r)
	}
	names := make([]string, 0, len(cases))
	for name := range cases {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("| case | runs | acknowledged | lost | median " + seconds + " | worst | runs of |\n|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		b.WriteString(row(name, cases[name]))
	}
	return b.String()
}

func row(name string, runs []*Run) string {
	acknowledged, lost, dates := 0, 0, []string{}
	for _, r := range runs {
		acknowledged += r.Acknowledged
		lost += r.Lost
		dates = append(dates, r.Date)
	}
	slices.Sort(dates)
	median, worst := Seconds(runs)
	return fmt.Sprintf("| %s | %d | %d | %d | %.1f | %.1f | %s |\n", name, len(runs), acknowledged, lost,
		median, worst, strings.Join(slices.Compact(dates), ", "))
}

// Seconds of runs: their median, and the most. Both are 0 where there are no runs, or where one has
// no finite number.
func Seconds(runs []*Run) (median, worst float64) {
	all := make([]float64, len(runs))
	for i, r := range runs {
		all[i] = r.Seconds
	}
	s, err := statistics.Summarise(all)
	if err != nil {
		return 0, 0
	}
	return s.Median, s.Max
}

// Circumstances of runs, a line for each that there were.
func Circumstances(runs []*Run) string {
	var all []string
	for _, versions := range distinct(runs, func(r *Run) string { return r.Versions }) {
		all = append(all, versions+".")
	}
	for _, accelerator := range distinct(runs, func(r *Run) string { return r.Accelerator }) {
		if accelerator == "" {
			continue
		}
		least, most := 0.0, 0.0
		for _, r := range runs {
			if r.Accelerator == accelerator {
				most = max(most, r.Slower)
				if least == 0 || r.Slower < least {
					least = r.Slower
				}
			}
		}
		how := "emulated (QEMU TCG)"
		if accelerator == "kvm" {
			how = "the host's own (KVM)"
		}
		if most == 0 {
			all = append(all, "The guests' processor is "+how+".")
			continue
		}
		times := fmt.Sprintf("%.1f", least)
		if end := fmt.Sprintf("%.1f", most); end != times {
			times += " to " + end
		}
		all = append(all, fmt.Sprintf("The guests' processor is %s; the same work takes %s times as long as on the host.", how, times))
	}
	return strings.Join(all, "\n")
}

func distinct(runs []*Run, of func(*Run) string) (out []string) {
	for _, r := range runs {
		if !slices.Contains(out, of(r)) {
			out = append(out, of(r))
		}
	}
	return out
}
