package matrix

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// ID of a run: it stays the same however the order comes out.
type ID struct {
	Variant string `json:"variant"`
	// Repeat from 1.
	Repeat int `json:"repeat"`
}

// PlannedRun is one run of a Plan.
type PlannedRun struct {
	ID
	// Target is the cluster that it is measured on; runs of one Target share it.
	// Empty where no axis needs one.
	Target string
}

// Plan of a matrix.
type Plan struct {
	Variants []Variant
	// Runs in their order: repeat by repeat, every variant once in each.
	Runs []PlannedRun

	spec Spec
}

// New plan of a specification. A matrix whose estimate exceeds its budget is
// refused.
func New(spec Spec) (*Plan, error) {
	spec = spec.withDefaults()
	if err := spec.validate(); err != nil {
		return nil, err
	}
	variants, err := expand(spec)
	if err != nil {
		return nil, err
	}
	p := &Plan{Variants: variants, spec: spec}
	for repeat := 1; repeat <= spec.Repeats; repeat++ {
		for _, v := range shuffled(variants, spec.Seed, repeat) {
			p.Runs = append(p.Runs, PlannedRun{ID{v.Name, repeat}, target(spec.Axes, v)})
		}
	}
	if e := p.Estimate(); spec.Budget > 0 && e.Total > spec.Budget {
		return nil, fmt.Errorf("the matrix takes about %v (%d runs of %v on %d targets of %v), more than its budget of %v: %s",
			e.Total, e.Runs, spec.Timing.run(), e.Targets, spec.Timing.Target, spec.Budget, p.remedy())
	}
	return p, nil
}

// remedy of a budget that is too small.
func (p *Plan) remedy() string {
	block := time.Duration(len(p.Variants)) * p.spec.Timing.run()
	left := p.spec.Budget - time.Duration(p.targets())*p.spec.Timing.Target
	if n := int(left / max(1, block)); n >= 1 && left > 0 {
		return fmt.Sprintf("%d repeats would fit; lower repeats or duration, take variants away, or raise the budget", n)
	}
	return "not even one repeat would fit; take variants away, lower duration or raise the budget"
}

// shuffled variants of one repeat, by SHA-256 of seed, repeat and name. The order is the same
// with any version of Go, and stays the same for the other variants when one is added.
func shuffled(variants []Variant, seed uint64, repeat int) []Variant {
	key := func(v Variant) []byte {
		text := binary.BigEndian.AppendUint64(nil, seed)
		text = binary.BigEndian.AppendUint64(text, uint64(repeat)) //nolint:gosec // G115: repeats are from 1 to 20
		sum := sha256.Sum256(append(text, v.Name...))
		return sum[:]
	}
	order := slices.Clone(variants)
	slices.SortFunc(order, func(a, b Variant) int { return bytes.Compare(key(a), key(b)) })
	return order
}

// Estimate of what a plan takes.
type Estimate struct {
	Runs, Targets int
	Total         time.Duration
}

// Estimate of the whole plan: every target is made once and kept to the end.
func (p *Plan) Estimate() Estimate {
	e := Estimate{Runs: len(p.Runs), Targets: p.targets()}
	e.Total = time.Duration(e.Targets)*p.spec.Timing.Target + time.Duration(e.Runs)*p.spec.Timing.run()
	return e
}

func (p *Plan) targets() int {
	seen := map[string]bool{}
	for _, r := range p.Runs {
		seen[r.Target] = true
	}
	return len(seen)
}
