//go:build linux

// Package hosttime tells how the processors of the host of a benchmark were used.
package hosttime

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Spent is the time of the host's processors: of all, of those that worked, and
// what of that was this program's and its children's, QEMU among them.
type Spent struct{ all, busy, own time.Duration }

// tick is the unit of /proc/stat, the same on every architecture of ours.
const tick = time.Second / 100

// Now is what was spent since the host booted.
func Now() (Spent, error) {
	var s Spent
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return s, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var user, nice, system, idle, wait, irq, softirq, steal int64
	if _, err := fmt.Sscanf(line, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &softirq, &steal); err != nil {
		return s, fmt.Errorf("/proc/stat begins with %q: %w", line, err)
	}
	s.busy = time.Duration(user+nice+system+irq+softirq+steal) * tick
	s.all = s.busy + time.Duration(idle+wait)*tick
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err != nil {
			return s, err
		}
		s.own += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return s, nil
}

// Elsewhere is the part of the processors that others took since then. Children
// count once they have ended, which they have when a run is over. The kernel's two
// accounts differ by about a hundredth, so it is at least none.
func (s Spent) Elsewhere(then Spent) float64 {
	return float64(max(0, (s.busy-then.busy)-(s.own-then.own))) / float64(max(1, s.all-then.all))
}
