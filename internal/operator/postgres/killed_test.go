//go:build linux

package postgres

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// group is a memory control group of cgroup v1 or v2.
type group struct{ dir, limit, events string }

// newGroup with a limit in bytes, or a skip where this machine lets no process make one.
func newGroup(t *testing.T, limit int64) group {
	t.Helper()
	name := "pgstorage-" + strconv.Itoa(os.Getpid())
	g := group{filepath.Join("/sys/fs/cgroup/memory", name), "memory.limit_in_bytes", "memory.oom_control"}
	if _, err := os.Stat(filepath.Dir(g.dir)); err != nil {
		g = group{filepath.Join("/sys/fs/cgroup", name), "memory.max", "memory.events"}
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	t.Cleanup(func() { g.remove(t) })
	if err := os.WriteFile(filepath.Join(g.dir, g.limit), strconv.AppendInt(nil, limit, 10), 0o600); err != nil {
		t.Skipf("no memory limit can be set here: %v", err)
	}
	return g
}

// remove the group. The kernel refuses while a process that was killed has not ended yet.
func (g group) remove(t *testing.T) {
	t.Helper()
	var refused error
	if err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, 30*time.Second, true,
		func(context.Context) (bool, error) {
			refused = os.Remove(g.dir)
			return refused == nil, nil
		}); err != nil {
		left, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
		t.Errorf("%v, with the processes %q", refused, left)
	}
}

// take in a process, with what it starts from now on.
func (g group) take(t *testing.T, pid string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, "cgroup.procs"), []byte(pid), 0o600); err != nil {
		t.Fatal(err)
	}
}

// kills that the kernel has made because of the limit.
func (g group) kills(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(g.dir, g.events))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "oom_kill" {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Skip("the kernel does not count what it kills")
	return 0
}

// The default of 512Mi serves pgbench -S with all its connections in that much memory,
// less what the instance manager is counted with. The 300 connections of pgtune's class
// are killed, which proves that the limit holds.
func TestDefaultShapeSurvivesAllConnections(t *testing.T) {
	r := startReal(t)
	in := roomy(r.major)
	in.MemoryBytes, in.CPUs, in.Instances = 512*mB, 1, 1
	settings, ok := settingsOf(in, "fsync", "on")
	if !ok {
		t.Fatal("refused")
	}
	for _, c := range []struct {
		name, connections, workers string
		killed                     bool
	}{{"computed", settings["max_connections"], settings["max_parallel_workers"], false}, {"pgtune", "300", "32", true}} {
		t.Run(c.name, func(t *testing.T) {
			settings["max_connections"] = c.connections
			g := newGroup(t, in.MemoryBytes-overhead*3/4) // a quarter of it are the server's own processes
			if n := pgbenchAll(t, r, g, settings); n > 0 != c.killed {
				t.Errorf("%d processes were killed with %s connections", n, c.connections)
			}
		})
	}
}

// pgbenchAll serves as many clients as ordinary users can have, and returns what the
// kernel killed.
func pgbenchAll(t *testing.T, r accepting, g group, settings map[string]string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	settings["restart_after_crash"] = "off" // as CloudNativePG sets it
	r.configure(t, settings)
	if err := r.Up(ctx); err != nil {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(filepath.Join(r.Data, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	postmaster, _, _ := bytes.Cut(pid, []byte("\n"))
	g.take(t, string(postmaster))
	defer func() {
		if err := r.Down(context.WithoutCancel(ctx)); err != nil { // it was killed, and left its lock
			_ = os.Remove(filepath.Join(r.Data, "postmaster.pid"))
		}
	}()
	if err := r.Run(ctx, "pgbench", "-h", r.Dir, "-U", "postgres", "-i", "-q", "-s", "15", "postgres"); err != nil {
		t.Fatal(err)
	}
	most, err := strconv.Atoi(settings["max_connections"])
	if err != nil {
		t.Fatal(err)
	}
	err = r.Run(ctx, "pgbench", "-h", r.Dir, "-U", "postgres", "-n", "-S", "-c", strconv.Itoa(most-3), "-j", "2", "-T", "15", "postgres")
	kills := g.kills(t)
	if err != nil && kills == 0 {
		t.Fatal(err)
	}
	return kills
}
