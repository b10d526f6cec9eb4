package outcome

import "slices"

// Set is the outcomes of one object: at most one of each condition, in the order in
// which the conditions were first added. Use Add and Get; a position in the set has no
// meaning.
type Set []Outcome

// NewSet returns a Set of these outcomes. See Set.Add for a condition that occurs twice.
func NewSet(outcomes ...Outcome) Set {
	var s Set
	s.Add(outcomes...)
	return s
}

// Add adds outcomes. One whose condition is in the set already replaces it there.
func (s *Set) Add(outcomes ...Outcome) {
	for _, o := range outcomes {
		if i := s.index(o.Condition); i >= 0 {
			(*s)[i] = o
			continue
		}
		*s = append(*s, o)
	}
}

// Get returns the outcome of a condition, and whether the set has one. Without one it
// returns the zero Outcome.
func (s Set) Get(condition string) (Outcome, bool) {
	if i := s.index(condition); i >= 0 {
		return s[i], true
	}
	return Outcome{}, false
}

// Reason returns the reason of a condition, or "" where the set has no outcome of it.
func (s Set) Reason(condition string) string {
	o, _ := s.Get(condition)
	return o.Reason
}

// Worst returns the outcome that keeps the object from Ready: one that is Invalid before
// one that waits, and of these the first. Informative outcomes do not count. It returns
// false where nothing keeps the object from Ready.
func (s Set) Worst() (Outcome, bool) {
	var worst Outcome
	for _, o := range s {
		if !o.Informative && o.Kind > worst.Kind {
			worst = o
		}
	}
	return worst, worst.Kind != Done
}

func (s Set) index(condition string) int {
	return slices.IndexFunc(s, func(o Outcome) bool { return o.Condition == condition })
}
