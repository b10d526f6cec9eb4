package commitcost

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// TestFsyncArgs are the arguments of pg_test_fsync for a file and whole seconds. It
// fills the file with 16 MiB, then writes its first 8 kB again and again.
func TestFsyncArgs(file string, d time.Duration) []string {
	return []string{"-f", file, "-s", strconv.Itoa(int(d / time.Second))}
}

// TestFsync reads the lines of pg_test_fsync up to the time of one wal_sync_method. Set
// Method before use.
type TestFsync struct {
	Method string
	// inside the section of one 8 kB write, and past it.
	inside, past bool
	took         time.Duration
	err          error
}

const (
	oneWrite  = "Compare file sync methods using one 8kB write:"
	nextTests = "Compare file sync methods using two 8kB writes:"
)

var (
	fsyncRate = regexp.MustCompile(`^([0-9]+\.[0-9]+) ops/sec(?:\s|$)`)
	// slowest rate that is accepted, so that its inverse is a duration.
	slowest = 1e-6
)

// Line reads the next line, and reports whether the rest can be skipped.
func (t *TestFsync) Line(line string) (enough bool) {
	if t.past {
		return true
	}
	switch strings.TrimSpace(line) {
	case oneWrite:
		t.inside = true
		return false
	case nextTests:
		t.past = true
		return true
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if !t.inside || name != t.Method {
		return false
	}
	t.past = true
	t.took, t.err = fsyncTime(t.Method, strings.TrimSpace(rest))
	return true
}

func fsyncTime(method, rest string) (time.Duration, error) {
	if strings.HasPrefix(rest, "n/a") {
		return 0, fmt.Errorf("pg_test_fsync cannot test %s here: %s", method, rest)
	}
	found := fsyncRate.FindStringSubmatch(rest)
	if found == nil {
		return 0, fmt.Errorf("pg_test_fsync printed %[2]q for %[1]s, which is not a rate", method, rest)
	}
	rate, err := strconv.ParseFloat(found[1], 64)
	if err != nil || rate < slowest || math.IsInf(rate, 0) {
		return 0, fmt.Errorf("pg_test_fsync printed %[2]q for %[1]s, which is not a rate", method, rest)
	}
	// The rate has more digits than the microseconds beside it.
	return time.Duration(float64(time.Second) / rate), nil
}

// Result is the time of one write of 8 kB and its flush.
func (t *TestFsync) Result() (time.Duration, error) {
	switch {
	case t.err != nil:
		return 0, t.err
	case t.took <= 0:
		return 0, errors.New("pg_test_fsync printed no time for " + t.Method)
	}
	return t.took, nil
}
