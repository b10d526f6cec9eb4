//go:build vm

package vm_test

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// acknowledge what the guest says that Postgres did.
func (s *stack) acknowledge(text string) {
	var id int64
	var mark int
	if _, err := fmt.Sscan(text, &id, &mark); err != nil {
		return // a line that was cut with the power
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acknowledged[id] = s.fault
	s.count++
	if s.resumed != nil && mark == s.mark {
		s.resumed <- time.Now()
		s.resumed = nil
	}
}

// begin a case: what is acknowledged from now on is of it.
func (s *stack) begin(fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.count = fault, 0
}

// acks of the case so far.
func (s *stack) acks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// marked is where the first commit arrives that begins after now and is acknowledged.
func (s *stack) marked() <-chan time.Time {
	s.Helper()
	s.mu.Lock()
	s.mark++
	mark := s.mark
	resumed := make(chan time.Time, 1)
	s.resumed = resumed
	s.mu.Unlock()
	s.do("mark %d", mark)
	return resumed
}

// writes waits until clients write again, and says how long that was after a moment.
func (s *stack) writes(since time.Time) time.Duration {
	s.Helper()
	select {
	case at := <-s.marked():
		return at.Sub(since)
	case <-time.After(stepTime):
		s.explain()
		s.Fatalf("no client writes for %s", stepTime)
	}
	return 0
}

// quiet: no commit that begins from now on is acknowledged for a time.
func (s *stack) quiet(d time.Duration) {
	s.Helper()
	select {
	case <-s.marked():
		s.Errorf("a commit was acknowledged")
	case <-time.After(d):
	}
}

// lasts is how long a fault does; commits may go on or wait.
func (s *stack) lasts(d time.Duration) {
	s.Helper()
	select {
	case <-time.After(d):
	case <-s.answers:
		s.Fatal("the guest ended, or answered what it was not asked")
	}
}

// flowing waits for some commits more.
func (s *stack) flowing(acks int) {
	s.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(stepTime)
	for first := s.acks(); s.acks() < first+acks; {
		select {
		case <-tick.C:
		case <-limit:
			s.explain()
			s.Fatalf("only %d of %d commits came in %s", s.acks()-first, acks, stepTime)
		}
	}
}

// lost ids that were acknowledged, by the case that ran then.
func (s *stack) lost() map[string]int {
	s.Helper()
	present := map[int64]bool{}
	for run := range strings.FieldsFuncSeq(s.do("present"), func(r rune) bool { return r == ',' }) {
		first, last, _ := strings.Cut(run, "-")
		for id := number(s.T, first); id <= number(s.T, last); id++ {
			present[id] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	var ids []int64
	for id, fault := range s.acknowledged {
		if !present[id] {
			out[fault]++
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		slices.Sort(ids)
		s.Errorf("%d acknowledged commits are lost: %d", len(ids), ids)
	}
	return out
}
