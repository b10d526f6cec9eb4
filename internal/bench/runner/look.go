package runner

import (
	"context"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/runner/machine"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// observed is what was seen on one side of a run.
type observed struct {
	at time.Time
	// own machine, and the server's, which only a superuser may look at.
	own, server machine.Snapshot
	// directory of the server's data; empty where it is not known.
	directory string
	// counters of the server; nil if the server did not report them.
	counters *counters
}

// lookBefore a run: the clock last, so that what was looked at is not in its time.
func (r *execution) lookBefore(ctx context.Context) observed {
	var o observed
	r.lookAtServer(ctx, &o)
	o.own = r.lookAtOwn()
	o.at = r.Clock.Now()
	return o
}

// lookAfter a run: the clock first.
func (r *execution) lookAfter(ctx context.Context) observed {
	o := observed{at: r.Clock.Now(), own: r.lookAtOwn()}
	r.lookAtServer(ctx, &o)
	return o
}

// lookAtOwn machine. It skips files that cannot be read.
func (r *execution) lookAtOwn() machine.Snapshot {
	if r.Files == nil {
		return machine.Snapshot{}
	}
	texts := map[string]string{}
	for _, path := range machine.Paths() {
		if text, err := readText(r.Files, strings.TrimPrefix(path, "/")); err == nil {
			texts[path] = text
		}
	}
	return machine.Read(texts)
}

// readText of a file of the kernel, whose size is unknown.
func readText(files fs.FS, path string) (string, error) {
	f, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, machine.MaxText))
	return string(raw), err
}

// lookAtServer reads the counters of the server. An error does not fail the benchmark:
// the facts count as not observed.
func (r *execution) lookAtServer(ctx context.Context, o *observed) {
	var err error
	if o.counters, err = r.db.counters(ctx, r.server.Major); err != nil {
		r.Log.Warn("the server's counters were not read", "error", err)
	}
	texts, directory, err := r.files(ctx)
	if err != nil {
		r.Log.Warn("the server's machine was not looked at", "error", err)
	}
	o.server, o.directory = machine.Read(texts), directory
}

// facts of a run: what happened between two looks.
func (r *execution) facts(before, after observed, m measured, o pgbench.RunOptions) validity.Facts {
	wall := after.at.Round(0).Sub(before.at.Round(0))
	f := validity.Facts{Duration: after.at.Sub(before.at), WallDuration: &wall, Flush: r.flush}
	f.Workload.Tier = r.tier
	if m.cpu > 0 {
		f.Client = after.own.Client(m.cpu, o.Jobs, r.Processors)
	}
	f.Pods, f.Nodes = between(before, after, r.Spec.DeclaredCPU())
	f.Workload.Writes = r.writes(before, after, f.Duration)
	if c := after.counters; c != nil {
		f.Dataset = &validity.Dataset{Size: c.Size, SharedBuffers: c.SharedBuffers}
		f.Dataset.Cache, f.Dataset.CacheIsARC = after.server.Cache(c.SharedBuffers, after.directory)
	}
	f.Server = beside(before.counters, after.counters)
	return f
}

// between two looks at the pods of server and runner, and at their nodes, which may be
// one. The cluster declares a CPU limit for the server's pod only.
func between(before, after observed, declared *float64) (pods []validity.Pod, nodes []validity.Node) {
	seen := map[string]bool{}
	for _, side := range []struct {
		before, after machine.Snapshot
		declared      *float64
	}{{before.server, after.server, declared}, {before.own, after.own, nil}} {
		if pod, ok := machine.Pod(side.before, side.after); ok {
			pod.Declared = side.declared
			pods = append(pods, pod)
		}
		if node, ok := machine.Node(side.before, side.after); ok && !seen[side.after.Boot] {
			nodes, seen[side.after.Boot] = append(nodes, node), true
		}
	}
	return pods, nodes
}

// reportedEvery is how often, at the latest, a busy session reports its changes.
const reportedEvery = 2 * time.Second

// writes says whether the workload changes anything: of the built-in scripts that is
// known, and of others it is counted.
func (r *execution) writes(before, after observed, took time.Duration) bool {
	switch r.Spec.Builtin() {
	case pgbench.SelectOnly:
		return false
	case "":
		// What was too short to be counted is not taken for a workload that only reads.
		return before.counters == nil || after.counters == nil || took < reportedEvery || after.counters.Changed != before.counters.Changed
	}
	return true
}

// beside is what the server did beside a run. Nil where it was not asked on both sides,
// or was restarted or had its statistics reset between them.
func beside(before, after *counters) *validity.Server {
	if before == nil || after == nil || !before.Started.Equal(after.Started) || after.Checkpoints < before.Checkpoints {
		return nil
	}
	s := &validity.Server{
		Checkpoints:       after.Checkpoints - before.Checkpoints,
		CheckpointTimeout: after.CheckpointTimeout,
		Backups:           union(before.Backups, after.Backups),
		Autovacuums:       union(before.Vacuuming, after.Vacuuming),
	}
	for table, n := range after.Autovacuums {
		if n > before.Autovacuums[table] {
			s.Autovacuums = union(s.Autovacuums, []string{table})
		}
	}
	return s
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// settings that the run was measured with, as they were read back after it.
func (r *execution) settings(after observed, result *pgbench.Result) fingerprint.Settings {
	s := fingerprint.Settings{}
	set := func(group fingerprint.Group, name, value string) {
		if value != "" {
			s.Set(group, name, value)
		}
	}
	for group, settings := range r.Spec.Settings {
		for name, value := range settings {
			set(group, name, value)
		}
	}
	set(fingerprint.Versions, "postgres", r.server.Version)
	set(fingerprint.Versions, "pgbench", result.Version)
	set(fingerprint.Kernel, "release", after.server.Kernel)
	if quota := after.server.Processors; quota != nil {
		set(fingerprint.Node, "CPU limit", strconv.FormatFloat(*quota, 'g', 3, 64))
	}
	if c := after.counters; c != nil {
		for _, p := range c.Settings {
			set(fingerprint.Postgres, p.Name, p.Value)
		}
		set(fingerprint.Postgres, "wal_sync_method", c.WALSyncMethod)
	}
	if r.Spec.Pgbench.ColdCache {
		set(fingerprint.Storage, "caches", "emptied before the run")
	}
	for name, value := range volumes(after.server, after.directory) {
		set(fingerprint.Storage, name, value)
	}
	return s
}

// walDirectory is where CloudNativePG mounts a volume of its own for the WAL.
const walDirectory = "/var/lib/postgresql/wal"

// volumes of a server, by the file systems that they are mounted with.
func volumes(server machine.Snapshot, data string) map[string]string {
	out := map[string]string{}
	if mount, ok := server.Under(data); ok && data != "" {
		out["data filesystem"], out["data mount options"] = mount.Type, mount.Options
	}
	if mount, ok := server.Under(walDirectory); ok && mount.Path == walDirectory {
		out["wal filesystem"], out["wal mount options"] = mount.Type, mount.Options
	}
	return out
}
