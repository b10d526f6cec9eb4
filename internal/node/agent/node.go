// Package agent reads one node's storage and changes it: the hands of the agent.
// What to change, package nodestorage decides.
package agent

import (
	"context"
	"os"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
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
	Memory  Memory
	// Exports of the server with a 9P socket.
	Exports func(socket string) Exports
	// Declared lists the PgNodeStorages, of which one node can have several; nil: only the
	// one of the pass.
	Declared func(context.Context) ([]v1alpha1.PgNodeStorage, error)
	// Restart the machine at once.
	Restart func() error
	// DryRun, when given, receives each write instead of the node; the Runner does the same for
	// commands.
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
		ZFS:     &zfs.Client{Runner: runner},
		Devices: &blockdev.Client{Runner: runner, FS: files, Open: blockdev.OpenExclusive(root)},
		Kernel:  zfs.Kernel{FS: files},
		Clock:   clock.RealClock{},
		NBD:     nbd.New(strings.TrimSuffix(root, "/")),
		Memory:  tmpfs.New(root),
		Exports: func(socket string) Exports { return &exports.Client{Socket: socket} },
		Restart: restartBySysRq(root),
		trends:  map[string]*decide.Trend{},
		flushed: map[string]map[string]flushes{},

		latencies: map[string]time.Duration{},
		answered:  map[string]answered{},
		dropped:   map[string]bool{},
	}
}

// forget what is remembered of a PgNodeStorage that is gone.
func (n *Node) forget(name string) {
	delete(n.trends, name)
	delete(n.flushed, name)
	delete(n.latencies, name)
}
