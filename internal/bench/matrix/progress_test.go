package matrix

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func records(outcome Outcome, runs ...PlannedRun) []Record {
	var all []Record
	for _, r := range runs {
		all = append(all, Record{r.ID, outcome})
	}
	return all
}

func progress(t *testing.T, p *Plan, all []Record, spent time.Duration) Progress {
	t.Helper()
	got, err := p.Progress(all, spent)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestProgress(t *testing.T) {
	p := plan(t, twoByTwo())
	got := progress(t, p, nil, 0)
	if *got.Next != p.Runs[0] || got.Pending != 20 || got.Remaining != 25*time.Minute {
		t.Errorf("at the beginning: %+v", got)
	}
	got = progress(t, p, append(records(Succeeded, p.Runs[:2]...), records(Running, p.Runs[2])...), 0)
	if got.Next != nil || *got.Current != p.Runs[2] || got.Succeeded != 2 || got.Running != 1 || got.Pending != 17 || got.Remaining != 18*75*time.Second {
		t.Errorf("while one is running: %+v", got)
	}
	// An end overrides a running state, and the first end counts, however often it is reported.
	got = progress(t, p, append(append(records(Succeeded, p.Runs[0]), records(Running, p.Runs[0])...), records(Failed, p.Runs[0], p.Runs[0])...), 0)
	if *got.Next != p.Runs[1] || got.Succeeded != 1 || got.Failed != 0 || got.Pending != 19 {
		t.Errorf("told several times: %+v", got)
	}
	// A run that was left out is caught up before the next.
	got = progress(t, p, records(Succeeded, append(p.Runs[:3:3], p.Runs[4:]...)...), 0)
	if *got.Next != p.Runs[3] || got.Pending != 1 {
		t.Errorf("with a gap: %+v", got)
	}
	if got = progress(t, p, records(Succeeded, p.Runs...), 0); got.Stop != Complete || got.Next != nil || got.Remaining != 0 {
		t.Errorf("at the end: %+v", got)
	}
}

// A target is needed as long as one of its runs is under way or pending.
func TestTargetsThatAreLeft(t *testing.T) {
	p := plan(t, twoByTwo())
	var local, async []PlannedRun
	for _, r := range p.Runs {
		if r.Target == "durability=Local" {
			local = append(local, r)
		} else {
			async = append(async, r)
		}
	}
	last := len(local) - 1
	got := progress(t, p, append(records(Succeeded, local[:last]...), records(Running, local[last])...), 0)
	if got.Left["durability=Local"] != 1 || got.Left["durability=Async"] != len(async) {
		t.Errorf("%v", got.Left)
	}
	if got = progress(t, p, records(Succeeded, local...), 0); got.Left["durability=Local"] != 0 {
		t.Errorf("%v", got.Left)
	}
	s := twoByTwo()
	s.Budget = 40 * time.Minute
	p = plan(t, s)
	if got = progress(t, p, records(Succeeded, p.Runs[:8]...), 39*time.Minute); got.Stop != BudgetSpent || len(got.Left) != 0 {
		t.Errorf("%+v", got)
	}
}

// A variant that fails twice is abandoned; the others continue, and all are counted.
func TestFailedVariantIsAResult(t *testing.T) {
	p := plan(t, twoByTwo())
	bad := p.Runs[0].Variant
	var all []Record
	for {
		got := progress(t, p, all, 0)
		if got.Succeeded+got.Failed+got.Skipped+got.Pending != 20 {
			t.Fatalf("%+v", got)
		}
		if got.Stop != "" {
			if got.Stop != Complete || got.Succeeded != 15 || got.Failed != 2 || got.Skipped != 3 {
				t.Errorf("%+v", got)
			}
			return
		}
		outcome := Succeeded
		if got.Next.Variant == bad {
			outcome = Failed
		}
		all = append(all, Record{got.Next.ID, outcome})
	}
}

func TestProgressRefuses(t *testing.T) {
	p := plan(t, twoByTwo())
	for want, all := range map[string][]Record{
		`repeat 1 of variant "x" is not in this matrix`: {{ID{"x", 1}, Succeeded}},
		`repeat 6 of variant`:                           {{ID{p.Runs[0].Variant, 6}, Succeeded}},
		`has the outcome "Lost"`:                        {{p.Runs[0].ID, "Lost"}},
		"2 runs are under way at once":                  records(Running, p.Runs[:2]...),
	} {
		if _, err := p.Progress(all, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// A repeat that the budget does not hold is not begun; one that was is finished.
func TestBudgetEndsBetweenRepeats(t *testing.T) {
	s := twoByTwo()
	s.Budget = 40 * time.Minute
	p := plan(t, s)
	// The targets took 10 minutes, and 4 runs of a repeat 5 minutes each. At this pace 30
	// minutes are spent after two repeats of twice the estimate, and the third does not fit.
	if got := progress(t, p, records(Succeeded, p.Runs[:8]...), 30*time.Minute+time.Second); got.Stop != BudgetSpent || got.Next != nil || got.Pending != 12 {
		t.Errorf("%+v", got)
	}
	if got := progress(t, p, records(Succeeded, p.Runs[:8]...), 20*time.Minute); got.Stop != "" || *got.Next != p.Runs[8] {
		t.Errorf("%+v", got)
	}
	if got := progress(t, p, records(Succeeded, p.Runs[:9]...), 39*time.Minute); got.Stop != "" || *got.Next != p.Runs[9] {
		t.Errorf("%+v", got)
	}
	if got := progress(t, p, nil, 0); got.Stop != "" {
		t.Errorf("%+v", got)
	}
}

// simulation of a manager that is killed at any moment, over a store that keeps what was
// written. It has runs by name, as Jobs are, and records. It plans again at each start.
type simulation struct {
	spec    Spec
	chance  *rand.Rand
	jobs    map[ID]Outcome
	begun   map[ID]int
	records []Record
}

// killed happens to one step in five.
func (s *simulation) killed() bool { return s.chance.IntN(5) == 0 }

// pass is one pass of the manager, from its start or not; it says whether it is
// done.
func (s *simulation) pass(t *testing.T) bool {
	got := progress(t, plan(t, s.spec), s.records, 0)
	switch {
	case got.Stop == Complete:
		return true
	case got.Current != nil:
		s.look(got.Current.ID)
		return false
	}
	next := got.Next.ID
	if s.killed() {
		return false
	}
	// The Job has the run's name, so that making it again changes nothing.
	if _, there := s.jobs[next]; !there {
		s.jobs[next] = Running
		s.begun[next]++
	}
	if s.killed() {
		return false
	}
	s.records = append(s.records, Record{next, Running})
	return false
}

// look after a run: it may have ended, and its end is written down, perhaps
// twice.
func (s *simulation) look(id ID) {
	if s.jobs[id] == Running && s.chance.IntN(3) == 0 {
		s.jobs[id] = Succeeded
		if s.chance.IntN(4) == 0 {
			s.jobs[id] = Failed
		}
	}
	if s.jobs[id] == Running {
		return
	}
	s.records = append(s.records, Record{id, s.jobs[id]})
	if s.killed() {
		s.records = append(s.records, Record{id, s.jobs[id]})
	}
}

func TestNoRunIsLostOrCountedTwice(t *testing.T) {
	for seed := range uint64(150) {
		chance := rand.New(rand.NewPCG(seed, 0))
		s := &simulation{chance: chance, jobs: map[ID]Outcome{}, begun: map[ID]int{}}
		s.spec = Spec{Seed: seed, Repeats: 1 + chance.IntN(4), MaxFailures: 1 + chance.IntN(3)}
		for i := range 1 + chance.IntN(2) {
			s.spec.Axes = append(s.spec.Axes, Axis{Name: fmt.Sprint("axis", i), Values: []string{"a", "b", "c"}[:1+chance.IntN(3)]})
		}
		for passes := 0; !s.pass(t); passes++ {
			if passes > 10000 {
				t.Fatalf("seed %d does not come to an end", seed)
			}
			// The store gives no order.
			chance.Shuffle(len(s.records), func(i, j int) { s.records[i], s.records[j] = s.records[j], s.records[i] })
		}
		s.check(t, seed)
	}
}

// check that what was counted is what was done.
func (s *simulation) check(t *testing.T, seed uint64) {
	t.Helper()
	p := plan(t, s.spec)
	got := progress(t, p, s.records, 0)
	done := map[Outcome]int{}
	for _, outcome := range s.jobs {
		done[outcome]++
	}
	if got.Succeeded != done[Succeeded] || got.Failed != done[Failed] || done[Running] > 0 {
		t.Errorf("seed %d: counted %+v, done %v", seed, got, done)
	}
	if got.Succeeded+got.Failed+got.Skipped != len(p.Runs) || got.Pending+got.Running != 0 {
		t.Errorf("seed %d: %d runs, counted %+v", seed, len(p.Runs), got)
	}
	failures := map[string]int{}
	for id, outcome := range s.jobs {
		if outcome == Failed {
			failures[id.Variant]++
		}
	}
	for _, r := range p.Runs {
		if given := failures[r.Variant] >= s.spec.MaxFailures; s.begun[r.ID] != 1 && !given {
			t.Errorf("seed %d: %v was begun %d times", seed, r.ID, s.begun[r.ID])
		}
		if s.begun[r.ID] > 1 {
			t.Errorf("seed %d: %v was begun %d times", seed, r.ID, s.begun[r.ID])
		}
	}
}
