package relay

import (
	"slices"
	"time"
)

// own is what the relay has to be flushed on its own account: the changes up to mark. A
// mark of 0 is nothing.
type own struct {
	mark  uint64
	begun time.Time
}

// flush handles a flush of the client. It is answered once every change that the client
// was answered before is durable, which may be so already.
func (e *export) flush(r *request) {
	r.answered = e.kept.answers
	switch {
	case e.kept.empty():
		e.done(r, 0, nil)
	case e.live:
		e.cover()
	default: // pump has everything flushed
	}
}

// flushOwn has what is kept flushed on the relay's own account.
func (e *export) flushOwn() {
	if e.live && !e.kept.empty() {
		e.flushKept()
	}
}

// flushKept has what is kept flushed, unless it asked for that before and has no result.
func (e *export) flushKept() {
	if e.own.mark > 0 {
		return
	}
	e.own = own{mark: e.latest, begun: time.Now()}
	e.cover()
}

// cover asks for a flush of everything that ZeroFS has stored for the export.
func (e *export) cover() { e.relay.flusher.cover(e.up.life, e.name, e.latest) }

// covered handles a flush that succeeded in a life of ZeroFS. It counts only for changes
// that were stored in the same life.
func (e *export) covered(life, mark uint64) {
	if e.up == nil || e.up.life != life {
		return
	}
	if e.own.mark <= mark {
		e.own = own{}
	}
	e.relay.flushed(e.kept.covered(mark))
	durable := e.kept.durable()
	for _, r := range slices.Clone(e.open) {
		if r.op == opFlush && r.answered <= durable {
			e.done(r, 0, nil)
		}
	}
}
