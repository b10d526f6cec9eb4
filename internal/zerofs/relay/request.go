package relay

import "time"

// entryBytes is what a request costs beside its data, so that trims are bounded too.
const entryBytes = 512

// request of a client.
type request struct {
	header
	data []byte
	// number in the order in which requests came.
	number uint64
	begun  time.Time
	// client to answer; nil once it was answered, went away, or never was.
	client *client
	// on is the connection that it is under way on.
	on *upstream
	// admitted to the relay's memory; sent once it is.
	admitted bool
	// kept: the client takes it for done.
	kept bool
	// stored is when ZeroFS said that it was done, by the relay's clock; 0: not on the present
	// connection.
	stored uint64
	// answered numbers the answer to a change that is kept. In a flush it is how many answers
	// there were when the flush arrived; all of these changes have to be durable.
	answered uint64
	tries    int
}

// changes says that the request has to be kept until a flush.
func (r *request) changes() bool { return r.op == opWrite || r.op == opTrim }

// cost in bytes of the relay's memory.
func (r *request) cost() int64 { return int64(len(r.data)) + entryBytes }

// overlaps says that the order of two changes matters.
func (r *request) overlaps(o *request) bool {
	return r.offset < o.offset+uint64(o.length) && o.offset < r.offset+uint64(r.length)
}
