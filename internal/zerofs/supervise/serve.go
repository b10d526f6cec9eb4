package supervise

import (
	"fmt"
	"net"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// reached continues with a ZeroFS that answers, whose file system has an owner's mark.
func (l *life) reached(p *process, owner string) {
	switch {
	case p != l.process || p.broken != nil || l.fenced || !l.stopping.IsZero() && !l.listening:
	case l.marked && owner == l.incarnation.ID:
		l.serve()
	case l.marked:
		l.fence(&zerofs.Failure{Reason: zerofs.ReasonFenced, Message: fmt.Sprintf(
			"another server used this prefix while ZeroFS was away: its mark is %q and not %q; a prefix must have one server", owner, l.incarnation.ID)})
	default:
		l.mark(p, owner)
	}
}

// mark the file system as owned by this life.
func (l *life) mark(p *process, owner string) {
	if err := l.served(&l.incarnation, owner); err != nil {
		l.failed(p, err)
		return
	}
	go func() {
		err := l.files().SetOwner(p.lives, l.incarnation.ID)
		l.post(func() {
			switch {
			case p != l.process || p.broken != nil || l.fenced || !l.stopping.IsZero():
			case err != nil:
				l.failed(p, err)
			default:
				l.marked = true
				l.serve()
			}
		})
	}()
}

// serve clients with a ZeroFS that answers.
func (l *life) serve() {
	l.last, l.up = nil, l.Clock.Now()
	l.relay.Up()
	if !l.listening {
		l.listen()
	}
	l.show()
}

func (l *life) listen() {
	listener, err := net.Listen("unix", l.in(zerofs.NBDSocket))
	if err != nil {
		l.failed(l.process, err)
		return
	}
	l.listening = true
	go func() {
		if err := l.relay.Serve(listener); err != nil {
			l.Log.Error("the relay no longer accepts clients", "error", err)
		}
	}()
}
