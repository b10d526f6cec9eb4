package runner

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
)

// interval between two reports: more would load the API server, not inform.
const interval = 2 * time.Second

// reportTimeout bounds one try of a report.
const reportTimeout = 10 * time.Second

// publisher sends the newest report and never makes the run wait. It skips a report that a
// newer one overtakes, and until then retries one that is lost.
type publisher struct {
	reporter Reporter
	clock    clock.Clock
	log      *slog.Logger

	// newest holds the report to be sent next.
	newest chan RunStatus
	done   chan struct{}
	// last is closed when the report in newest is the last one.
	last chan struct{}
}

func startPublisher(ctx context.Context, r Reporter, c clock.Clock, log *slog.Logger) *publisher {
	p := &publisher{
		reporter: r, clock: c, log: log,
		newest: make(chan RunStatus, 1), done: make(chan struct{}), last: make(chan struct{}),
	}
	go p.loop(ctx)
	return p
}

// publish replaces the report that waits to be sent. It has one caller at a time.
func (p *publisher) publish(r RunStatus) {
	select {
	case <-p.newest:
	default:
	}
	p.newest <- r
}

// errLost is a benchmark whose last report did not arrive.
var errLost = errors.New("the last report was not delivered")

// close sends the last report and returns when it has arrived, or when ctx ends.
func (p *publisher) close(ctx context.Context, r RunStatus) error {
	p.publish(r)
	close(p.last)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return errLost
	}
}

func (p *publisher) loop(ctx context.Context) {
	defer close(p.done)
	for {
		select {
		case r := <-p.newest:
			p.send(ctx, r)
		case <-p.last:
			// Both may have been ready, and the choice was by chance.
			select {
			case r := <-p.newest:
				p.send(ctx, r)
			default:
			}
			return
		case <-ctx.Done():
			return
		}
		p.rest(ctx, interval)
	}
}

// send tries until a report arrives, always with the newest.
func (p *publisher) send(ctx context.Context, r RunStatus) {
	backoff := wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 8, Cap: 30 * time.Second}
	for ctx.Err() == nil {
		attempt, cancel := context.WithTimeout(ctx, reportTimeout)
		err := p.reporter.Report(attempt, r)
		cancel()
		if err == nil {
			return
		}
		p.log.Warn("report did not arrive", "phase", r.Phase, "error", err)
		p.pause(ctx, backoff.Step())
		select {
		case r = <-p.newest:
		default:
		}
	}
}

// rest until the next report is due, or the last one is there.
func (p *publisher) rest(ctx context.Context, d time.Duration) {
	select {
	case <-p.clock.After(d):
	case <-p.last:
	case <-ctx.Done():
	}
}

// pause before a lost report is tried again; the last one pauses too.
func (p *publisher) pause(ctx context.Context, d time.Duration) {
	select {
	case <-p.clock.After(d):
	case <-ctx.Done():
	}
}
