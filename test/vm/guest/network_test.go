//go:build guest

package guest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
	"github.com/pgstorage/pgstorage/internal/testing/long"
	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

// networkPool is the storage of a test: servers, and a pool on their devices.
type networkPool struct {
	name    string
	dir     string
	servers []*server
	// lost devices keep their pool until the machine restarts.
	lost bool
}

// serveNetwork starts servers a, b... and cleans up after the test.
func serveNetwork(t *testing.T, name string, servers int) *networkPool {
	t.Helper()
	dir := filepath.Join("/tmp", name) // a socket's path is short
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &networkPool{name: name, dir: dir}
	for i := range servers {
		p.servers = append(p.servers, startServer(t, filepath.Join(dir, string(rune('a'+i)))))
	}
	t.Cleanup(func() { p.tidy(t) })
	return p
}

// tidy destroys the pool, unless its devices are lost: then nothing releases the pool. In that
// case it ends only what waits for the devices, because the machine's own shutdown would wait
// for it.
func (p *networkPool) tidy(t *testing.T) {
	if t.Failed() {
		p.explain(t)
	}
	_ = os.Remove(filepath.Join("/var/lib/pgstorage/agent", p.name+".json"))
	_ = os.Remove(filepath.Join("/var/lib/pgstorage/agent/pools/network", p.name+".json"))
	if !p.lost && p.health(t) != "" {
		alone(t, "zpool", "destroy", "-f", p.name)
	}
	client := nbd.New("")
	states, err := client.Status(context.Background())
	if err != nil {
		t.Error(err)
	}
	for _, s := range states {
		if strings.HasPrefix(s.Identifier, p.name+"/") {
			_ = client.Disconnect(context.Background(), s.Index, s.Identifier)
		}
	}
}

// explain a failure by what waits in the kernel.
func (p *networkPool) explain(t *testing.T) {
	t.Helper()
	stacks, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stacks {
		text, _ := os.ReadFile(path)
		if !strings.Contains(string(text), ") D ") {
			continue
		}
		stack, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "stack"))
		t.Logf("waits: %.60s\n%s", text, stack)
	}
	lines := strings.Split(run(t, "dmesg"), "\n")
	t.Log(strings.Join(lines[max(0, len(lines)-20):], "\n"))
}

// health of the pool, or empty.
func (p *networkPool) health(t *testing.T) string {
	t.Helper()
	for line := range strings.Lines(run(t, "zpool", "list", "-Hp", "-o", "name,health")) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == p.name {
			return f[1]
		}
	}
	return ""
}

func (p *networkPool) declared(layout v1alpha1.ZFSVdevType, change func(*v1alpha1.NodeNetworkDevices)) *v1alpha1.PgNodeStorage {
	s := declared(p.name, func(spec *v1alpha1.PgNodeStorageSpec) {
		spec.Profile = p.name
		spec.Pool.Properties = append(spec.Pool.Properties, v1alpha1.ZFSProperty{Name: "cachefile", Value: "none"})
		spec.NetworkDevices = &v1alpha1.NodeNetworkDevices{
			Layout: layout, Exports: []string{"disk0", "disk1"}, ExportSize: resource.MustParse("256Mi"),
			OnServerLost: v1alpha1.ServerLostWait, Ashift: new(int32(12)),
		}
		for _, s := range p.servers {
			name := filepath.Base(s.dir)
			spec.NetworkDevices.Servers = append(spec.NetworkDevices.Servers, v1alpha1.NodeServer{Name: name, URL: "s3://" + name, Directory: s.dir})
		}
		if change != nil {
			change(spec.NetworkDevices)
		}
	})
	return s
}

// files are the exports of a test's server.
type files struct{ dir string }

func (f files) Exports(context.Context) ([]exports.Export, error) {
	entries, err := os.ReadDir(f.dir)
	var out []exports.Export
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		out = append(out, exports.Export{Name: e.Name(), Bytes: uint64(info.Size())})
	}
	return out, err
}

func (f files) Create(_ context.Context, export string, bytes uint64) error {
	path := filepath.Join(f.dir, export)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(int64(bytes)), file.Close())
}

func (f files) Grow(_ context.Context, export string, bytes uint64) error {
	return os.Truncate(filepath.Join(f.dir, export), int64(bytes))
}

// networkAgent builds an agent with the tests' servers.
func networkAgent(before func(argv []string) error) (*agent.Node, *host.Counter) {
	n, counter := newAgent(before)
	n.Exports = func(socket string) agent.Exports { return files{filepath.Join(filepath.Dir(socket), "exports")} }
	n.Restart = func() error { return errors.New("no test restarts the machine") }
	return n, counter
}

// identifiers of the devices that are attached for the pool.
func (p *networkPool) identifiers(t *testing.T) []string {
	t.Helper()
	states, err := nbd.New("").Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range states {
		if strings.HasPrefix(s.Identifier, p.name+"/") {
			out = append(out, fmt.Sprintf("%d %s", s.Index, s.Identifier))
		}
	}
	slices.Sort(out)
	return out
}

// write a file into a dataset of the pool, as a database would, and let go of it.
func (p *networkPool) write(t *testing.T, megabytes int) {
	t.Helper()
	at := p.mount(t)
	run(t, "dd", "if=/dev/urandom", "of="+at+"/file", "bs=1M", fmt.Sprintf("count=%d", megabytes), "conv=fsync")
	alone(t, "umount", at)
}

// mount mounts a volume as the CSI driver creates it.
func (p *networkPool) mount(t *testing.T) string {
	t.Helper()
	volume := p.name + "/pgdata/pvc-1"
	if !strings.Contains(run(t, "zfs", "list", "-H", "-o", "name", "-r", p.name), volume) {
		run(t, "zfs", "create", "-o", "mountpoint=legacy", volume)
	}
	at := filepath.Join("/mnt", p.name) // stays where its pool does
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, "mount", "-t", "zfs", volume, at)
	return at
}

func (p *networkPool) guid(t *testing.T) string {
	t.Helper()
	return run(t, "zpool", "get", "-Hp", "-o", "value", "guid", p.name)
}

// A pool on network devices is created as declared, released cleanly, and imported again by its
// GUID.
func TestNetworkStripeIsReleasedAndImportedAgain(t *testing.T) {
	p := serveNetwork(t, "netstripe", 1)
	s := p.declared(v1alpha1.VdevStripe, nil)
	n, counter := networkAgent(nil)
	ready(t, n, s)
	says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionTrue, v1alpha1.ReasonDevicesAttached)
	says(t, s, v1alpha1.ConditionDevicesHealthy, metav1.ConditionTrue, v1alpha1.ReasonHealthy)
	for property, want := range map[string]string{"cachefile": "none", "ashift": "12", "failmode": "wait"} {
		if got := run(t, "zpool", "get", "-Hp", "-o", "value", property, p.name); got != want {
			t.Errorf("%s is %s, want %s", property, got, want)
		}
	}
	status := run(t, "zpool", "status", "-P", p.name)
	for _, link := range []string{"/run/pgstorage/netstripe/a.disk0 ", "/run/pgstorage/netstripe/a.disk1 "} {
		if !strings.Contains(status, link) {
			t.Errorf("no %s in\n%s", link, status)
		}
	}
	guid := p.guid(t)
	if len(s.Status.NetworkDevices) != 2 || s.Status.NetworkDevices[0].State != "Attached" || s.Status.NetworkDevices[0].Size.Value() != 256<<20 {
		t.Errorf("status has %+v", s.Status.NetworkDevices)
	}
	p.write(t, 4)
	pass(t, n, s)
	if s.Status.FlushLatency == nil {
		t.Error("no flush latency")
	}
	before := total(counter)
	pass(t, n, s)
	if used := total(counter) - before; used > 5 {
		t.Errorf("a pass at rest ran %d commands", used)
	}
	if err := n.Release(t.Context(), s); !errors.Is(err, agent.ErrNotReleased) {
		t.Fatal(err)
	}
	if p.health(t) == "" || len(p.identifiers(t)) != 2 {
		t.Error("a pool with a volume was released")
	}
	alone(t, "zfs", "destroy", p.name+"/pgdata/pvc-1")
	if err := n.Release(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if left := p.identifiers(t); p.health(t) != "" || len(left) > 0 {
		t.Errorf("the pool is %q, and attached are %q", p.health(t), left)
	}
	n, _ = networkAgent(nil)
	ready(t, n, s)
	if now := p.guid(t); now != guid {
		t.Errorf("the pool's GUID was %s and is %s", guid, now)
	}
	// The agent does not create a pool again once its contents are gone.
	if err := n.Release(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, export := range []string{"disk0", "disk1"} {
		if err := os.Truncate(filepath.Join(p.servers[0].dir, "exports", export), 0); err != nil {
			t.Fatal(err)
		}
	}
	converge(t, n, s)
	says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionFalse, v1alpha1.ReasonExportShrunk)
}

// The agent attaches a server that was replaced while its pool was not imported, and releases
// its former devices.
func TestNetworkServerOfAnExportedPoolIsReplaceable(t *testing.T) {
	p := serveNetwork(t, "netidle", 1)
	s := p.declared(v1alpha1.VdevStripe, nil)
	n, _ := networkAgent(nil)
	ready(t, n, s)
	alone(t, "zpool", "export", p.name)
	p.servers[0].kill(t)
	n, _ = networkAgent(nil)
	p.servers[0].start(t)
	ready(t, n, s)
	if got := strings.Join(p.identifiers(t), " "); strings.Count(got, "@"+p.servers[0].life(t)) != 2 {
		t.Errorf("attached are %s", got)
	}
}

// A mirror keeps serving without one of its servers, and takes its devices back.
func TestNetworkMirrorServesWithoutOneServer(t *testing.T) {
	p := serveNetwork(t, "netmirror", 2)
	s := p.declared(v1alpha1.VdevMirror, nil)
	n, _ := networkAgent(nil)
	ready(t, n, s)
	p.write(t, 8)
	b := p.servers[1]
	former := b.life(t)
	b.kill(t)
	pass(t, n, s) // abandons the leg, which writes would wait for
	p.write(t, 8)
	pass(t, n, s)
	t.Log(run(t, "zpool", "status", "-P", p.name))
	says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionTrue, v1alpha1.ReasonPoolOnline)
	b.start(t)
	passUntil(t, n, s, func() bool {
		return p.health(t) == "ONLINE" && strings.Contains(run(t, "zpool", "status", p.name), "scrub repaired")
	})
	t.Log(run(t, "zpool", "status", "-P", p.name))
	ready(t, n, s)
	says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionTrue, v1alpha1.ReasonDevicesAttached)
	got := strings.Join(p.identifiers(t), " ")
	if strings.Count(got, "@"+b.life(t)) != 2 {
		t.Errorf("attached are %s, the former life was %s", got, former)
	}
	if status := run(t, "zpool", "status", p.name); !strings.Contains(status, "errors: No known data errors") {
		t.Error(status)
	}
}

// passUntil runs passes until a condition holds, for five minutes. Between them it lets ZFS finish
// a resilver or a scrub, which passes without a pause slow down many times.
func passUntil(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); {
		pass(t, n, s)
		if holds() {
			return
		}
		// It does not end on a suspended pool.
		_ = exec.CommandContext(t.Context(), "timeout", "30", "zpool", "wait", "-t", "resilver,scrub", s.Spec.Pool.Name).Run()
	}
	t.Fatalf("it never held: %+v\n%s", s.Status.Conditions, run(t, "zpool", "status", "-P", s.Spec.Pool.Name))
}

// hold holds the flushes of a server, as where its store is unavailable; free releases them.
func (s *server) hold(t *testing.T) (free func()) {
	t.Helper()
	path := filepath.Join(s.dir, holdFile)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	free = func() { _ = os.Remove(path) }
	t.Cleanup(free)
	return free
}

// reports writes a phase of the server's life.
func (s *server) reports(t *testing.T, phase zerofs.Phase) {
	t.Helper()
	if err := zerofs.WriteStatus(s.dir, zerofs.ServerStatus{Life: s.life(t), Phase: phase, Since: time.Now().UTC(), Reason: zerofs.ReasonStoreLost}); err != nil {
		t.Fatal(err)
	}
}

// writer writes files one after the other, each on disk before the next, and notes each
// that is.
type writer struct {
	at, notes string
	ended     chan error
}

// newWriter starts a writer of so many files below a folder. The test does not wait for it:
// where its disk never answers, it never ends.
func newWriter(t *testing.T, at string, files int) *writer {
	t.Helper()
	w := &writer{at: at, notes: filepath.Join(t.TempDir(), "notes"), ended: make(chan error, 1)}
	script := `i=1; while [ $i -le $3 ]; do dd if=/dev/urandom of=$1/file$i bs=64k count=4 conv=fsync 2>/dev/null || exit 1; sha256sum $1/file$i >>$2; i=$((i+1)); done`
	cmd := exec.Command("sh", "-c", script, "sh", at, w.notes, fmt.Sprint(files))
	if err := errors.Join(os.WriteFile(w.notes, nil, 0o600), cmd.Start()); err != nil {
		t.Fatal(err)
	}
	go func() { w.ended <- cmd.Wait() }()
	return w
}

// done counts the files that are on disk, as far as the writer knows.
func (w *writer) done(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(w.notes)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// waits checks that for so long no file reached the disk, except one that may have been under
// way.
func (w *writer) waits(t *testing.T, span time.Duration) {
	t.Helper()
	before := w.done(t)
	<-time.After(span)
	if now := w.done(t); now > before+1 {
		t.Errorf("%d files were acknowledged while nothing could be", now-before)
	}
}

func (w *writer) ends(t *testing.T, within time.Duration) {
	t.Helper()
	select {
	case err := <-w.ended:
		if err != nil {
			t.Fatalf("the writer failed after %d files: %v", w.done(t), err)
		}
	case <-time.After(within):
		t.Fatalf("the writer has not ended after %s, with %d files", within, w.done(t))
	}
}

// check that all the files are as they were written.
func (w *writer) check(t *testing.T) {
	t.Helper()
	run(t, "sha256sum", "--quiet", "-c", w.notes)
}

// A server is stopped cleanly under a pool with writes, and started again. No request fails,
// nothing is lost, and nothing is restarted.
func TestNetworkServerRestartFailsNoRequest(t *testing.T) {
	p := serveNetwork(t, "netreconnect", 1)
	s := p.declared(v1alpha1.VdevStripe, nil)
	n, _ := networkAgent(nil)
	ready(t, n, s)
	at, former := p.mount(t), p.identifiers(t)
	w := newWriter(t, at, 60)
	for _, agents := range []int{1, 2} { // the second time another agent than the first
		before := w.done(t)
		wait(t, "files are written", func() bool { return w.done(t) > before+5 })
		p.servers[0].stop(t)
		w.waits(t, 3*time.Second)
		pass(t, n, s)
		says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionFalse, v1alpha1.ReasonReconnecting)
		p.servers[0].start(t)
		if agents == 2 {
			n, _ = networkAgent(nil)
		}
		start, before := time.Now(), w.done(t)
		ready(t, n, s)
		wait(t, "files are written again", func() bool { return w.done(t) > before+1 })
		t.Logf("a file was written %s after the server was back", time.Since(start).Round(time.Millisecond))
		if got := s.Status.NetworkDevices[0].Incarnation; got != p.servers[0].life(t) {
			t.Errorf("connected to life %s, the server's is %s", got, p.servers[0].life(t))
		}
	}
	w.ends(t, 3*time.Minute)
	if now := p.identifiers(t); !slices.Equal(now, former) {
		t.Errorf("attached are %q, and were %q", now, former)
	}
	alone(t, "umount", at)
	alone(t, "zpool", "export", p.name)
	ready(t, n, s)
	run(t, "mount", "-t", "zfs", p.name+"/pgdata/pvc-1", at)
	w.check(t)
	alone(t, "umount", at)
	p.sound(t)
}

// sound checks that ZFS never saw an error.
func (p *networkPool) sound(t *testing.T) {
	t.Helper()
	status := run(t, "zpool", "status", "-P", p.name)
	for line := range strings.Lines(status) {
		if f := strings.Fields(line); strings.HasPrefix(strings.TrimSpace(line), "/run/pgstorage/") && strings.Join(f[1:], " ") != "ONLINE 0 0 0" {
			t.Error(line)
		}
	}
	if !strings.Contains(status, "errors: No known data errors") {
		t.Error(status)
	}
}

// A server holds its requests, as where its store is unavailable. The pool does not acknowledge
// what waits for a flush, nothing fails, and everything continues without help.
func TestNetworkFlushIsAcknowledgedOnlyByTheServer(t *testing.T) {
	p := serveNetwork(t, "netheld", 1)
	s := p.declared(v1alpha1.VdevStripe, nil)
	n, _ := networkAgent(nil)
	ready(t, n, s)
	at := p.mount(t)
	free := p.servers[0].hold(t)
	w := newWriter(t, at, 5)
	p.servers[0].reports(t, zerofs.PhaseHolding)
	w.waits(t, 15*time.Second) // longer than the kernel looks at what waits
	if w.done(t) > 0 {
		t.Errorf("%d files were acknowledged without a flush", w.done(t))
	}
	pass(t, n, s)
	says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionFalse, v1alpha1.ReasonStoreUnavailable)
	free()
	p.servers[0].reports(t, zerofs.PhaseServing)
	w.ends(t, 3*time.Minute)
	ready(t, n, s)
	w.check(t)
	alone(t, "umount", at)
	p.sound(t)
}

// A mirror drops a leg that stalls after requestTimeout. The leg returns without a scrub,
// because its server has everything that it acknowledged.
func TestNetworkMirrorDropsAStalledLegAndTakesItBack(t *testing.T) {
	p := serveNetwork(t, "netstall", 2)
	s := p.declared(v1alpha1.VdevMirror, func(d *v1alpha1.NodeNetworkDevices) { d.RequestTimeout = "3s" })
	n, _ := networkAgent(nil)
	ready(t, n, s)
	at := p.mount(t)
	free := p.servers[1].hold(t)
	w := newWriter(t, at, 10)
	p.servers[1].reports(t, zerofs.PhaseHolding)
	passUntil(t, n, s, func() bool { return strings.Contains(run(t, "zpool", "status", p.name), "DEGRADED") })
	w.ends(t, 3*time.Minute)
	converge(t, n, s)
	says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionTrue, v1alpha1.ReasonPoolOnline)
	if text := says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionFalse, v1alpha1.ReasonStoreUnavailable); !strings.Contains(text, "keeps serving without") {
		t.Errorf("says %q", text)
	}
	free()
	p.servers[1].reports(t, zerofs.PhaseServing)
	passUntil(t, n, s, func() bool {
		return p.health(t) == "ONLINE" && strings.Contains(run(t, "zpool", "status", p.name), "resilvered")
	})
	ready(t, n, s)
	if status := run(t, "zpool", "status", p.name); strings.Contains(status, "scrub") {
		t.Error(status)
	}
	w.check(t)
	alone(t, "umount", at)
}

// The servers of a mirror are stopped cleanly and started again, one after the other, during
// writes. The agent reconnects each leg, and ZFS notices nothing.
func TestNetworkMirrorDoesNotNoticeAnUpgrade(t *testing.T) {
	long.Skip(t, "make test-vm")
	p := serveNetwork(t, "netupgrade", 2)
	s := p.declared(v1alpha1.VdevMirror, nil)
	n, _ := networkAgent(nil)
	ready(t, n, s)
	at := p.mount(t)
	for _, server := range p.servers {
		w := newWriter(t, at, 10)
		server.stop(t)
		pass(t, n, s)
		says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionFalse, v1alpha1.ReasonReconnecting)
		server.start(t)
		passUntil(t, n, s, func() bool { return w.done(t) == 10 })
		ready(t, n, s)
		if status := run(t, "zpool", "status", p.name); strings.Contains(status, "scrub") || strings.Contains(status, "resilver") {
			t.Error(status)
		}
		w.check(t)
	}
	alone(t, "umount", at)
}

// Requests to a leg of a mirror fail at once when its server was killed, without waiting for
// requestTimeout.
func TestNetworkMirrorDropsAKilledLegAtOnce(t *testing.T) {
	long.Skip(t, "make test-vm")
	p := serveNetwork(t, "netdrop", 2)
	s := p.declared(v1alpha1.VdevMirror, func(d *v1alpha1.NodeNetworkDevices) { d.RequestTimeout = "10m" })
	n, _ := networkAgent(nil)
	ready(t, n, s)
	at := p.mount(t)
	b := p.servers[1]
	signalled(t, b.cmd.Process, syscall.SIGSTOP)
	w := newWriter(t, at, 10)
	wait(t, "requests wait for the server", func() bool {
		return slices.ContainsFunc([]int{0, 1, 2, 3}, func(i int) bool {
			f := strings.Fields(run(t, "cat", fmt.Sprintf("/sys/block/nbd%d/inflight", i)))
			return len(f) == 2 && f[1] != "0"
		})
	})
	b.kill(t)
	start := time.Now()
	passUntil(t, n, s, func() bool { return w.done(t) > 1 })
	t.Logf("a file was written after %s", time.Since(start).Round(time.Millisecond))
	w.ends(t, 3*time.Minute)
	b.start(t)
	passUntil(t, n, s, func() bool {
		return p.health(t) == "ONLINE" && strings.Contains(run(t, "zpool", "status", p.name), "scrub repaired")
	})
	ready(t, n, s)
	w.check(t)
	alone(t, "umount", at)
}

// Devices grow while no volume of their pool is mounted.
func TestNetworkDevicesGrowWhileNothingIsMounted(t *testing.T) {
	long.Skip(t, "make test-vm")
	p := serveNetwork(t, "netgrow", 1)
	s := p.declared(v1alpha1.VdevStripe, nil)
	n, _ := networkAgent(nil)
	ready(t, n, s)
	size := func() string { return run(t, "zpool", "list", "-Hp", "-o", "size", p.name) }
	small, guid := size(), p.guid(t)
	at := p.mount(t)
	s.Spec.NetworkDevices.ExportSize = resource.MustParse("512Mi")
	converge(t, n, s)
	if text := says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionTrue, v1alpha1.ReasonGrowing); !strings.Contains(text, "no volume of the pool is mounted") {
		t.Errorf("says %q", text)
	}
	alone(t, "umount", at)
	for range 3 {
		converge(t, n, s)
	}
	says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionTrue, v1alpha1.ReasonDevicesAttached)
	if now := size(); now == small || p.guid(t) != guid {
		t.Errorf("the pool has %s bytes and had %s", now, small)
	}
	ready(t, n, s)
}

// Caches and logs on the node's own disks come and go while the pool is in use. They take only
// blank disks.
func TestNetworkLocalDevicesComeAndGoInUse(t *testing.T) {
	long.Skip(t, "make test-vm")
	p := serveNetwork(t, "netlocal", 1)
	erase(t, "none", 0, 1, 2)
	s := p.declared(v1alpha1.VdevStripe, nil)
	n, _ := networkAgent(nil)
	ready(t, n, s)
	device := func(i int) v1alpha1.ZFSDevice { return v1alpha1.ZFSDevice{Path: disk(i)} }
	s.Spec.NetworkDevices.Caches = []v1alpha1.ZFSDevice{device(0)}
	s.Spec.NetworkDevices.Logs = []v1alpha1.ZFSDevice{device(1), device(2)}
	ready(t, n, s)
	status := run(t, "zpool", "status", "-P", p.name)
	if !strings.Contains(status, "mirror-") || !strings.Contains(status, disk(0)) {
		t.Error(status)
	}
	alone(t, "zpool", "export", p.name)
	ready(t, n, s)
	s.Spec.NetworkDevices.Caches, s.Spec.NetworkDevices.Logs = nil, nil
	ready(t, n, s)
	if status := run(t, "zpool", "status", "-P", p.name); strings.Contains(status, "virtio-disk") {
		t.Error(status)
	}
	text(3, "database")(t, disk(3))
	erase(t, "none", 3)
	s.Spec.NetworkDevices.Caches = []v1alpha1.ZFSDevice{device(3)}
	converge(t, n, s)
	says(t, s, v1alpha1.ConditionDevicesHealthy, metav1.ConditionFalse, v1alpha1.ReasonDeviceNotBlank)
	says(t, s, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
}
