//go:build zerofs && linux

package supervise_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// outage of a store.
type outage struct {
	name       string
	lasts      time.Duration
	begin, end func() error
	// change of the configuration; nil: none.
	change func(string) string
}

// outcome of an outage.
type outcome struct {
	outage
	// died so long after its begin, and was started so often again; 0: ZeroFS lived.
	died          time.Duration
	restarts      int64
	longest       time.Duration
	failed        string
	flushed, lost int
}

func (o outcome) String() string {
	server := "lives"
	if o.died > 0 {
		server = fmt.Sprintf("dies after %.0f s", o.died.Seconds())
	}
	return fmt.Sprintf("| %s | %.0f s | %s | %d | %.1f s | %s | %d | %d |\n", o.name, o.lasts.Seconds(), server,
		o.restarts, o.longest.Seconds(), cmp.Or(o.failed, "none"), o.flushed, o.lost)
}

// load writes blocks and has each flushed, until one fails.
type load struct {
	mu      sync.Mutex
	flushed int
	longest time.Duration
	err     error
}

func (l *load) run(d *disk, stop <-chan struct{}) {
	pace := time.NewTicker(300 * time.Millisecond)
	defer pace.Stop()
	for i := 0; ; i++ {
		begin := time.Now()
		err := d.keep(i)
		l.mu.Lock()
		l.longest = max(l.longest, time.Since(begin))
		if l.err = err; err == nil {
			l.flushed++
		}
		l.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case <-pace.C:
		case <-stop:
			return
		}
	}
}

func (l *load) now() (flushed int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flushed, l.err
}

// until a condition holds, or it is late.
func until(limit time.Duration, holds func() bool) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline) && !holds(); {
		<-again.C
	}
}

// endure an outage under load, and look what of the flushed is there afterwards.
func (r *parts) endure(o outage) outcome {
	r.Helper()
	run := r.run()
	r.up()
	l, stop, idle := &load{}, make(chan struct{}), make(chan struct{})
	d := r.disk()
	go func() { defer close(idle); l.run(d, stop) }()
	flushed := func(blocks int) func() bool {
		return func() bool { n, err := l.now(); return n >= blocks || err != nil }
	}
	until(time.Minute, flushed(10))
	if err := o.begin(); err != nil {
		r.Fatal(err)
	}
	result, begin := outcome{outage: o}, time.Now()
	until(o.lasts, func() bool {
		if s, err := zerofs.ReadStatus(run.Dir); err == nil && s.Phase != zerofs.PhaseServing && result.died == 0 {
			result.died = time.Since(begin)
		}
		return false
	})
	if err := o.end(); err != nil {
		r.Fatal(err)
	}
	before, _ := l.now()
	until(longestWait, flushed(before+10))
	close(stop)
	<-idle
	if result.longest = l.longest; l.err != nil {
		result.failed = l.err.Error()
	}
	r.stop(run)
	s, err := zerofs.ReadStatus(run.Dir)
	if err != nil {
		r.Fatal(err)
	}
	result.restarts, result.flushed = s.Restarts, l.flushed
	result.lost = r.again(result.flushed)
	return result
}

// patientConnect waits long for a connection.
func patientConnect(config string) string { return config + "connect_timeout = '600s'\n" }

// TestRealOutages measures what ZeroFS makes of outages of its store, and its clients see
// through the relay.
func TestRealOutages(t *testing.T) {
	report := reportTo(t)
	base, store, _ := newFaulty(t)
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		rows []outcome
	)
	endure := func(bucket string, o func(*gate) outage) {
		t.Run(bucket, func(t *testing.T) {
			g := newGate(t, "127.0.0.1:"+strconv.Itoa(store.Port()))
			dir := t.TempDir()
			r := &parts{T: t, server: base.server, dir: dir, size: base.size}
			r.server.URL, r.server.Endpoint = "s3://"+bucket+"/prod/node-1", "http://"+g.address
			r.server.CacheDir = filepath.Join(dir, "cache")
			r.sockets()
			if err := os.MkdirAll(filepath.Join(filepath.Dir(base.bucket), bucket), 0o700); err != nil {
				t.Fatal(err)
			}
			fault := o(g)
			r.change = fault.change
			row := r.endure(fault)
			t.Log(row)
			if row.lost > 0 || row.failed != "" {
				t.Errorf("%s: %d of %d flushed blocks lost", row.failed, row.lost, row.flushed)
			}
			mu.Lock()
			defer mu.Unlock()
			rows = append(rows, row)
		})
	}
	for i, o := range outages(store) {
		all.Go(func() { endure("bucket-"+strconv.Itoa(i), o) })
	}
	all.Wait()
	endure("frozen", func(*gate) outage {
		return outage{name: "the store is frozen", lasts: time.Minute, begin: store.Freeze, end: store.Thaw}
	})
	slices.SortFunc(rows, func(a, b outcome) int { return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.lasts, b.lasts)) })
	table := "| outage | lasts | ZeroFS | restarts | longest flush | first error | flushed | of them lost |\n|---|---|---|---|---|---|---|---|\n"
	for _, row := range rows {
		table += row.String()
	}
	report("outages", table)
}

// outages that are had at once, each with a gate of its own.
func outages(store *s3.Store) (all []func(*gate) outage) {
	for _, lasts := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, time.Minute} {
		all = append(all, func(g *gate) outage {
			return outage{name: "connections are refused", lasts: lasts, begin: func() error { g.shut(); return nil }, end: g.lift}
		}, func(g *gate) outage {
			return outage{name: "connections are closed", lasts: lasts, begin: func() error { g.slam(true); return nil }, end: func() error { g.slam(false); return nil }}
		})
	}
	dropped := func(lasts time.Duration, change func(string) string, name string) func(*gate) outage {
		return func(g *gate) outage {
			return outage{name: name, lasts: lasts, begin: g.drop, end: g.undrop, change: change}
		}
	}
	const long, patient = 3 * time.Minute, "packets are dropped, connect_timeout is 600 s"
	busy := "bucket-" + strconv.Itoa(len(all))
	return append(all, func(*gate) outage {
		unavailable := s3.Unavailable()
		unavailable.Bucket = busy
		return outage{name: "the store answers 503", lasts: time.Minute,
			begin: func() error { store.Fail(unavailable); return nil }, end: func() error { store.Fail(); return nil }}
	}, dropped(time.Minute, nil, "packets are dropped"), dropped(long, nil, "packets are dropped"),
		dropped(time.Minute, patientConnect, patient), dropped(long, patientConnect, patient))
}
