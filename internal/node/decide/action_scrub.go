package decide

import (
	"context"
	"slices"

	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// StartScrub scrubs the pool after a device returned that may lack data which ZFS
// assumes to be written.
type StartScrub struct{}

// String names the action.
func (StartScrub) String() string { return "start scrub" }

// Execute calls StartScrub of e.
func (a StartScrub) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.StartScrub(ctx, a)
}

// mayScrub reports whether a scrub would read everything now: no disk is away, and no
// other scan runs. A scrub that a user paused stays paused.
func (d networkDecider) mayScrub() bool {
	scan := d.seen.Status.Scan.State
	if scan == zfs.ScanInProgress || scan == zfs.ScanPaused {
		return false
	}
	for _, v := range d.seen.Status.Vdevs {
		if slices.ContainsFunc(v.Disks(), func(disk zfs.VdevStatus) bool { return disk.Class == zfs.Data && !entire(disk) }) {
			return false
		}
	}
	return true
}
