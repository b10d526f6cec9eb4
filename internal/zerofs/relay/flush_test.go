package relay

import (
	"bytes"
	"testing"
	"time"
)

// answered fails the test unless a request succeeds.
func (d *device) answered(c <-chan answer) {
	d.Helper()
	if a, err := d.end(c); err != nil || a.code != 0 {
		d.Fatalf("%v, error %d", err, a.code)
	}
}

// waits fails the test if a request has been answered.
func (d *device) waits(c <-chan answer) {
	d.Helper()
	select {
	case a := <-c:
		d.Fatalf("answered with %d", a.code)
	default:
	}
}

// A commit on a stripe flushes every device that it wrote to. The server has to do it once.
func TestFlushesOfAStripeShareOne(t *testing.T) {
	r := newRig(t, 0)
	stripe := r.stripe()
	for i := range uint64(20) {
		for _, d := range stripe {
			d.write(i, i+1)
		}
		release := r.server.stall(opFlush)
		var all []<-chan answer
		for _, d := range stripe {
			all = append(all, d.begin(opFlush, 0, 0, nil))
		}
		r.until("the flushes are read", func() bool { return r.relay.Stats().Held == int64(len(stripe)) })
		release()
		for n, d := range stripe {
			d.answered(all[n])
			if !bytes.Equal(r.server.stored(d.name, i), block(i+1)) {
				t.Fatalf("%s is not flushed", d.name)
			}
		}
	}
	if s := r.relay.Stats(); s.StoreFlushes != 20 || s.Flushes != 60 || s.StoreTime <= 0 {
		t.Errorf("%+v", s)
	}
	if n := r.server.count(opFlush); n != 20 {
		t.Errorf("%d flushes for 20 syncs of a stripe", n)
	}
}

// A flush of one device makes what the others wrote durable too.
func TestAFlushWithNothingToFlushIsAnsweredAtOnce(t *testing.T) {
	r := newRig(t, 0)
	stripe := r.stripe()
	for _, d := range stripe {
		d.flush() // nothing was ever written
		d.write(1, 2)
	}
	stripe[0].flush()
	r.until("nothing is kept", func() bool { return r.relay.Stats().Unflushed == 0 })
	stripe[1].flush()
	stripe[2].flush()
	if n := r.server.count(opFlush); n != 1 {
		t.Errorf("%d flushes", n)
	}
}

// A write that was answered while a flush was under way needs another one, on whichever
// device.
func TestAFlushUnderWayDoesNotCoverLaterWrites(t *testing.T) {
	r := newRig(t, 0)
	stripe := r.stripe()
	stripe[0].write(1, 1)
	release := r.server.stall(opFlush)
	first := stripe[0].begin(opFlush, 0, 0, nil)
	r.until("the flush is at the server", func() bool { return r.server.count(opFlush) == 1 })
	stripe[1].write(2, 2)
	second := stripe[1].begin(opFlush, 0, 0, nil)
	third := stripe[2].begin(opFlush, 0, 0, nil) // has written nothing
	stripe[2].answered(third)
	r.until("both wait", func() bool { return r.relay.Stats().Held == 2 })
	release()
	stripe[0].answered(first)
	stripe[1].answered(second)
	if !bytes.Equal(r.server.stored("disk-1", 2), block(2)) {
		t.Error("answered by a flush that began before the write was answered")
	}
	if n := r.server.count(opFlush); n != 2 {
		t.Errorf("%d flushes", n)
	}
}

// Reads and writes continue while a flush is under way.
func TestAFlushHoldsUpNothingElse(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	d.write(1, 1)
	release := r.server.stall(opFlush)
	flush := d.begin(opFlush, 0, 0, nil)
	r.until("the flush is at the server", func() bool { return r.server.count(opFlush) == 1 })
	d.write(2, 2)
	d.has(1, 1)
	d.waits(flush)
	release()
	d.answered(flush)
}

// A flush that failed answers no client: all who wait for it get the next one.
func TestAFailedFlushAnswersNoClient(t *testing.T) {
	r := newRig(t, 0)
	stripe := r.stripe()
	for _, d := range stripe {
		d.write(1, 7)
	}
	release := r.server.stall(opFlush)
	r.server.set(func() { r.server.fail[opFlush] = errIO })
	var all []<-chan answer
	for _, d := range stripe {
		all = append(all, d.begin(opFlush, 0, 0, nil))
	}
	r.until("the flushes are read", func() bool { return r.relay.Stats().Held == int64(len(stripe)) })
	release()
	_ = r.failure()
	for n, d := range stripe {
		d.waits(all[n])
	}
	r.again()
	for n, d := range stripe {
		d.answered(all[n])
		if !bytes.Equal(r.server.stored(d.name, 1), block(7)) {
			t.Errorf("%s is not flushed", d.name)
		}
	}
}

// A device may be late to notice that the server has ended. It still keeps what the server
// has lost, after a flush of another device in the server's next life.
func TestAFlushCoversOnlyItsOwnLife(t *testing.T) {
	r := newRig(t, 0)
	stripe := r.stripe()
	stripe[0].write(1, 1)
	stripe[1].write(1, 1)
	late := r.relay.export("disk-1")
	held, release := make(chan struct{}), make(chan struct{})
	go late.post(func() { close(held); <-release }) // its loop stands still
	<-held
	r.server.crash()
	_ = r.failure()
	r.server.start()
	r.relay.Up()
	stripe[0].flush()
	r.until("the first device is flushed", func() bool { return r.server.count(opFlush) > 0 })
	close(release)
	stripe[1].flush()
	if !bytes.Equal(r.server.stored("disk-1", 1), block(1)) {
		t.Error("a flush of the next life was taken for one of what had been lost")
	}
}

// The result of a flush may come before a device notices that its server has ended.
func TestAFlushOfAnotherLifeCoversNothing(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	d.write(1, 1)
	e := r.relay.export("disk")
	e.wait(func() { e.covered(e.up.life+1, e.latest) })
	if s := r.relay.Stats(); s.Unflushed == 0 {
		t.Error("forgot what only a flush of another life covers")
	}
	e.wait(func() { e.covered(e.up.life, e.latest) })
	if s := r.relay.Stats(); s.Unflushed != 0 {
		t.Error("keeps what a flush covers")
	}
}

// The connection for flushes breaks alone.
func TestTheFlushConnectionBreaks(t *testing.T) {
	r := newRig(t, 0)
	r.supervise()
	d := r.open()
	for i := range uint64(5) {
		d.write(i, i+1)
		d.flush()
		r.relay.flusher.mu.Lock()
		_ = r.relay.flusher.up.conn.Close()
		r.relay.flusher.mu.Unlock()
		d.write(i, i+2)
		d.flush()
		if !bytes.Equal(r.server.stored("disk", i), block(i+2)) {
			t.Fatal("not flushed")
		}
	}
	if s := r.relay.Stats(); s.Unflushed != 0 || s.Held != 0 || s.UnderWay != 0 {
		t.Errorf("%+v", s)
	}
}

// FuzzFlushes runs any interleaving of changes, flushes and ends of the server, and
// compares it with a model: which changes the server has stored durably. It uses the
// relay's own rules (schedule, journal) without connections.
func FuzzFlushes(f *testing.F) {
	f.Add([]byte{0x00, 0x10, 0x20, 0x30, 0x11, 0x21, 0x30})
	f.Add([]byte{0x00, 0x20, 0x01, 0x21, 0x30, 0x02, 0x22, 0x30, 0x30})       // a later write
	f.Add([]byte{0x00, 0x20, 0x40, 0x01, 0x50, 0x21, 0x30, 0x30, 0x51, 0x30}) // an end during a flush
	f.Add([]byte{0x00, 0x01, 0x40, 0x50, 0x20, 0x30, 0x61, 0x21, 0x51, 0x30}) // a late device
	f.Add([]byte{0x00, 0x20, 0x30, 0x50, 0x60, 0x20, 0x30, 0x60})             // a result that comes late
	f.Fuzz(func(t *testing.T, steps []byte) {
		if len(steps) > 512 {
			return
		}
		m := newModel(t)
		for _, step := range steps {
			m.step(step>>4, int(step&0xf)%len(m.devices))
		}
		m.settle()
	})
}

func TestFlushesAtRandom(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for range 2000 {
		m := newModel(t)
		for range 200 {
			seed = seed*6364136223846793005 + 1442695040888963407
			m.step(byte(seed>>40)%7, int(seed>>50)%len(m.devices))
		}
		m.settle()
	}
}
