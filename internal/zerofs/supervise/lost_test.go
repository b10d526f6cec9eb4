//go:build zerofs && linux

package supervise_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// newFaulty has a store that can fail, with a gate before it.
func newFaulty(t *testing.T) (*parts, *s3.Store, *gate) {
	t.Helper()
	r := newReal(t)
	dir := t.TempDir()
	r.bucket = filepath.Join(dir, "pool")
	store, err := s3.Start(t.Context(), s3.Options{Program: os.Getenv("PGSTORAGE_S3"), Dir: dir, Buckets: []string{"pool"}, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	r.size = 1 << 30
	r.environment(store.AccessKey, store.SecretKey, "for-tests-only")
	g := newGate(t, "127.0.0.1:"+strconv.Itoa(store.Port()))
	r.s3 = "http://" + g.address
	r.server.Endpoint = r.s3
	return r, store, g
}

func (r *parts) disk() *disk {
	r.Helper()
	d, err := openDisk(r.server.NBDSocket)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = d.conn.Close() })
	return d
}

// fill writes blocks and has each flushed, in turn by FLUSH and by FUA.
func (r *parts) fill(d *disk, blocks int) {
	r.Helper()
	for i := range blocks {
		err := d.write(i, uint16(i%2*nbdWithFUA))
		if err == nil && i%2 == 0 {
			err = d.flush()
		}
		if err != nil {
			r.Fatal(err)
		}
	}
}

// again starts a successor without the cache, and counts the blocks that it has not.
func (r *parts) again(blocks int) int {
	r.Helper()
	if err := os.RemoveAll(r.server.CacheDir); err != nil {
		r.Fatal(err)
	}
	run := r.run()
	r.up()
	lost, err := r.disk().lost(blocks)
	if err != nil {
		r.Fatal(err)
	}
	run.signals <- syscall.SIGKILL
	run.end(r.T)
	return lost
}

// atSixteen is the number that 0.19 has by itself.
func atSixteen(config string) string {
	return strings.Replace(config, "l0_max_ssts = 1000000", "l0_max_ssts = 16", 1)
}

// What was flushed is there, however the server ends. The control: with ZeroFS' own
// number of tables at level 0 it is not, so these tests could fail.
func TestRealFlushed(t *testing.T) {
	const blocks = 100
	for name, c := range map[string]struct {
		change func(string) string
		signal os.Signal
		loses  bool
	}{
		"killed":            {nil, syscall.SIGKILL, false},
		"told":              {nil, syscall.SIGTERM, false},
		"killed at sixteen": {atSixteen, syscall.SIGKILL, true},
		"told at sixteen":   {atSixteen, syscall.SIGTERM, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReal(t)
			r.change = c.change
			run := r.run()
			r.up()
			r.fill(r.disk(), blocks)
			run.signals <- c.signal
			run.end(t)
			lost := r.again(blocks)
			t.Logf("%d of %d flushed blocks lost", lost, blocks)
			if lost > 0 != c.loses {
				t.Errorf("%d of %d flushed blocks lost; wanted some: %v", lost, blocks, c.loses)
			}
		})
	}
}

// failed checks what is kept of a server whose database died.
func (r *parts) failed(run *running, reason string) {
	r.Helper()
	if code := run.end(r.T); code != 137 {
		r.Errorf("exit code %d", code)
	}
	life, err := zerofs.ReadIncarnation(run.Dir)
	if err != nil || life.State != zerofs.StateFailed {
		r.Errorf("%v %+v", err, life)
	}
	raw, err := os.ReadFile(run.TerminationLog)
	if f := zerofs.ParseFailure(string(raw)); err != nil || f == nil || f.Reason != reason {
		r.Errorf("%v %s, wanted %s; %s", err, raw, reason, &run.log)
	}
	r.Logf("%s", raw)
}

// A server whose store went away ends, and has all that was flushed when both are back.
func TestRealStoreLost(t *testing.T) {
	for name, c := range map[string]struct {
		away func(*s3.Store, *gate) error
		back func(*testing.T, *s3.Store, *gate) error
	}{
		"no answers": {
			func(s *s3.Store, _ *gate) error { return s.Kill() },
			func(t *testing.T, s *s3.Store, _ *gate) error { return s.Restart(t.Context()) },
		},
		"connections refused": {
			func(_ *s3.Store, g *gate) error { g.shut(); return nil },
			func(_ *testing.T, _ *s3.Store, g *gate) error { return g.lift() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			const blocks = 20
			r, store, g := newFaulty(t)
			run := r.run()
			r.up()
			d := r.disk()
			r.fill(d, blocks)
			if err := c.away(store, g); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if err := d.write(blocks, nbdWithFUA); err == nil {
				t.Error("a write is durable in a store that is away")
			}
			r.failed(run, zerofs.ReasonStoreLost)
			t.Logf("ended after %s", time.Since(begin).Round(time.Second))
			if err := c.back(t, store, g); err != nil {
				t.Fatal(err)
			}
			if lost := r.again(blocks); lost > 0 {
				t.Errorf("%d of %d flushed blocks lost", lost, blocks)
			}
		})
	}
}

// second server of the same prefix.
func (r *parts) second() (*parts, *running) {
	r.Helper()
	other := &parts{T: r.T, server: r.server, dir: r.TempDir(), s3: r.s3, bucket: r.bucket, size: r.size}
	other.server.CacheDir = filepath.Join(other.dir, "cache")
	other.server.NBDSocket, other.server.NinePSocket = filepath.Join(other.dir, "run", "nbd.sock"), filepath.Join(other.dir, "run", "9p.sock")
	run := other.run()
	other.up()
	return other, run
}

// A server that another one took the prefix from ends.
func TestRealFenced(t *testing.T) {
	const blocks = 20
	r := newReal(t)
	run := r.run()
	r.up()
	r.fill(r.disk(), blocks)
	other, successor := r.second()
	r.failed(run, zerofs.ReasonFenced)
	if lost, err := other.disk().lost(blocks); lost > 0 || err != nil {
		t.Errorf("%v, %d of %d flushed blocks lost", err, lost, blocks)
	}
	successor.signals <- syscall.SIGTERM
	if code := successor.end(t); code != 0 {
		t.Errorf("the successor: %d", code)
	}
}

// Until it ends it says of no write that it is durable: here nobody sees what it logs.
func TestRealFencedUnseen(t *testing.T) {
	const blocks = 20
	r := newReal(t)
	r.unseen = true
	run := r.run()
	r.up()
	d := r.disk()
	r.fill(d, blocks)
	_, successor := r.second()
	for i := range blocks {
		err := d.write(blocks+i, uint16(i%2*nbdWithFUA))
		if err == nil && i%2 == 0 {
			err = d.flush()
		}
		if err == nil || err.Error() != "NBD error 5" {
			t.Errorf("write %d: %v, wanted EIO", i, err)
		}
	}
	t.Log("a flush of nothing:", d.flush())
	for _, s := range []*running{run, successor} {
		s.signals <- syscall.SIGKILL
		s.end(t)
	}
}
