package watch

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/site/report"
)

const (
	// period between the beginnings of two attempts, which is up to jitter longer.
	period = 5 * time.Second
	jitter = 0.2
	// maxLogged is the most bytes of an error that are logged.
	maxLogged = 500
)

// Watcher asks the other sites of a database.
type Watcher struct {
	members []Member
	folder  string
	clock   clock.PassiveClock
	log     *slog.Logger
	period  time.Duration

	mu sync.Mutex
	// last outcome of each member.
	last []report.Member
}

// New watcher of members, whose certificates are in folders of their names below folder.
func New(members []Member, folder string, clock clock.PassiveClock, log *slog.Logger) *Watcher {
	w := &Watcher{members: members, folder: folder, clock: clock, log: log, period: period}
	for _, m := range members {
		w.last = append(w.last, report.Member{Name: m.Name})
	}
	return w
}

// Run asks every member again and again, apart from the others, until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	var all sync.WaitGroup
	for i := range w.members {
		all.Go(func() { w.watch(ctx, i) })
	}
	all.Wait()
}

func (w *Watcher) watch(ctx context.Context, i int) {
	s := &asker{member: w.members[i], folder: w.folder, clock: w.clock}
	wait.JitterUntilWithContext(ctx, func(ctx context.Context) {
		m, err := s.ask(ctx)
		if ctx.Err() == nil {
			w.keep(i, m, err)
		}
	}, w.period, jitter, false)
}

// keep the outcome in the place of the one before. Only a change is logged.
func (w *Watcher) keep(i int, m report.Member, err error) {
	w.mu.Lock()
	before := w.last[i]
	w.last[i] = m
	w.mu.Unlock()
	switch {
	case m.Answered && !before.Answered:
		w.log.Info("site answers", "site", m.Name)
	case !m.Answered && m.Problem != before.Problem:
		w.log.Warn("site does not answer", "site", m.Name, "problem", m.Problem, "error", excerpt.Truncate(err.Error(), maxLogged))
	}
}

// Report has the last outcome of each member.
func (w *Watcher) Report() report.Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	return report.Report{Members: slices.Clone(w.last)}
}
