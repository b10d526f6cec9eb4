//go:build zerofs && linux

package supervise_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

// legs of a stripe.
var legs = []string{"disk", "disk-1", "disk-2"}

// pipe is a client of one export, as the kernel is: its requests are under way together.
type pipe struct {
	*disk
	mu    sync.Mutex
	last  uint64
	waits map[uint64]request
}

type request struct {
	length uint32
	done   chan error
}

// stripe opens every leg on a socket, and makes those that ZeroFS does not have yet.
func (r *parts) stripe(socket string) (all []*pipe) {
	r.Helper()
	c := &exports.Client{Socket: r.server.NinePSocket}
	for _, name := range legs {
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		err := c.Create(ctx, name, r.size)
		cancel()
		if err != nil {
			r.Fatal(err)
		}
		d, err := openExport(r.in(socket), name)
		if err != nil {
			r.Fatal(err)
		}
		p := &pipe{disk: d, waits: map[uint64]request{}}
		_ = d.conn.SetDeadline(time.Time{})
		go p.read()
		r.Cleanup(func() { _ = d.conn.Close() })
		all = append(all, p)
	}
	return all
}

func (p *pipe) read() {
	var err error
	for err == nil {
		err = p.answer()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for cookie, q := range p.waits {
		delete(p.waits, cookie)
		q.done <- err
	}
}

func (p *pipe) answer() error {
	var head [16]byte
	if _, err := io.ReadFull(p.conn, head[:]); err != nil {
		return err
	}
	cookie := binary.BigEndian.Uint64(head[8:])
	p.mu.Lock()
	q, ok := p.waits[cookie]
	delete(p.waits, cookie)
	p.mu.Unlock()
	if code := binary.BigEndian.Uint32(head[4:]); code != 0 || !ok {
		return fmt.Errorf("NBD error %d", code)
	}
	_, err := io.CopyN(io.Discard, p.conn, int64(q.length))
	q.done <- err
	return err
}

// begin a request. The length is that of the data to read.
func (p *pipe) begin(kind uint16, number int, length uint32, data []byte) <-chan error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	q := request{done: make(chan error, 1)}
	if kind == nbdRead {
		q.length = length
	}
	p.waits[p.last] = q
	var ask bytes.Buffer
	for _, v := range []any{uint32(nbdRequest), uint16(0), kind, p.last, uint64(number) * stride, length, data} {
		_ = binary.Write(&ask, binary.BigEndian, v)
	}
	if _, err := p.conn.Write(ask.Bytes()); err != nil && !errors.Is(err, net.ErrClosed) {
		_ = p.conn.Close() // read answers
	}
	return q.done
}

// sync writes a block to some legs, and flushes them together once all are answered.
func syncAll(on []*pipe, number int) error {
	for _, ask := range []func(*pipe) <-chan error{
		func(p *pipe) <-chan error { return p.begin(nbdWrite, number, blockBytes, block(number)) },
		func(p *pipe) <-chan error { return p.begin(nbdFlush, 0, 0, nil) },
	} {
		var all []<-chan error
		for _, p := range on {
			all = append(all, ask(p))
		}
		for _, c := range all {
			if err := <-c; err != nil {
				return err
			}
		}
	}
	return nil
}

// lostOf counts the blocks that the legs do not have, in a successor without the cache.
func (r *parts) lostOf(first, blocks int) (lost int) {
	r.Helper()
	for _, name := range legs {
		d, err := openExport(r.in(zerofs.NBDSocket), name)
		if err != nil {
			r.Fatal(err)
		}
		for i := first; i < first+blocks; i++ {
			has, err := d.has(i)
			if err != nil {
				r.Fatal(err)
			}
			if !has {
				lost++
			}
		}
		_ = d.conn.Close()
	}
	return lost
}

// A flush of ZeroFS on one connection of one export makes durable what was written before
// on others, which the relay counts on. What was written afterwards is lost, so this test
// could fail.
func TestRealFlushCoversAllExports(t *testing.T) {
	const blocks = 20
	r := newReal(t)
	child := r.child()
	r.up()
	all := r.stripe(zerofs.UpstreamSocket)
	for i := range blocks {
		for _, p := range all {
			if err := <-p.begin(nbdWrite, i, blockBytes, block(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	other, err := openExport(r.in(zerofs.UpstreamSocket), legs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer other.conn.Close() //nolint:errcheck // read
	if err := other.flush(); err != nil {
		t.Fatal(err)
	}
	for i := blocks; i < 2*blocks; i++ {
		for _, p := range all {
			if err := <-p.begin(nbdWrite, i, blockBytes, block(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.crash(child)
	r.without()
	run := r.run()
	r.up()
	if lost := r.lostOf(0, blocks); lost > 0 {
		t.Errorf("%d of %d blocks lost, of three exports of which one was flushed", lost, len(legs)*blocks)
	}
	if lost := r.lostOf(blocks, blocks); lost == 0 {
		t.Error("nothing is lost of what nobody flushed, so this test proves nothing")
	}
	run.signals <- syscall.SIGTERM
	run.end(t)
}

// Many sync a stripe at once, through the relay. Everything is killed after the last one,
// and is there in a successor without the cache.
func TestRealStripeFlushed(t *testing.T) {
	const blocks, clients = 60, 4
	r := newReal(t)
	child := r.child()
	r.up()
	all := r.stripe(zerofs.NBDSocket)
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for i := c; i < blocks; i += clients {
				if i == blocks/2 {
					r.kill()
				}
				if err := syncAll(all, i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	r.crash(child)
	r.without()
	run := r.run()
	r.up()
	if lost := r.lostOf(0, blocks); lost > 0 {
		t.Errorf("%d of %d synced blocks lost", lost, len(legs)*blocks)
	}
	run.signals <- syscall.SIGTERM
	run.end(t)
}

const (
	stripeTurns = 3
	stripeTime  = 15 * time.Second
	// groupPause between the writes that stand for the transaction groups of ZFS: its default.
	groupPause = 5 * time.Second
	// mostOfOne flush for a sync of one client.
	mostOfOne = 1.2
)

// stripeCell is one line of the table: clients that sync a stripe on a socket.
type stripeCell struct {
	name, socket string
	clients      int
	// legs that a sync writes to.
	legs int
	// alone: no transaction groups beside.
	alone bool

	syncs, reads []time.Duration
	// flushes of ZeroFS for the relay, and the seconds they took together.
	flushes, flushTime float64
}

func mean(all []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(max(1, len(all)))
}

// ofFlush is how many flushes of ZeroFS a sync takes. Both are of the same seconds, because
// other work on the machine changes them together.
func (c *stripeCell) ofFlush() float64 {
	return mean(c.syncs).Seconds() / (c.flushTime / max(1, c.flushes))
}

func (c *stripeCell) row() string {
	slices.Sort(c.syncs)
	each, of := "-", "-"
	if c.socket == zerofs.NBDSocket {
		each = fmt.Sprintf("%.2f, %.0f", c.flushes/float64(max(1, len(c.syncs))), c.flushTime/max(1, c.flushes)*1000)
		of = fmt.Sprintf("%.2f", c.ofFlush())
	}
	return fmt.Sprintf("| %s | %d | %d | %d, %d | %s | %s | %d |\n", c.name, c.clients, len(c.syncs),
		mean(c.syncs).Milliseconds(), c.syncs[len(c.syncs)*95/100].Milliseconds(), each, of, mean(c.reads).Milliseconds())
}

// TestRealStripe measures what a sync of a stripe costs, on connections that pass each
// flush on and through the relay. ZFS itself needs a kernel that has it, so its traffic is
// a stand-in. Syncs write to two legs and flush both. Transaction groups write to all legs
// and flush them twice. A reader reads.
func TestRealStripe(t *testing.T) {
	report := reportTo(t)
	r, store, _ := newFaulty(t)
	run := r.run()
	r.up()
	sockets := map[string][]*pipe{zerofs.UpstreamSocket: r.stripe(zerofs.UpstreamSocket), zerofs.NBDSocket: r.stripe(zerofs.NBDSocket)}
	store.Fail(s3.Fault{Latency: farAway})
	cells := []*stripeCell{
		{name: "one flush: one device, one client, nothing beside", socket: zerofs.NBDSocket, clients: 1, legs: 1, alone: true},
		{name: "stripe, each flush passed on", socket: zerofs.UpstreamSocket, clients: 1, legs: 2},
		{name: "stripe, relay", socket: zerofs.NBDSocket, clients: 1, legs: 2},
		{name: "stripe, each flush passed on", socket: zerofs.UpstreamSocket, clients: 4, legs: 2},
		{name: "stripe, relay", socket: zerofs.NBDSocket, clients: 4, legs: 2},
	}
	for turn := range stripeTurns {
		for i := range cells {
			c := cells[(i+turn)%len(cells)]
			before := run.storeFlushes(t)
			r.load(c, sockets[c.socket], turn)
			after := run.storeFlushes(t)
			c.flushes, c.flushTime = c.flushes+after[0]-before[0], c.flushTime+after[1]-before[1]
		}
	}
	store.Fail()
	var table strings.Builder
	table.WriteString("| what | clients | syncs | ms of a sync: mean, p95 | flushes of ZeroFS for each sync, ms of each | a sync, in flushes | ms of a read |\n|---|---|---|---|---|---|---|\n")
	for _, c := range cells {
		table.WriteString(c.row())
	}
	t.Log("\n" + table.String())
	if got := cells[2].ofFlush(); got > mostOfOne {
		t.Errorf("a sync of a stripe takes %.2f flushes, wanted at most %.1f", got, mostOfOne)
	}
	r.stop(run)
	report("stripe", table.String())
}

// load one cell.
func (r *parts) load(c *stripeCell, on []*pipe, turn int) {
	ctx, cancel := context.WithTimeout(r.Context(), stripeTime)
	defer cancel()
	var group sync.WaitGroup
	var mu sync.Mutex
	note := func(to *[]time.Duration, begin time.Time, err error) {
		mu.Lock()
		defer mu.Unlock()
		*to = append(*to, time.Since(begin))
		if err != nil {
			r.Error(err)
		}
	}
	for client := range c.clients {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(turn), uint64(client)))
			for i := client; ctx.Err() == nil; i += c.clients {
				begin, first := time.Now(), random.IntN(len(on))
				some := slices.Concat(on, on)[first:][:c.legs]
				note(&c.syncs, begin, syncAll(some, i%1000))
			}
		})
	}
	if !c.alone {
		group.Go(func() { groups(ctx, on) })
		group.Go(func() {
			every(ctx, 20*time.Millisecond, func(i int) {
				begin := time.Now()
				note(&c.reads, begin, <-on[i%len(on)].begin(nbdRead, i%100, blockBytes, nil))
			})
		})
	}
	group.Wait()
}

// storeFlushes of ZeroFS for the relay so far: their number, and the seconds they took.
func (r *running) storeFlushes(t *testing.T) (figures [2]float64) {
	t.Helper()
	text, err := r.metrics()
	for line := range strings.Lines(text) {
		for i, name := range []string{"pgstorage_s3nbd_store_flushes_total ", "pgstorage_s3nbd_store_flush_seconds_total "} {
			if value, found := strings.CutPrefix(line, name); found && err == nil {
				figures[i], err = strconv.ParseFloat(strings.TrimSpace(value), 64)
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return figures
}

// groups of transactions: 30 blocks over all legs, a flush of all, a label on each, another
// flush of all.
func groups(ctx context.Context, on []*pipe) {
	every(ctx, groupPause, func(i int) {
		for n := range 10 {
			for _, p := range on {
				if <-p.begin(nbdWrite, 2000+n, blockBytes, block(i)) != nil {
					return // the syncs report it
				}
			}
		}
		_ = syncAll(on, 3000)
		_ = syncAll(on, 3001)
	})
}

// every pause, until the end.
func every(ctx context.Context, pause time.Duration, do func(int)) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-ticker.C:
			do(i)
		case <-ctx.Done():
			return
		}
	}
}
