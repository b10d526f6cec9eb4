package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// patience of a test with what has to happen.
const patience = 20 * time.Second

// rig is a relay before a fake server, which its supervisor starts again.
type rig struct {
	*testing.T
	server *fakeServer
	relay  *Relay
	socket string
	// failures that the relay reported; the supervisor takes them unless it is paused.
	failures chan error
	served   chan error
}

func newRig(t *testing.T, limit int64) *rig {
	t.Helper()
	r := &rig{T: t, server: newFakeServer(t), failures: make(chan error, 1), served: make(chan error, 1), socket: filepath.Join(t.TempDir(), "nbd.sock")}
	r.relay = New(Options{Upstream: r.server.socket, Limit: limit, Log: slog.New(slog.DiscardHandler), Failed: func(err error) { r.failures <- err }})
	l, err := net.Listen("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	go func() { r.served <- r.relay.Serve(l) }()
	t.Cleanup(r.relay.Close)
	r.relay.Up()
	return r
}

// again starts the server after a failure.
func (r *rig) again() {
	r.relay.Down()
	r.server.crash()
	r.server.start()
	r.relay.Up()
}

// supervise starts the server after each failure, until the test ends.
func (r *rig) supervise() {
	r.Helper()
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case err := <-r.failures:
				r.Log("failed:", err)
				r.again()
			case <-stop:
				return
			}
		}
	}()
	r.Cleanup(func() { close(stop); <-ended })
}

// failure that the relay reports.
func (r *rig) failure() error {
	r.Helper()
	select {
	case err := <-r.failures:
		return err
	case <-time.After(patience):
		r.Fatal("no failure was told")
		return nil
	}
}

func (r *rig) until(what string, holds func() bool) {
	r.Helper()
	limit := time.After(patience)
	for !holds() {
		select {
		case <-limit:
			r.Fatalf("never: %s; %+v", what, r.relay.Stats())
		case <-time.After(time.Millisecond):
		}
	}
}

// device is a client of the relay, with requests that are under way together.
type device struct {
	*rig
	name string
	up   *upstream

	mu   sync.Mutex
	wait map[*request]chan answer
	gone chan struct{}
}

func (r *rig) open() *device {
	r.Helper()
	return r.openExport("disk")
}

// stripe has a client for each export of the server.
func (r *rig) stripe() (all []*device) {
	r.Helper()
	for _, name := range fakeExports {
		all = append(all, r.openExport(name))
	}
	return all
}

func (r *rig) openExport(name string) *device {
	r.Helper()
	d, err := r.tryOpen(r.Context(), name)
	if err != nil {
		r.Fatal(err)
	}
	return d
}

func (r *rig) tryOpen(ctx context.Context, name string) (*device, error) {
	u, err := dial(ctx, r.socket, name)
	if err != nil {
		return nil, err
	}
	d := &device{rig: r, name: name, up: u, wait: map[*request]chan answer{}, gone: make(chan struct{})}
	go func() {
		defer close(d.gone)
		_ = u.read(func(a answer) {
			d.mu.Lock()
			q := u.sent[a.cookie]
			answered := d.wait[q]
			delete(u.sent, a.cookie)
			delete(d.wait, q)
			d.mu.Unlock()
			answered <- a
		})
	}()
	r.Cleanup(func() { u.close(); <-d.gone })
	return d, nil
}

func (d *device) begin(op operation, number uint64, count uint32, data []byte) <-chan answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := &request{header: header{op: op, offset: number * fakeBlock, length: count * fakeBlock}, data: data}
	answered := make(chan answer, 1)
	d.wait[q] = answered
	d.up.send(q)
	return answered
}

func (d *device) end(c <-chan answer) (answer, error) {
	select {
	case a := <-c:
		return a, nil
	case <-d.gone:
		return answer{}, errors.New("the connection ended")
	case <-time.After(patience):
		return answer{}, errors.New("no answer")
	}
}

func (d *device) do(op operation, number uint64, count uint32, data []byte) answer {
	d.Helper()
	a, err := d.end(d.begin(op, number, count, data))
	if err != nil {
		d.Fatal(err)
	}
	return a
}

func (d *device) write(number uint64, content uint64) {
	d.Helper()
	if a := d.do(opWrite, number, 1, block(content)); a.code != 0 {
		d.Fatalf("write: error %d", a.code)
	}
}

func (d *device) flush() {
	d.Helper()
	if a := d.do(opFlush, 0, 0, nil); a.code != 0 {
		d.Fatalf("flush: error %d", a.code)
	}
}

func (d *device) has(number, content uint64) {
	d.Helper()
	if a := d.do(opRead, number, 1, nil); a.code != 0 || !bytes.Equal(a.data, block(content)) {
		d.Fatalf("block %d is not %d: error %d", number, content, a.code)
	}
}

// What a server lost that it had not flushed is there again after its next start.
func TestRepeatsWhatWasLost(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	for i := range uint64(fakeBlocks) {
		d.write(i, i+1)
		if i == fakeBlocks/2 {
			d.flush()
		}
	}
	r.server.crash()
	if r.failure() == nil {
		t.Fatal("no error")
	}
	reading := d.begin(opRead, 3, 1, nil)
	r.server.start()
	r.relay.Up()
	if a, err := d.end(reading); err != nil || !bytes.Equal(a.data, block(4)) {
		t.Errorf("a read that waited: %v, error %d", err, a.code)
	}
	for i := range uint64(fakeBlocks) {
		d.has(i, i+1)
	}
	if s := r.relay.Stats(); s.Unflushed != 0 || s.Repeated != fakeBlocks/2-1 {
		t.Errorf("after the repetition: %+v", s)
	}
}

// The last of two writes to a block counts, in each life of the server.
func TestOrderOfRepetition(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	for content := range uint64(200) {
		d.write(content%3, content)
	}
	for range 3 {
		r.server.crash()
		_ = r.failure()
		r.server.start()
		r.relay.Up()
		d.has(0, 198)
		d.has(1, 199)
		d.has(2, 197)
	}
}

// A change that failed waits, and does not return an error to the client.
func TestNoErrorForChanges(t *testing.T) {
	for _, op := range []operation{opWrite, opTrim, opFlush} {
		t.Run(fmt.Sprint(op), func(t *testing.T) {
			r := newRig(t, 0)
			d := r.open()
			d.write(1, 7)
			r.server.set(func() { r.server.fail[op] = errIO })
			var waiting <-chan answer
			if op == opFlush {
				waiting = d.begin(op, 0, 0, nil)
			} else {
				waiting = d.begin(op, 2, 1, map[operation][]byte{opWrite: block(9)}[op])
			}
			_ = r.failure()
			select {
			case a := <-waiting:
				t.Fatalf("answered with %d while the server is away", a.code)
			default:
			}
			r.again()
			if a, err := d.end(waiting); err != nil || a.code != 0 {
				t.Fatalf("%v, error %d", err, a.code)
			}
			d.has(1, 7)
		})
	}
}

func TestReadFailsTwice(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	r.server.set(func() { r.server.fail[opRead] = errIO })
	reading := d.begin(opRead, 0, 1, nil)
	_ = r.failure()
	r.server.set(func() { r.server.fail[opRead] = errIO })
	r.again()
	if a, err := d.end(reading); err != nil || a.code != errIO {
		t.Fatalf("%v, error %d", err, a.code)
	}
	d.write(0, 5) // without another start of the server
	d.has(0, 5)
}

// A request that no server could do is the client's fault.
func TestInvalidRequests(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	for _, h := range []header{
		{op: opRead, offset: fakeBlock * fakeBlocks, length: 1},
		{op: opWrite, offset: fakeBlock*fakeBlocks - 1, length: 2},
		{op: opTrim, offset: ^uint64(0), length: 2},
		{op: opRead, offset: 0, length: 0},
		{op: opRead, length: maxLength + 1},
		{op: opFlush, flags: 1},
		{op: 6, length: 1},
	} {
		d.mu.Lock()
		q, answered := &request{header: h, data: make([]byte, h.length)}, make(chan answer, 1)
		d.wait[q] = answered
		d.up.send(q)
		d.mu.Unlock()
		if a, err := d.end(answered); err != nil || a.code != errInvalid {
			t.Errorf("%+v: %v, error %d", h, err, a.code)
		}
	}
	if n := r.server.count(opWrite) + r.server.count(opRead) + r.server.count(opTrim); n != 0 {
		t.Errorf("%d of them came to the server", n)
	}
}

// A write that is answered after the flush was sent is not covered by it.
func TestFlushCoversWhatWasBefore(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	flushing := make(chan struct{})
	r.server.set(func() { r.server.stalled[opFlush] = flushing })
	d.write(1, 1)
	flush := d.begin(opFlush, 0, 0, nil)
	r.until("the flush is at the server", func() bool { return r.server.count(opFlush) == 1 })
	d.write(2, 2)
	close(flushing)
	if a, err := d.end(flush); err != nil || a.code != 0 {
		t.Fatalf("%v, error %d", err, a.code)
	}
	if s := r.relay.Stats(); s.Unflushed != fakeBlock+entryBytes {
		t.Errorf("kept: %+v", s)
	}
}

// What is kept stays within its limit, because the relay flushes on its own.
func TestLimit(t *testing.T) {
	const limit = 8 * (fakeBlock + entryBytes)
	r := newRig(t, limit)
	d := r.open()
	for i := range uint64(500) {
		d.write(i%fakeBlocks, i)
		if s := r.relay.Stats(); s.Unflushed > limit {
			t.Fatalf("kept: %+v", s)
		}
	}
	if n := r.server.count(opFlush); n == 0 {
		t.Error("the relay never flushed")
	}
}

// The kernel never waits for the relay to read: its lock would keep a device from being
// disconnected. What is read finds room once the server is back.
func TestLimitWhileAway(t *testing.T) {
	const limit = 8 * (fakeBlock + entryBytes)
	r := newRig(t, limit)
	d := r.open()
	d.write(0, 1)
	r.server.crash()
	_ = r.failure()
	var all []<-chan answer
	for i := range uint64(40) {
		all = append(all, d.begin(opWrite, i, 1, block(i)))
	}
	r.until("all are read, whatever room there is", func() bool { return r.relay.Stats().Held == 40 })
	r.server.start()
	r.relay.Up()
	for _, c := range all {
		if a, err := d.end(c); err != nil || a.code != 0 {
			t.Fatalf("%v, error %d", err, a.code)
		}
	}
	for i := range uint64(40) {
		d.has(i, i)
	}
}

// Requests of a client that disconnected are settled before the next one may connect.
// So none of them comes after a request of the next one.
func TestOrphans(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	stalled := make(chan struct{})
	r.server.set(func() { r.server.stalled[opWrite] = stalled })
	d.begin(opWrite, 1, 1, block(1))
	r.until("the write is at the server", func() bool { return r.server.count(opWrite) == 1 })
	d.up.close()
	<-d.gone
	next := r.open()
	write := next.begin(opWrite, 1, 1, block(2))
	r.until("the next write is read", func() bool { return r.relay.Stats().Held == 2 })
	for range 20 { // whatever comes is here by then
		<-time.After(time.Millisecond)
		if n := r.server.count(opWrite); n != 1 {
			t.Fatalf("%d writes at the server", n)
		}
	}
	close(stalled)
	if a, err := next.end(write); err != nil || a.code != 0 {
		t.Fatalf("%v, error %d", err, a.code)
	}
	next.has(1, 2)
	r.server.crash()
	_ = r.failure()
	r.server.start()
	r.relay.Up()
	next.has(1, 2)
}

// A leg of a mirror that the kernel dropped while its server was away has all that it
// acknowledged, once the server is back.
func TestKeepsForAClientThatWent(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	d.write(5, 50)
	r.server.crash()
	_ = r.failure()
	d.up.close()
	<-d.gone
	r.server.start()
	r.relay.Up()
	r.until("it is flushed", func() bool { return r.relay.Stats().Unflushed == 0 })
	r.open().has(5, 50)
}

func TestOneClientAtATime(t *testing.T) {
	r := newRig(t, 0)
	first := r.open()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := r.tryOpen(ctx, "disk"); err == nil {
		t.Error("a second client was let in")
	}
	first.up.close()
	r.open().write(0, 1)
}

func TestGrowth(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	d.write(0, 1)
	r.server.set(func() { r.server.size *= 2 })
	d.up.close()
	<-d.gone
	d = r.open()
	if d.up.offer.size != 2*fakeBlock*fakeBlocks {
		t.Fatalf("size: %d", d.up.offer.size)
	}
	if flags := d.up.offer.flags; flags != hasFlags|sendFlush|sendTrim {
		t.Errorf("flags: %b", flags)
	}
	d.write(2*fakeBlocks-1, 3)
	d.has(2*fakeBlocks-1, 3)
	d.has(0, 1)
}

// An export that became smaller is not given to anybody.
func TestShrunk(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	d.write(0, 0)
	r.server.set(func() { r.server.size /= 2 })
	if _, err := r.tryOpen(t.Context(), "disk"); err == nil {
		t.Error("a new client was let in")
	}
	r.server.crash()
	_ = r.failure()
	waiting := d.begin(opWrite, 0, 1, block(1))
	r.server.start()
	r.relay.Up()
	_ = r.failure()
	r.server.set(func() { r.server.size *= 2 })
	r.again()
	if a, err := d.end(waiting); err != nil || a.code != 0 {
		t.Fatalf("%v, error %d", err, a.code)
	}
}

func TestUnknownExport(t *testing.T) {
	r := newRig(t, 0)
	if _, err := dial(t.Context(), r.socket, "other"); !errors.Is(err, errNoExport) {
		t.Errorf("got %v", err)
	}
	r.open().write(0, 1)
}

// comes is a client that connects. It returns once the relay knows the client, with a channel
// of the end of its handshake.
func (r *rig) comes() <-chan error {
	came := make(chan error, 1)
	go func() {
		u, err := dial(context.Background(), r.socket, "disk")
		if err == nil {
			u.close()
		}
		came <- err
	}()
	r.until("it is connected", func() bool { return r.relay.Stats().Clients == 1 })
	return came
}

// Who comes while the server is away waits for it.
func TestComesWhileAway(t *testing.T) {
	r := newRig(t, 0)
	r.relay.Down()
	came := r.comes()
	select {
	case err := <-came:
		t.Fatalf("answered while the server is away: %v", err)
	default:
	}
	r.relay.Up()
	if err := <-came; err != nil {
		t.Error(err)
	}
}

// A client that comes while the server ends waits for its next life, although the relay has
// not noticed the end.
func TestComesWhileTheServerEnds(t *testing.T) {
	r := newRig(t, 0)
	r.server.crash()
	came := r.comes()
	r.again()
	if err := <-came; err != nil {
		t.Error(err)
	}
}

// After Down there is no word of a server that is ended.
func TestNoFailureAfterDown(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	d.write(0, 1)
	r.relay.Down()
	r.server.crash()
	write := d.begin(opWrite, 1, 1, block(2))
	r.until("the write is read", func() bool { return r.relay.Stats().Held == 1 })
	select {
	case err := <-r.failures:
		t.Errorf("told: %v", err)
	default:
	}
	r.server.start()
	r.relay.Up()
	if a, err := d.end(write); err != nil || a.code != 0 {
		t.Fatalf("%v, error %d", err, a.code)
	}
	d.has(0, 1)
}

func TestDrain(t *testing.T) {
	r := newRig(t, 0)
	r.supervise()
	d := r.open()
	d.write(0, 1)
	r.server.set(func() { r.server.fail[opFlush] = errIO })
	if err := r.relay.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-d.gone
	r.server.crash()
	if got := r.server.stored("disk", 0); !bytes.Equal(got, block(1)) {
		t.Error("drained, but not flushed")
	}
	if err := <-r.served; err != nil {
		t.Error(err)
	}
}

func TestDrainWithoutServer(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	d.write(0, 1)
	r.server.crash()
	_ = r.failure()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.relay.Drain(ctx); err == nil {
		t.Error("drained without a server")
	}
}

func TestDrainOfNothing(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	d.write(0, 1)
	d.flush()
	r.server.crash()
	_ = r.failure()
	if err := r.relay.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// A flush that the server does not answer takes no more memory than the limit, and holds
// no reader up.
func TestLimitWhileAFlushWaits(t *testing.T) {
	const limit = 8 * (fakeBlock + entryBytes)
	r := newRig(t, limit)
	d := r.open()
	flushing := make(chan struct{})
	r.server.set(func() { r.server.stalled[opFlush] = flushing })
	var all []<-chan answer
	for i := range uint64(40) {
		all = append(all, d.begin(opWrite, i, 1, block(i)))
	}
	r.until("the relay flushes", func() bool { return r.server.count(opFlush) > 0 })
	r.until("what has no room waits", func() bool { s := r.relay.Stats(); return s.Held >= 32 && s.UnderWay <= 1 })
	r.server.set(func() { delete(r.server.stalled, opFlush) })
	close(flushing)
	for _, c := range all {
		if a, err := d.end(c); err != nil || a.code != 0 {
			t.Fatalf("%v, error %d", err, a.code)
		}
	}
}

// The oldest request is reported, although others are answered meanwhile.
func TestOldestRequest(t *testing.T) {
	r := newRig(t, 0)
	d := r.open()
	waits := func() time.Time { return r.relay.Stats().Waiting["disk"] }
	r.until("nothing waits", func() bool { return waits().IsZero() })
	d.write(1, 1)
	done := r.server.stall(opFlush)
	before := time.Now()
	flush := d.begin(opFlush, 0, 0, nil)
	r.until("the flush waits", func() bool { return !waits().IsZero() })
	since := waits()
	if since.Before(before) || since.After(time.Now()) {
		t.Errorf("waits since %s, begun at %s", since, before)
	}
	for range 3 {
		d.has(1, 1)
		d.write(2, 2)
		if got := waits(); !got.Equal(since) {
			t.Fatalf("waits since %s, wanted %s", got, since)
		}
	}
	done()
	if _, err := d.end(flush); err != nil {
		t.Fatal(err)
	}
	r.until("nothing waits", func() bool { return waits().IsZero() })

	// Requests without a client: a repetition, and the flush after it.
	d.write(3, 3)
	for _, op := range []operation{opWrite, opFlush} {
		done = r.server.stall(op)
		before = time.Now()
		r.again()
		r.until("the repetition waits", func() bool { return waits().After(before) })
		done()
		if op == opWrite {
			r.until("nothing waits", func() bool { return waits().IsZero() })
			d.write(3, 4)
		}
	}
	r.until("nothing waits", func() bool { return waits().IsZero() })
}

// Whatever ends the server, and whenever, nothing that was answered is ever missing. What
// was answered before a flush is durable when the flush is answered.
func TestCrashesAtRandom(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := newRig(t, 64*(fakeBlock+entryBytes))
	r.supervise()
	stripe := r.stripe()
	var work, chaos sync.WaitGroup
	stop := make(chan struct{})
	chaos.Go(func() { r.chaos(rand.New(rand.NewPCG(seed, 0)), stop) })
	const workers = 9
	for w := range uint64(workers) {
		d := stripe[w%uint64(len(stripe))]
		work.Go(func() { d.work(rand.New(rand.NewPCG(seed, w+1)), w*fakeBlocks/workers, fakeBlocks/workers) })
	}
	work.Wait()
	close(stop)
	chaos.Wait()
	if err := r.relay.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	t.Logf("%+v", r.relay.Stats())
}

// chaos makes the server fail in all its ways. It waits for an answer in between. On a busy
// machine the work would otherwise never end.
func (r *rig) chaos(random *rand.Rand, stop <-chan struct{}) {
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for before := int64(-1); ; {
		select {
		case <-tick.C:
		case <-stop:
			return
		}
		s := r.relay.Stats()
		now := s.Reads + s.Writes + s.Trims + s.Flushes
		if now == before {
			continue
		}
		before = now
		op := []operation{opRead, opWrite, opTrim, opFlush}[random.IntN(4)]
		r.server.set(func() {
			if op == opRead || random.IntN(2) == 0 { // a read may fail once only
				for c := range r.server.conns {
					_ = c.Close()
				}
				return
			}
			r.server.fail[op] = errIO
		})
	}
}

// work on blocks of its own, and know what has to be in them.
func (d *device) work(random *rand.Rand, first, count uint64) {
	want := map[uint64]uint64{}
	zero := make([]byte, fakeBlock)
	for i := range uint64(400) {
		number := first + random.Uint64N(count)
		op := []operation{opRead, opRead, opWrite, opWrite, opWrite, opTrim, opFlush}[random.IntN(7)]
		var data []byte
		length := uint32(1)
		switch op {
		case opWrite:
			want[number] = first<<32 | i + 1
			data = block(want[number])
		case opTrim:
			want[number] = 0
		case opFlush:
			number, length = 0, 0
		}
		a, err := d.end(d.begin(op, number, length, data))
		if err != nil || a.code != 0 {
			d.Errorf("%d of block %d: %v, error %d", op, number, err, a.code)
			return
		}
		expected := zero
		if want[number] != 0 {
			expected = block(want[number])
		}
		if op == opRead && !bytes.Equal(a.data, expected) {
			d.Errorf("block %d has not what was written last", number)
			return
		}
		if op == opFlush {
			d.durable(want)
		}
	}
}

// durable checks blocks that were written before a flush that was answered.
func (d *device) durable(want map[uint64]uint64) {
	for number, content := range want {
		expected := make([]byte, fakeBlock)
		if content != 0 {
			expected = block(content)
		}
		if !bytes.Equal(d.server.stored(d.name, number), expected) {
			d.Errorf("block %d of %s was flushed, and a crash would lose it", number, d.name)
		}
	}
}

func FuzzNegotiation(f *testing.F) {
	f.Add([]byte{0, 0, 0, 3, 'I', 'H', 'A', 'V', 'E', 'O', 'P', 'T', 0, 0, 0, 7, 0, 0, 0, 10, 0, 0, 0, 4, 'd', 'i', 's', 'k', 0, 0})
	f.Fuzz(func(t *testing.T, said []byte) {
		ours, theirs := net.Pipe()
		defer ours.Close()   //nolint:errcheck // a pipe
		defer theirs.Close() //nolint:errcheck // a pipe
		go func() {
			_, _ = theirs.Write(said)
			_ = theirs.Close()
		}()
		go func() {
			b := make([]byte, 1<<10)
			for {
				if _, err := theirs.Read(b); err != nil {
					return
				}
			}
		}()
		name, err := negotiate(ours, func(string, bool) (offer, error) { return offer{size: 1}, nil })
		if err == nil && len(name) > maxOption {
			t.Errorf("name of %d bytes", len(name))
		}
	})
}
