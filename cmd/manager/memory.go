package main

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// cgroupLimit is the limit of the container's memory, where there is one.
const cgroupLimit = "/sys/fs/cgroup/memory.max"

// limitMemory has Go collect garbage more often before the kernel ends the process at
// the limit in a file. An administrator's GOMEMLIMIT wins.
func limitMemory(file string) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := goal(file); limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// goal is nine tenths of the limit in bytes, or 0 where there is none.
func goal(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0 // "max"
	}
	return limit / 10 * 9
}
