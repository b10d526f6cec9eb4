package relay

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// flusher sends flushes to ZeroFS for all exports. Each of them covers the whole store, so
// exports that ask at about the same time share one.
//
// It has a connection of its own. ZeroFS 0.19 does the requests of a connection one after
// the other. A flush would hold up the reads and writes of its device.
type flusher struct {
	relay *Relay

	mu sync.Mutex
	schedule
	// up is the connection to ZeroFS in the schedule's life; nil: none yet, or none any more.
	up *upstream
	// dialling says that a connection is on its way. away: ZeroFS has ended.
	dialling, away bool
	begun          time.Time
}

// prepare a connection in a new life of ZeroFS, so that its first flush need not wait for one.
func (f *flusher) prepare(life uint64, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.enter(life) {
		f.open(name)
	}
}

// cover asks for a flush of the changes up to mark in a life of ZeroFS. The exports get
// the result by covered. In a life that has ended they get none, and ask again in the next
// one. The name is that of an export of ZeroFS.
func (f *flusher) cover(life uint64, name string, mark uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.enter(life) {
		f.want(mark)
		f.proceed(name)
	}
}

// enter a life of ZeroFS. False: it has ended. The caller holds mu.
func (f *flusher) enter(life uint64) bool {
	if f.renew(life) {
		f.drop()
		f.away = false
	}
	return life == f.life && !f.away
}

// open a connection, unless there is one; the caller holds mu.
func (f *flusher) open(name string) {
	if f.up == nil && !f.dialling {
		f.dialling = true
		go f.connect(f.life, name)
	}
}

// proceed with what is due; the caller holds mu.
func (f *flusher) proceed(name string) {
	if !f.due() {
		return
	}
	if f.up == nil {
		f.open(name)
		return
	}
	f.begin(f.relay.clock.Load())
	f.begun = time.Now()
	f.relay.underWay.Add(1)
	f.up.send(&request{header: header{op: opFlush}})
}

// connect in a life of ZeroFS.
func (f *flusher) connect(life uint64, name string) {
	u, err := dial(f.relay.working, f.relay.options.Upstream, name)
	if !f.connected(life, name, u, err) {
		return
	}
	err = u.read(func(a answer) { f.answered(u, name, a) })
	f.broken(u, err)
}

// connected takes a new connection, unless its life has ended.
func (f *flusher) connected(life uint64, name string, u *upstream, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, up := f.relay.alive()
	if life != f.life || f.away || now != life || !up {
		if err == nil {
			u.close()
		}
		if life == f.life {
			f.dialling = false
		}
		return false
	}
	f.dialling = false
	if err != nil {
		go f.relay.failed(life, fmt.Errorf("connection for flushes: %w", err))
		return false
	}
	u.life = life
	f.up = u
	f.proceed(name)
	return true
}

// answered handles the answer to a flush.
func (f *flusher) answered(u *upstream, name string, a answer) {
	f.mu.Lock()
	if u != f.up {
		f.mu.Unlock()
		return
	}
	if !f.busy || u.sent[a.cookie] == nil || a.code != 0 {
		f.mu.Unlock()
		f.broken(u, fmt.Errorf("ZeroFS answered a flush with error %d", a.code))
		return
	}
	delete(u.sent, a.cookie)
	mark := f.succeeded()
	f.relay.countFlush(time.Since(f.begun))
	f.relay.underWay.Add(-1)
	f.proceed(name) // for those that this flush came too early for
	f.mu.Unlock()
	f.relay.each(func(e *export) { e.post(func() { e.covered(u.life, mark) }) })
}

// broken handles a failed flush or a broken connection: ZeroFS has to be restarted.
func (f *flusher) broken(u *upstream, err error) {
	f.mu.Lock()
	ours := u == f.up
	if ours {
		f.drop()
		f.away = true
	}
	f.mu.Unlock()
	if ours {
		f.relay.failed(u.life, errors.Join(errors.New("the connection for flushes broke"), err))
	}
}

// cut the connection: ZeroFS has ended.
func (f *flusher) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop()
	f.away = true
}

// drop the connection, with the flush that is under way; the caller holds mu.
func (f *flusher) drop() {
	f.dialling = false
	if f.up == nil {
		return
	}
	f.up.close()
	f.relay.underWay.Add(-int64(len(f.up.sent)))
	f.up = nil
}
