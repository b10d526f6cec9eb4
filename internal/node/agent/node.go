// Package agent reads one node's storage and changes it: the hands of the agent.
// What to change, package nodestorage decides.
package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

// Node is one machine, whose / is at Root.
type Node struct {
	Root    string
	ZFS     *zfs.Client
	Devices *blockdev.Client
	Kernel  zfs.Kernel
	Clock   clock.PassiveClock
	NBD     NBD
	// Exports of the server with a 9P socket.
	Exports func(socket string) Exports
	// Restart the machine at once.
	Restart func() error
	// DryRun, when given, is told what would be written, and it is not; commands are
	// the Runner's.
	DryRun func(argv []string)

	versions zfs.Versions
	trends   map[string]*decide.Trend
	// flushed of each PgNodeStorage's devices, at the last pass.
	flushed   map[string]map[string]flushes
	latencies map[string]time.Duration
	// answered by devices, and those that were dropped, by their identifiers.
	answered map[string]answered
	dropped  map[string]bool
}

// New returns the machine whose / is at root, reached by a runner.
func New(root string, runner host.Runner) *Node {
	if root == "" {
		root = "/"
	}
	files := os.DirFS(root)
	return &Node{
		Root:    root,
		ZFS:     &zfs.Client{Runner: runner, SearchDirs: []string{"/dev/disk/by-id", "/dev"}},
		Devices: &blockdev.Client{Runner: runner, FS: files, Open: blockdev.OpenExclusive(root)},
		Kernel:  zfs.Kernel{FS: files},
		Clock:   clock.RealClock{},
		NBD:     nbd.New(strings.TrimSuffix(root, "/")),
		Exports: func(socket string) Exports { return &exports.Client{Socket: socket} },
		Restart: restartBySysRq(root),
		trends:  map[string]*decide.Trend{},
		flushed: map[string]map[string]flushes{},

		latencies: map[string]time.Duration{},
		answered:  map[string]answered{},
		dropped:   map[string]bool{},
	}
}

// Result of a pass.
type Result struct {
	// Status as it was read before anything was changed, without conditions.
	Status   v1alpha1.PgNodeStorageStatus
	Outcomes []outcome.Outcome
	// Changed says that something was changed, so that another pass is due to read
	// it back.
	Changed bool
	// Drift that was repaired, in words.
	Drift []string
	// Restarting says that the machine is restarted a while later.
	Restarting bool
	// Soon: the network devices wait for what may be there within seconds, so that the
	// next pass should not be long in coming.
	Soon bool
	// Seen is what was read, for metrics.
	Seen decide.Seen
}

// Pass reads the node, judges, and makes at most one kind of change: to the network
// devices, import, make the pool, or set what differs. A pass on a node that is as
// declared runs five commands. The next pass reads back; nothing is believed before.
func (n *Node) Pass(ctx context.Context, s *v1alpha1.PgNodeStorage) (Result, error) {
	var net *decide.Network
	if s.Spec.NetworkDevices != nil {
		var err error
		if net, err = n.observeNetwork(ctx, s); err != nil {
			return n.passUnread(ctx, s, nil, err), err
		}
	}
	s, seen, err := n.observeKnown(ctx, s, net)
	if err != nil {
		return n.passUnread(ctx, s, net, err), err
	}
	d := n.decide(s, seen)
	fullAt := n.fullAt(s, seen)
	r := Result{Seen: seen, Status: decide.Status(s, seen, fullAt)}
	failed := n.act(ctx, s, d, &r)
	r.Soon = d.network.Hold
	if net != nil {
		networkFailed := failed
		if d.network.None() {
			networkFailed = nil
		} else {
			failed = nil
		}
		r.Outcomes = append(r.Outcomes, networkOutcome(d.network, networkFailed))
	}
	r.Outcomes = append(r.Outcomes,
		poolOutcome(d.pool, failed),
		decide.PropertiesOutcome(s, d.pool.Outcome, d.changes, failed),
		decide.DevicesOutcome(s, seen),
		decide.CapacityOutcome(s, seen, n.Clock.Now(), fullAt),
	)
	if o := decide.Complete(r.Status, seen); o != nil {
		r.Outcomes = append(r.Outcomes, *o)
	}
	if n.DryRun != nil {
		r.onlyPrinted()
	}
	return r, nil
}

// observeKnown observes with what the node has recorded of its pool, and records it.
func (n *Node) observeKnown(ctx context.Context, s *v1alpha1.PgNodeStorage, net *decide.Network) (*v1alpha1.PgNodeStorage, decide.Seen, error) {
	made, err := n.made(s).load()
	if err != nil {
		return s, decide.Seen{}, err
	}
	recorded := made.GUID
	if net != nil {
		recorded = net.Record.PoolGUID
	}
	s = decide.WithKnownPool(s, recorded)
	seen, err := n.observe(ctx, s, net)
	if err != nil {
		return s, seen, err
	}
	seen.Made = made
	return s, seen, n.rememberMade(s, &seen)
}

// decision of a pass: what is due, the first of it first.
type decision struct {
	network decide.NetworkStep
	pool    decide.PoolStep
	local   decide.LocalStep
	changes decide.Changes
}

func (n *Node) decide(s *v1alpha1.PgNodeStorage, seen decide.Seen) decision {
	d := decision{pool: decide.Pool(s, seen)}
	if seen.Network != nil {
		d.network = decide.NetworkStepOf(s, seen, n.Clock.Now())
		d.local = decide.LocalDevices(s, seen)
	}
	if d.pool.Outcome.Kind == outcome.Done {
		d.changes = decide.Properties(s, seen)
	}
	return d
}

// onlyPrinted makes the result that of a dry run: nothing was changed, and no outcome
// says so.
func (r *Result) onlyPrinted() {
	r.Changed, r.Drift = false, nil
	for i := range r.Outcomes {
		if r.Outcomes[i].Kind == outcome.Wait {
			r.Outcomes[i].Message += " (dry run: the agent's log says what it would do, and nothing is done)"
		}
	}
}

// act makes the change that is due, if any.
func (n *Node) act(ctx context.Context, s *v1alpha1.PgNodeStorage, d decision, r *Result) error {
	switch {
	case !d.network.None():
		err := n.actNetwork(ctx, s, r.Seen, d.network)
		r.Changed = d.network.Intend == nil && d.network.Restart == nil && !stillUsed(d.network, err)
		r.Restarting = d.network.Intend != nil && err == nil && n.DryRun == nil
		return err
	case d.network.Outcome.Kind == outcome.Invalid, d.network.Hold:
		return nil // whatever is wrong with the devices, more changes do not mend it
	}
	return n.actOnPool(ctx, s, d, r)
}

func (n *Node) actOnPool(ctx context.Context, s *v1alpha1.PgNodeStorage, d decision, r *Result) error {
	switch {
	case d.pool.Import != 0:
		r.Changed = true
		if err := n.noteImport(s, r.Seen.Network); err != nil {
			return err
		}
		if d.pool.TakeOver {
			return n.importer(s).TakeOver(ctx, d.pool.Import)
		}
		return n.importer(s).Import(ctx, d.pool.Import)
	case d.pool.Create != nil:
		r.Changed = true
		return n.create(ctx, s, r.Seen, d.pool.Create)
	case !d.local.None():
		r.Changed = true
		return n.actLocal(ctx, s, r.Seen, d.local)
	case d.changes.None():
		return nil
	case s.Spec.DriftPolicy == v1alpha1.DriftReport && len(d.changes.Drift) > 0:
		return nil
	}
	r.Changed = true
	if err := n.set(ctx, s.Spec.Pool.Name, d.changes); err != nil {
		return err
	}
	r.Drift = d.changes.Drift
	return nil
}

// create notes each wipe, wipes what is named for it, looks again at every device, and
// makes the pool. ZFS itself refuses devices that are in use.
func (n *Node) create(ctx context.Context, s *v1alpha1.PgNodeStorage, seen decide.Seen, l *decide.Layout) error {
	if err := n.consent(s, &seen, decide.DevicesOf(s.Spec.Pool.Create), false); err != nil {
		return err
	}
	if err := n.wipe(ctx, seen, l.Wipe); err != nil {
		return err
	}
	return n.ZFS.CreatePool(ctx, l.Spec)
}

// wipe devices, each of which must be the one that was looked at.
func (n *Node) wipe(ctx context.Context, seen decide.Seen, paths []string) error {
	for _, path := range paths {
		if _, err := n.Devices.Wipe(ctx, path, seen.Signatures[path].Is); err != nil {
			return err
		}
	}
	return nil
}

// set makes every change that the node takes: one that it refuses is no reason to
// leave out the others. A command that does not end is.
func (n *Node) set(ctx context.Context, pool string, c decide.Changes) error {
	var todo []func() error
	for _, name := range slices.Sorted(maps.Keys(c.Pool)) {
		todo = append(todo, func() error { return n.ZFS.SetPool(ctx, pool, map[string]string{name: c.Pool[name]}) })
	}
	for _, d := range c.Datasets {
		change := n.ZFS.SetDataset
		if d.Create {
			change = n.ZFS.CreateDataset
		}
		todo = append(todo, func() error { return change(ctx, d.Name, d.Properties) })
	}
	if c.ARCMax != 0 {
		todo = append(todo, func() error { return n.setARCMax(c.ARCMax) })
	}
	var failed []error
	for _, do := range todo {
		err := do()
		failed = append(failed, err)
		if errors.Is(err, host.ErrStuck) || errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// setARCMax writes the module's parameter, which holds until the module is loaded
// again; the agent then sets it again. The module takes any number and heeds only one
// that it finds sensible.
func (n *Node) setARCMax(bytes uint64) error {
	path, text := filepath.Join(n.Root, "sys/module/zfs/parameters/zfs_arc_max"), strconv.FormatUint(bytes, 10)
	if n.DryRun != nil {
		n.DryRun([]string{"write", text, path})
		return nil
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("set zfs_arc_max: %w", err)
	}
	arc, err := n.Kernel.ARC()
	if err == nil && arc.Max != bytes {
		err = fmt.Errorf("arcMax of %d bytes is not heeded by ZFS, which keeps to %d: it must be more than the ARC's minimum (%d bytes) and 64Mi, and less than the node's memory", bytes, arc.Max, arc.Min)
	}
	return err
}

// poolOutcome names what the node answered to an import or a creation that it
// refused.
func poolOutcome(step decide.PoolStep, failed error) outcome.Outcome {
	if failed == nil || step.Outcome.Kind == outcome.Done {
		return step.Outcome
	}
	return outcome.InvalidBecause(v1alpha1.ConditionPoolReady, v1alpha1.ReasonHostCommandFailed,
		fmt.Sprintf("%s, but the node refused, and it is tried again every minute: %v", step.Outcome.Message, failed))
}

// unreadOutcomes say of every condition that it is not known, so that none is taken
// for what it was and none is lost.
func unreadOutcomes(s *v1alpha1.PgNodeStorage, pool outcome.Outcome) []outcome.Outcome {
	return []outcome.Outcome{
		pool,
		decide.PropertiesOutcome(s, pool, decide.Changes{}, nil),
		decide.DevicesOutcome(s, decide.Seen{}),
		decide.CapacityOutcome(s, decide.Seen{}, time.Time{}, time.Time{}),
	}
}

func unread(err error) outcome.Outcome {
	if errors.Is(err, host.ErrStuck) || errors.Is(err, context.DeadlineExceeded) {
		return outcome.InvalidBecause(v1alpha1.ConditionPoolReady, v1alpha1.ReasonPoolSuspended,
			fmt.Sprintf("a command on the node does not end, which is how a suspended pool or a dead device looks; see zpool status and dmesg there: %v", err))
	}
	o := outcome.WaitFor(v1alpha1.ConditionPoolReady, v1alpha1.ReasonHostCommandFailed, fmt.Sprintf("the node could not be read: %v", err))
	o.Unknown = true
	return o
}

func (n *Node) fullAt(s *v1alpha1.PgNodeStorage, seen decide.Seen) time.Time {
	allocated, ok := seen.Pool["allocated"].Number()
	if !ok {
		return time.Time{}
	}
	trend := n.trends[s.Name]
	if trend == nil {
		trend = &decide.Trend{}
		n.trends[s.Name] = trend
	}
	trend.Add(n.Clock.Now(), allocated)
	free, _ := seen.Pool["free"].Number()
	return decide.Foreseen(s, n.Clock.Now(), trend.FullAt(free))
}

// forget what is remembered of a PgNodeStorage that is gone.
func (n *Node) forget(name string) {
	delete(n.trends, name)
	delete(n.flushed, name)
	delete(n.latencies, name)
}
