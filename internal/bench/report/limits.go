package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// cpuLimit is the CPU limit, in processors, that the cluster declares and that the runs had.
func cpuLimit(runs []analysis.Trial) *float64 {
	for _, r := range runs {
		if limit := validity.DeclaredLimit(r.Facts); limit != nil {
			return limit
		}
	}
	return nil
}

// limited reports whether the CPU limit that the cluster declares set the rate of a counted
// repeat.
func (v Variant) limited() bool {
	return slices.ContainsFunc(v.Repeats, func(r Repeat) bool {
		return r.Counted && slices.ContainsFunc(r.Findings, func(f validity.Finding) bool { return f.Reason == validity.ReasonCPULimitReached })
	})
}

// limits returns sentences on the declared CPU limits that set the rate of variants; "" if
// none did.
func (g Group) limits() string {
	var amounts []string
	variants := map[string][]string{}
	free := false
	for _, v := range g.ordered() {
		if !v.limited() {
			free = free || v.counted() > 0
			continue
		}
		// Without a record, the limit is not known.
		amount := ""
		if v.CPULimit != nil {
			amount = fmt.Sprintf(" (%.3g CPU)", *v.CPULimit)
		}
		if variants[amount] == nil {
			amounts = append(amounts, amount)
		}
		variants[amount] = append(variants[amount], v.Name)
	}
	if len(amounts) == 0 {
		return ""
	}
	var named []string
	for _, amount := range amounts {
		named = append(named, list(variants[amount])+amount)
	}
	text := "The CPU limit that the cluster declares sets the rate of " + strings.Join(named, ", and of ") +
		". These figures measure the database under that limit, not its storage."
	if free || len(amounts) > 1 {
		text += " A difference between variants whose limits differ, or of which only one reaches its limit, is a difference in CPU."
	}
	return text
}
