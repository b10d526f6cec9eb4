package decide

import (
	"context"
	"time"

	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// FinishScrub records that the scrub that was due has ended.
type FinishScrub struct{}

// String names the action.
func (FinishScrub) String() string { return "finish scrub" }

// Execute calls FinishScrub of e.
func (a FinishScrub) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.FinishScrub(ctx, a)
}

// scrubbed reports whether a scrub ended that began after it was due, and that read everything.
// A resilver of a device that returned meanwhile replaces a scrub.
func (d networkDecider) scrubbed() bool {
	scan, since := d.seen.Status.Scan, d.net.Record.ScrubSince
	return !since.IsZero() && scan.State == zfs.ScanFinished && !scan.Resilver && !scan.At.Before(since.Truncate(time.Second))
}
