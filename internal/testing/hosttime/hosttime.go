//go:build linux

// Package hosttime measures who used the processors of a benchmark's host.
package hosttime

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Spent is the time of the host's processors. It has all of it, the busy part, and the part of
// this program and its children, which include QEMU.
type Spent struct{ all, busy, own time.Duration }

// tick is the unit of /proc/stat, the same on every architecture of ours.
const tick = time.Second / 100

// Now returns the time since the host booted.
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

// Elsewhere is the share of the processors that other programs took since then, 0 to 1.
// Children count once they have ended, as they have after a run. The kernel's two
// accounts differ by about a hundredth, so the result is clamped at zero.
func (s Spent) Elsewhere(then Spent) float64 {
	return float64(max(0, (s.busy-then.busy)-(s.own-then.own))) / float64(max(1, s.all-then.all))
}
