package relay

// schedule decides when ZeroFS has to flush, and what each of its flushes covers. Changes
// are numbered by the relay's clock, in the order in which ZeroFS answered them.
//
// A flush covers the changes that ZeroFS had answered before the flush was sent, on any
// export, in the same life of ZeroFS. It covers nothing else: not a change that was
// answered while the flush was under way, and not one of an earlier life.
type schedule struct {
	// life of ZeroFS that all other fields are about.
	life uint64
	// wanted is the last change that has to be covered, done the last one that is.
	wanted, done uint64
	// mark is the last change that the flush under way covers.
	mark uint64
	busy bool
}

// renew forgets everything about an earlier life of ZeroFS. False: life is the present
// one, or an earlier one, about which nothing can be wanted any more.
func (s *schedule) renew(life uint64) bool {
	if life <= s.life {
		return false
	}
	*s = schedule{life: life}
	return true
}

// want the changes up to mark covered.
func (s *schedule) want(mark uint64) { s.wanted = max(s.wanted, mark) }

// due reports that a flush has to be sent now. Only one is under way at a time: ZeroFS
// does one after the other, and a later one covers more.
func (s *schedule) due() bool { return !s.busy && s.wanted > s.done }

// begin a flush when the clock shows now. The caller sends it afterwards.
func (s *schedule) begin(now uint64) { s.busy, s.mark = true, now }

// succeeded ends the flush under way, and returns the last change that it covers.
func (s *schedule) succeeded() uint64 {
	s.busy, s.done = false, max(s.done, s.mark)
	return s.mark
}
