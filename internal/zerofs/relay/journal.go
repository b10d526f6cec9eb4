package relay

import (
	"math"
	"slices"
)

// journal of the changes that a client takes for done, and that no flush covers yet, in
// the order in which they came.
type journal struct {
	list  []*request
	bytes int64
	// answers to changes so far.
	answers uint64
}

func (j *journal) empty() bool { return len(j.list) == 0 }

// add a change: mostly behind all others, as answers come in about the order of requests.
func (j *journal) add(r *request) {
	i := len(j.list)
	for i > 0 && j.list[i-1].number > r.number {
		i--
	}
	j.list = slices.Insert(j.list, i, r)
	j.bytes += r.cost()
	j.answers++
	r.answered = j.answers
}

// covered takes out what a flush covers: everything that ZeroFS had stored, in its present
// life, up to the flush's mark.
func (j *journal) covered(mark uint64) []*request {
	var out []*request
	j.list = slices.DeleteFunc(j.list, func(r *request) bool {
		durable := r.stored > 0 && r.stored <= mark
		if durable {
			out = append(out, r)
			j.bytes -= r.cost()
		}
		return durable
	})
	return out
}

// unstored forgets what ZeroFS has stored, because its life or the connection has ended.
func (j *journal) unstored() {
	for _, r := range j.list {
		r.stored = 0
	}
}

// durable is how many answers to changes are covered without a gap. A flush of the client
// is done once every change that was answered before it is among them.
func (j *journal) durable() uint64 {
	oldest := uint64(math.MaxUint64)
	for _, r := range j.list {
		oldest = min(oldest, r.answered)
	}
	return oldest - 1
}
