package relay

import "slices"

// journal of the changes that a client takes for done, and that no flush covers yet, in
// the order in which they came.
type journal struct {
	list  []*request
	bytes int64
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
}

// flushed takes out what ZeroFS had stored before a flush was sent that succeeded.
func (j *journal) flushed(mark uint64) []*request {
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
