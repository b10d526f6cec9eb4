package matrix

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of a matrix. What is larger takes weeks, and its object grows beyond what
// an API server keeps.
const (
	MaxVariants = 64
	MaxRepeats  = 20
	// DefaultRepeats where Spec.Repeats is zero: the fewest of which an interval is
	// of use.
	DefaultRepeats = 5
	// DefaultMaxFailures where Spec.MaxFailures is zero.
	DefaultMaxFailures = 2
)

// Axis of a product.
type Axis struct {
	// Name, as "recordsize" or "clients", and the names of its Values.
	Name   string
	Values []string
	// Target reports that another value needs another cluster to measure, as of a profile or
	// durability. Other axes, such as a client count, need only another run.
	Target bool
}

// Variant of the matrix.
type Variant struct {
	// Name, unique in the matrix.
	Name string
	// Values by axis.
	Values map[string]string
}

// Timing that the estimate is computed from.
type Timing struct {
	// Target takes this long to be made, filled and removed.
	Target time.Duration
	// Prepare before each run, as a restart for a cold cache, the WarmUp, the
	// Duration of the measurement and the Rest after it.
	Prepare, WarmUp, Duration, Rest time.Duration
}

// run is the time of one run with all around it.
func (t Timing) run() time.Duration { return t.Prepare + t.WarmUp + t.Duration + t.Rest }

// Spec of a matrix.
type Spec struct {
	// Axes whose product are the variants, or Variants by name. With Variants, the
	// Axes only say which of their values need a target of their own.
	Axes     []Axis
	Variants []Variant
	// Repeats of every variant; zero is DefaultRepeats.
	Repeats int
	// Seed of the order.
	Seed uint64
	// MaxFailures of a variant, after which its other repeats are skipped; zero is
	// DefaultMaxFailures.
	MaxFailures int
	Timing      Timing
	// Budget of time for everything; zero means unlimited.
	Budget time.Duration
}

func (s Spec) withDefaults() Spec {
	if s.Repeats == 0 {
		s.Repeats = DefaultRepeats
	}
	if s.MaxFailures == 0 {
		s.MaxFailures = DefaultMaxFailures
	}
	return s
}

func (s Spec) validate() error {
	var errs []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(s.Repeats < 0 || s.Repeats > MaxRepeats, "repeats must be from 1 to %d, not %d", MaxRepeats, s.Repeats)
	refuse(s.MaxFailures < 0, "maxFailures must not be below 0, but is %d", s.MaxFailures)
	refuse(s.Budget < 0, "the budget must not be below 0, but is %v", s.Budget)
	t := s.Timing
	refuse(min(t.Target, t.Prepare, t.WarmUp, t.Duration, t.Rest) < 0, "times must not be below 0")
	seen := map[string]bool{}
	for _, a := range s.Axes {
		refuse(a.Name == "" || seen[a.Name], "axis %q must have a name of its own", a.Name)
		seen[a.Name] = true
		refuse(len(a.Values) == 0 && len(s.Variants) == 0, "axis %q has no values; give it some or leave it out", a.Name)
		refuse(repeated(a.Values) != "", "axis %q has the value %q twice", a.Name, repeated(a.Values))
	}
	for _, v := range s.Variants {
		for axis := range v.Values {
			refuse(!seen[axis], "variant %q has a value of %q, which is not an axis", v.Name, axis)
		}
	}
	return errors.Join(errs...)
}

// repeated is a name that is there twice.
func repeated(names []string) string {
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return n
		}
		seen[n] = true
	}
	return ""
}
