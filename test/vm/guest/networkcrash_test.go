//go:build guest

package guest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
	"github.com/pgstorage/pgstorage/internal/testing/long"
)

// networkCrash is the job of a child: an agent of a pool on network devices. It is killed right
// after its change number At: a command, a device or an export. Number 0 kills at no change.
type networkCrash struct {
	Pool, Servers, Dir string
	At                 int
	// LetGo releases the storage, instead of converging it.
	LetGo bool
}

const networkCrashEnv = "PGSTORAGE_NETWORK_CRASH"

func (c networkCrash) declared() *v1alpha1.PgNodeStorage {
	p := networkPool{name: c.Pool, dir: c.Servers, servers: []*server{{dir: filepath.Join(c.Servers, "a")}}}
	return p.declared(v1alpha1.VdevStripe, nil)
}

func (c networkCrash) kept() string { return filepath.Join(c.Dir, "status") }

// TestNetworkCrashChild is the agent that is killed.
func TestNetworkCrashChild(t *testing.T) {
	text := os.Getenv(networkCrashEnv)
	if text == "" {
		return
	}
	var c networkCrash
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	m := &mortalNetwork{crash: c}
	n, _ := networkAgent(nil)
	m.Runner, m.NBD, m.files = &host.Exec{}, n.NBD, n.Exports
	n.ZFS.Runner, n.Devices.Runner, n.NBD = m, m, m
	n.Exports = func(socket string) agent.Exports { return mortalExports{m.files(socket), m} }
	s := c.declared()
	if data, err := os.ReadFile(c.kept()); err == nil {
		if err := json.Unmarshal(data, &s.Status); err != nil {
			t.Fatal(err)
		}
	}
	if c.LetGo {
		if err := n.Release(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		return
	}
	for range 15 {
		result, err := n.Pass(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		result.Status.Conditions = status.Conditions(s.Status.Conditions, s.Generation, metav1.Now(), result.Outcomes)
		s.Status = result.Status
		data, err := json.Marshal(s.Status)
		if err = errors.Join(err, os.WriteFile(c.kept(), data, 0o600)); err != nil {
			t.Fatal(err)
		}
		if !result.Changed {
			return
		}
	}
	t.Fatalf("fifteen passes did not converge: %+v", s.Status.Conditions)
}

// mortalNetwork dies after a change, and records each change.
type mortalNetwork struct {
	host.Runner
	agent.NBD
	files func(socket string) agent.Exports
	crash networkCrash
	count int
}

func (m *mortalNetwork) changed(what string, err error) {
	if err != nil {
		return
	}
	m.count++
	_ = crash{Dir: m.crash.Dir}.note("changes", []string{what})
	if m.count == m.crash.At {
		die()
	}
}

func (m *mortalNetwork) Change(ctx context.Context, program string, args ...string) (host.Output, error) {
	out, err := m.Runner.Change(ctx, program, args...)
	m.changed(strings.Join(append([]string{program}, args...), " "), err)
	return out, err
}

func (m *mortalNetwork) Attach(ctx context.Context, d nbd.Device) (string, error) {
	path, err := m.NBD.Attach(ctx, d)
	m.changed("attach "+d.Export, err)
	return path, err
}

func (m *mortalNetwork) Reconnect(ctx context.Context, d nbd.Device, confirm func() error) error {
	err := m.NBD.Reconnect(ctx, d, confirm)
	m.changed("reconnect "+d.Export, err)
	return err
}

func (m *mortalNetwork) Disconnect(ctx context.Context, index int, identifier string) error {
	err := m.NBD.Disconnect(ctx, index, identifier)
	m.changed("disconnect", err)
	return err
}

// exporter is another name for the interface, which has a method Exports.
type exporter = agent.Exports

type mortalExports struct {
	exporter
	m *mortalNetwork
}

func (e mortalExports) Create(ctx context.Context, export string, bytes uint64) error {
	err := e.exporter.Create(ctx, export, bytes)
	e.m.changed("create "+export, err)
	return err
}

// run runs the child, and reports whether it was killed.
func (c networkCrash) run(t *testing.T) (killed bool) {
	t.Helper()
	return runChild(t, "TestNetworkCrashChild", networkCrashEnv, c)
}

// An agent is killed after any change, while it creates a pool on network devices, releases one
// or takes one back. The next agent converges: the same pool, created once, on two devices.
func TestNetworkNextAgentRecoversFromACrashAfterEveryChange(t *testing.T) {
	long.Skip(t, "make test-vm")
	killed := true
	for at := 1; killed; at++ {
		t.Run(fmt.Sprintf("making, change %d", at), func(t *testing.T) { killed = crashMaking(t, at) })
		if !killed && at < 6 {
			t.Errorf("only %d changes made the pool", at-1)
		}
	}
	p := serveNetwork(t, "netcrash", 1)
	c := networkCrash{Pool: p.name, Servers: p.dir, Dir: t.TempDir()}
	c.run(t)
	guid := p.guid(t)
	for _, letGo := range []bool{true, false} {
		killed = true
		for at := 1; killed; at++ {
			c.LetGo, c.At = letGo, at
			t.Run(fmt.Sprintf("let go %v, change %d", letGo, at), func(t *testing.T) { killed = p.crashBetween(t, c, guid) })
			if !killed && at < 3 {
				t.Errorf("let go %v: only %d changes", letGo, at-1)
			}
		}
	}
}

// crashMaking kills while the pool is created; every other time the status is lost too.
func crashMaking(t *testing.T, at int) (killed bool) {
	p := serveNetwork(t, fmt.Sprintf("netcrash%d", at), 1)
	c := networkCrash{Pool: p.name, Servers: p.dir, Dir: t.TempDir(), At: at}
	killed = c.run(t)
	was := ""
	if p.health(t) != "" {
		was = p.guid(t)
	}
	if at%2 == 0 {
		_ = os.Remove(c.kept())
	}
	c.At = 0
	c.run(t)
	p.whole(t, c, was)
	return killed
}

// crashBetween kills while the pool is released, or while it is taken back.
func (p *networkPool) crashBetween(t *testing.T, c networkCrash, guid string) (killed bool) {
	before, after := c, c
	before.LetGo, before.At, after.At = !c.LetGo, 0, 0
	before.run(t)
	killed = c.run(t)
	after.run(t)
	if left := p.identifiers(t); c.LetGo && (p.health(t) != "" || len(left) > 0) {
		t.Errorf("the pool is %q, attached are %q", p.health(t), left)
	}
	if !c.LetGo {
		p.whole(t, c, guid)
	}
	return killed
}

func (p *networkPool) whole(t *testing.T, c networkCrash, guid string) {
	t.Helper()
	if now := p.health(t); now != "ONLINE" {
		t.Fatalf("killed after change %d: the pool is %q", c.At, now)
	}
	if now := p.guid(t); guid != "" && now != guid {
		t.Errorf("the pool's GUID was %s and is %s", guid, now)
	}
	if got := p.identifiers(t); len(got) != 2 {
		t.Errorf("attached are %q", got)
	}
	made := 0
	for _, l := range (crash{Dir: c.Dir}).lines(t, "changes") {
		if strings.HasPrefix(l, "zpool create ") {
			made++
		}
	}
	if made != 1 {
		t.Errorf("zpool create succeeded %d times", made)
	}
	s := c.declared()
	n, _ := networkAgent(nil)
	ready(t, n, s)
}
