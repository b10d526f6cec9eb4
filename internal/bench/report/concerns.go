package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// concern is a finding that several repeats may share, or, without repeats, a finding on
// their agreement. Its message is that of the first repeat.
type concern struct {
	validity.Finding
	repeats []int
}

// concerns of a variant are its cautions and rejections, rejections first.
func (v Variant) concerns() []concern {
	var all []concern
	for _, r := range v.Repeats {
		for _, f := range r.Findings {
			if f.Verdict != validity.Rejected && f.Verdict != validity.Caution {
				continue
			}
			at := slices.IndexFunc(all, func(o concern) bool { return o.Verdict == f.Verdict && o.Reason == f.Reason })
			if at < 0 {
				all, at = append(all, concern{Finding: f}), len(all)
			}
			all[at].repeats = append(all[at].repeats, r.Number)
		}
	}
	if v.Agreement.Verdict == validity.Caution || v.Agreement.Verdict == validity.Rejected {
		all = append(all, concern{Finding: v.Agreement})
	}
	slices.SortStableFunc(all, func(a, b concern) int { return rejection(b) - rejection(a) })
	return all
}

func rejection(f concern) int {
	if f.Verdict == validity.Rejected {
		return 1
	}
	return 0
}

// short form of a concern, shown beside a figure.
func (f concern) short() string {
	text := fmt.Sprintf("%s %s", f.Verdict, f.Reason)
	if len(f.repeats) > 0 {
		text += " (" + of(f.repeats) + ")"
	}
	return text
}

func of(repeats []int) string {
	if len(repeats) == 1 {
		return "repeat " + numbers(repeats)
	}
	return "repeats " + numbers(repeats)
}

// flagged lists failures and concerns of the variant in short form, shown beside its
// figures.
func (v Variant) flagged() string {
	var words []string
	if failed := v.failed(); len(failed) > 0 {
		words = append(words, "Failed ("+of(failed)+")")
	}
	for _, f := range v.concerns() {
		words = append(words, f.short())
	}
	return strings.Join(words, "; ")
}

func (v Variant) failed() []int {
	var all []int
	for _, r := range v.Repeats {
		if r.Failure != "" {
			all = append(all, r.Number)
		}
	}
	return all
}

// unchecked are the checks that did not run in some repeat.
func (v Variant) unchecked() []string {
	var names []string
	for _, r := range v.Repeats {
		for _, f := range r.Findings {
			if f.Verdict == validity.NotRun && !slices.Contains(names, f.Check) {
				names = append(names, f.Check)
			}
		}
	}
	return names
}

// counted returns the number of counted repeats.
func (v Variant) counted() int {
	n := 0
	for _, r := range v.Repeats {
		if r.Counted {
			n++
		}
	}
	return n
}

// exclusion returns why a repeat is excluded; "" for a counted one.
func (r Repeat) exclusion() string {
	var reasons []string
	if r.Failure != "" {
		reasons = append(reasons, "Failed: "+r.Failure)
	}
	for _, f := range r.Findings {
		if f.Verdict == validity.Rejected {
			reasons = append(reasons, fmt.Sprintf("Rejected %s: %s", f.Reason, f.Message))
		}
	}
	return strings.Join(reasons, "; ")
}
