package runner

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/internal/bench/runner/machine"
	"github.com/pgstorage/pgstorage/internal/bench/runner/observer"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

// Observer does for the runner what only a superuser may. It is another container's: the
// runner, beside which scripts run, has no superuser's password. *observer.Client is one.
type Observer interface {
	// Ready once the observer listens.
	Ready(ctx context.Context) (observer.Ready, error)
	// Standbys of the server: the sync_state of each.
	Standbys(ctx context.Context) ([]string, error)
	// Look reads the files about the server's pod and node.
	Look(ctx context.Context) (observer.Files, error)
	// Counted are the files in which the server's kernel counts what is written.
	Counted(ctx context.Context) (observer.Files, error)
	// Chill empties the caches of the server, and proves it.
	Chill(ctx context.Context) error
	// Used is what the server takes of its volumes.
	Used(ctx context.Context) (spec.Used, error)
	// End the sessions of the benchmark's role.
	End(ctx context.Context) error
}

// awaitObserver, which prepares the benchmark's database before anything else is in it.
func (r *execution) awaitObserver(ctx context.Context) error {
	if r.Observer == nil {
		r.notPrepared = "no superuser observes the server"
		return nil
	}
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, r.Connecting, func(ctx context.Context) (bool, error) {
		var ready observer.Ready
		ready, last = r.Observer.Ready(ctx)
		r.notPrepared = ready.NotPrepared
		return last == nil, nil
	})
	if err != nil && last != nil {
		err = last
	}
	if err != nil {
		return fmt.Errorf("wait for the container observer: %w", err)
	}
	return nil
}

// files of the server's machine by path, and the directory of its data; nothing without
// an observer.
func (r *execution) files(ctx context.Context) (texts map[string]string, directory string, err error) {
	if r.Observer == nil {
		return nil, "", nil
	}
	f, err := r.Observer.Look(ctx)
	return f.Texts, f.Directory, err
}

// counted by the kernel of the server's machine, and the directory of its data.
func (r *execution) counted(ctx context.Context) (machine.Counted, string, error) {
	if r.Observer == nil {
		return machine.Counted{}, "", nil
	}
	f, err := r.Observer.Counted(ctx)
	return machine.ReadCounted(f.Texts), f.Directory, err
}

// chill empties what keeps the benchmark's tables in memory, where the spec requests it.
func (r *execution) chill(ctx context.Context) error {
	if !r.Spec.Pgbench.ColdCache {
		return nil
	}
	r.progress(PhaseRunning, 0, "empties the server's caches")
	err := errors.New("only the observer of integrity Full can empty caches")
	if r.Observer != nil {
		ctx, cancel := context.WithTimeout(ctx, r.tableTimeout())
		defer cancel()
		err = r.Observer.Chill(ctx)
	}
	if err != nil {
		return &Failure{Reason: ReasonCacheNotEmptied, Err: fmt.Errorf("spec.pgbench.coldCache: %w", err)}
	}
	return nil
}
