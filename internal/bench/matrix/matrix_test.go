package matrix

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// twoByTwo is durability Local and Async by 1 and 8 clients.
func twoByTwo() Spec {
	return Spec{
		Axes:   []Axis{{Name: "durability", Values: []string{"Local", "Async"}, Target: true}, {Name: "clients", Values: []string{"1", "8"}}},
		Timing: Timing{Target: 5 * time.Minute, WarmUp: 10 * time.Second, Duration: time.Minute, Rest: 5 * time.Second},
	}
}

func plan(t *testing.T, s Spec) *Plan {
	t.Helper()
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func names(runs []PlannedRun) []string {
	var all []string
	for _, r := range runs {
		all = append(all, r.Variant)
	}
	return all
}

func TestProduct(t *testing.T) {
	p := plan(t, twoByTwo())
	want := []Variant{
		{"durability=Local clients=1", map[string]string{"durability": "Local", "clients": "1"}},
		{"durability=Local clients=8", map[string]string{"durability": "Local", "clients": "8"}},
		{"durability=Async clients=1", map[string]string{"durability": "Async", "clients": "1"}},
		{"durability=Async clients=8", map[string]string{"durability": "Async", "clients": "8"}},
	}
	if diff := cmp.Diff(want, p.Variants); diff != "" {
		t.Error(diff)
	}
	for _, r := range p.Runs {
		if want := strings.Fields(r.Variant)[0]; r.Target != want {
			t.Errorf("%s runs on %q, not %q", r.Variant, r.Target, want)
		}
	}
	if e := p.Estimate(); e != (Estimate{Runs: 20, Targets: 2, Total: 2*5*time.Minute + 20*75*time.Second}) {
		t.Errorf("%+v", e)
	}
}

func TestNamedVariants(t *testing.T) {
	p := plan(t, Spec{
		Axes: []Axis{{Name: "profile", Target: true}, {Name: "recordsize"}},
		Variants: []Variant{
			{Name: "small", Values: map[string]string{"profile": "zfs", "recordsize": "8k"}},
			{Name: "large", Values: map[string]string{"profile": "zfs", "recordsize": "128k"}},
			{Name: "baseline", Values: map[string]string{"profile": "external"}},
		},
		Repeats: 1,
	})
	if e := p.Estimate(); e.Runs != 3 || e.Targets != 2 {
		t.Errorf("%+v", e)
	}
	if one := plan(t, Spec{}); len(one.Runs) != DefaultRepeats || one.Variants[0].Name != "default" {
		t.Errorf("%+v", one.Runs)
	}
}

// Every repeat runs every variant once, in an order of its own that the seed
// decides.
func TestOrder(t *testing.T) {
	s := Spec{Axes: []Axis{{Name: "x", Values: []string{"a", "b", "c", "d", "e", "f"}}}, Repeats: 20}
	p := plan(t, s)
	orders := map[string]bool{}
	for i := 0; i < len(p.Runs); i += 6 {
		block := p.Runs[i : i+6]
		orders[strings.Join(names(block), ",")] = true
		if got := slices.Compact(slices.Sorted(slices.Values(names(block)))); len(got) != 6 {
			t.Errorf("repeat %d runs %v", i/6+1, names(block))
		}
	}
	if len(orders) < 18 {
		t.Errorf("%d orders in 20 repeats", len(orders))
	}
	if diff := cmp.Diff(p.Runs, plan(t, s).Runs); diff != "" {
		t.Error("the same seed gives another order")
	}
	s.Seed = 1
	if cmp.Equal(p.Runs, plan(t, s).Runs) {
		t.Error("another seed gives the same order")
	}
}

// Each variant is as often at each place: no variant always runs first.
func TestOrderIsEven(t *testing.T) {
	variants := []Variant{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	places := map[string][4]int{}
	const tries = 4000
	for seed := range uint64(tries) {
		for place, v := range shuffled(variants, seed, 3) {
			counts := places[v.Name]
			counts[place]++
			places[v.Name] = counts
		}
	}
	for name, counts := range places {
		for place, n := range counts {
			// Five standard deviations of a binomial with 4000 tries of 1/4.
			if n < 1000-137 || n > 1000+137 {
				t.Errorf("%s is at place %d in %d of %d", name, place, n, tries)
			}
		}
	}
}

// A variant more leaves the others in their order.
func TestOrderKeepsWhenAVariantIsAdded(t *testing.T) {
	s := Spec{Axes: []Axis{{Name: "x", Values: []string{"a", "b", "c"}}}}
	before := names(plan(t, s).Runs)
	s.Axes[0].Values = append(s.Axes[0].Values, "d")
	after := slices.DeleteFunc(names(plan(t, s).Runs), func(n string) bool { return n == "x=d" })
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

func TestRefuses(t *testing.T) {
	many := Axis{Values: []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}}
	for want, change := range map[string]func(*Spec){
		"repeats must be from 1 to 20, not 21": func(s *Spec) { s.Repeats = 21 },
		"repeats must be from 1 to 20, not -1": func(s *Spec) { s.Repeats = -1 },
		"maxFailures must not be below 0":      func(s *Spec) { s.MaxFailures = -1 },
		"the budget must not be below 0":       func(s *Spec) { s.Budget = -1 },
		"times must not be below 0":            func(s *Spec) { s.Timing.Rest = -1 },
		`axis "clients" must have a name of`:   func(s *Spec) { s.Axes = append(s.Axes, Axis{Name: "clients", Values: []string{"2"}}) },
		`axis "" must have a name of its own`:  func(s *Spec) { s.Axes = append(s.Axes, many) },
		`axis "empty" has no values`:           func(s *Spec) { s.Axes = append(s.Axes, Axis{Name: "empty"}) },
		`has the value "1" twice`:              func(s *Spec) { s.Axes[1].Values = []string{"1", "8", "1"} },
		"has 324 variants, more than 64: remove values": func(s *Spec) {
			a, b := many, many
			a.Name, b.Name = "a", "b"
			s.Axes = append(s.Axes, a, b)
		},
		"there are 65 variants": func(s *Spec) {
			for i := range 65 {
				s.Variants = append(s.Variants, Variant{Name: strings.Repeat("x", i+1)})
			}
		},
		"variant 1 has no name":              func(s *Spec) { s.Variants = []Variant{{}} },
		`the variant "a" is listed twice`:    func(s *Spec) { s.Variants = []Variant{{Name: "a"}, {Name: "a"}} },
		`has a value of "mood", which is no`: func(s *Spec) { s.Variants = []Variant{{Name: "a", Values: map[string]string{"mood": "good"}}} },
		"takes about 35m0s (20 runs of 1m15s on 2 targets of 5m0s), more than its budget of 30m0s: 4 repeats would fit": func(s *Spec) {
			s.Budget = 30 * time.Minute
		},
		"not even one repeat would fit": func(s *Spec) { s.Budget = 14 * time.Minute },
	} {
		s := twoByTwo()
		change(&s)
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
