package validity

import (
	"fmt"
	"strings"
	"time"
)

// Checkpoints of a workload that writes: one inside a short run weighs on it more
// than on a long one, and a run without any never pays for what it wrote.
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
			"there was no checkpoint in the run of %v: the pages that it changed were written after it, at nobody's expense, so the rate cannot be kept up; "+
				"run for longer than checkpoint_timeout (%v) to measure what can", whole(f.Duration), timeout)}
	case f.Duration < timeout:
		return Finding{CheckCheckpoint, Caution, ReasonCheckpointInRun, fmt.Sprintf(
			"%d checkpoint(s) in a run of %v, shorter than checkpoint_timeout (%v): another repeat may have none and be faster for it; "+
				"issue CHECKPOINT before each run, or run for several times checkpoint_timeout", n, whole(f.Duration), timeout)}
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
			"autovacuum worked on %s during the run and took I/O from it; vacuum before the run, or run for long enough that every repeat has its share", few(f.Server.Autovacuums))}
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
			"a backup ran beside the run (%s), so the figure is of both; suspend the schedule of backups or run the benchmark at another time", few(f.Server.Backups))}
	}
	return passed(CheckBackup, "no base backup was under way as the run began or ended")
}

// few names of a list that may be long.
func few(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func whole(d time.Duration) time.Duration { return d.Round(time.Second) }
