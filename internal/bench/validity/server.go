package validity

import (
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// Checkpoints of a workload that writes. One inside a short run costs it more than a long one,
// and a run without any never pays for what it wrote.
func Checkpoints(f Facts) Finding {
	if !f.Workload.Writes {
		return passed(CheckCheckpoint, "the workload only reads")
	}
	if f.Server == nil {
		return notRun(CheckCheckpoint, "the number of checkpoints")
	}
	n, timeout := f.Server.Checkpoints, f.Server.CheckpointTimeout
	switch {
	case n == 0:
		return Finding{CheckCheckpoint, Caution, ReasonNoCheckpointInRun, fmt.Sprintf(
			"no checkpoint happened in the run of %v: Postgres wrote its dirty pages afterwards, so the rate is not sustainable. "+
				"Run for longer than checkpoint_timeout (%v)", whole(f.Duration), timeout)}
	case f.Duration < timeout:
		return Finding{CheckCheckpoint, Caution, ReasonCheckpointInRun, fmt.Sprintf(
			"%d checkpoint(s) in a run of %v, shorter than checkpoint_timeout (%v): another repeat may have none and be faster. "+
				"Issue CHECKPOINT before each run, or run for several times checkpoint_timeout", n, whole(f.Duration), timeout)}
	}
	return passed(CheckCheckpoint, fmt.Sprintf("%d checkpoint(s) in the run of %v", n, whole(f.Duration)))
}

// Autovacuum takes I/O from the run, in one repeat and not in the next.
func Autovacuum(f Facts) Finding {
	if f.Server == nil {
		return notRun(CheckAutovacuum, "what autovacuum worked on")
	}
	if len(f.Server.Autovacuums) > 0 {
		return Finding{CheckAutovacuum, Caution, ReasonAutovacuumRunning, fmt.Sprintf(
			"autovacuum worked on %s during the run and took I/O from it. Vacuum before the run, or run long enough that autovacuum affects every repeat alike", few(f.Server.Autovacuums))}
	}
	return passed(CheckAutovacuum, "autovacuum did not run")
}

// Backup reads the whole database beside the run.
func Backup(f Facts) Finding {
	if f.Server == nil {
		return notRun(CheckBackup, "whether a backup ran")
	}
	if len(f.Server.Backups) > 0 {
		return Finding{CheckBackup, Rejected, ReasonBackupRunning, fmt.Sprintf(
			"a backup ran during the run (%s), so the rate includes its load; suspend scheduled backups, or run the benchmark at another time", few(f.Server.Backups))}
	}
	return passed(CheckBackup, "no base backup was in progress when the run began or ended")
}

// few names of a list that may be long.
func few(names []string) string {
	return excerpt.Names(names, 3)
}

func whole(d time.Duration) time.Duration { return d.Round(time.Second) }
