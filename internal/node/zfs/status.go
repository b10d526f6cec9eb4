package zfs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// Status of an imported pool.
type Status struct {
	Name  string
	State Health
	// Suspended: all I/O waits until the devices are back and the pool is cleared.
	Suspended bool
	// Explanation, Action and See are what ZFS says of a pool that is not well.
	Explanation, Action, See string
	Scan                     Scan
	// Vdevs of all classes, top level.
	Vdevs []VdevStatus
	// DataErrors are errors that redundancy could not repair; -1 where ZFS cannot say.
	DataErrors int
}

// ScanState of the last scrub or resilver.
type ScanState string

// Scan states.
const (
	ScanNone       ScanState = "None"
	ScanInProgress ScanState = "InProgress"
	ScanPaused     ScanState = "Paused"
	ScanFinished   ScanState = "Finished"
	ScanCanceled   ScanState = "Canceled"
)

// Scan is the last scrub or resilver; a pool keeps only that one.
type Scan struct {
	State ScanState
	// Resilver, otherwise a scrub.
	Resilver bool
	// At is when it began (in progress), was paused, or ended; zero where ZFS does not show it.
	At time.Time
	// Errors that it found and could not repair; of a finished scan only.
	Errors uint64
	// Text as ZFS printed it.
	Text string
}

// Status of one imported pool, by `zpool status`. Where Userland is 2.3 or later it reads the
// JSON, otherwise the text, whose times are in UTC by host.Exec's environment.
func (c *Client) Status(ctx context.Context, name string) (Status, error) {
	if err := ValidPoolName(name); err != nil {
		return Status{}, err
	}
	if c.Userland.AtLeast(2, 3, 0) {
		out, err := c.read(ctx, "zpool", "status", "-j", "-P", "-p", name)
		if err != nil {
			return Status{}, err
		}
		return parseStatusJSON(out, name)
	}
	out, err := c.read(ctx, "zpool", "status", "-P", "-p", "-v", name)
	if errors.Is(err, host.ErrTooMuchOutput) { // -v lists every damaged file; without it they are counted
		out, err = c.read(ctx, "zpool", "status", "-P", "-p", name)
	}
	if err != nil {
		return Status{}, err
	}
	return parseStatus(out, name)
}

func parseStatus(out, name string) (Status, error) {
	all := reports(out)
	if len(all) != 1 {
		return Status{}, fmt.Errorf("%w: zpool status of %s has %d pools", ErrFormat, name, len(all))
	}
	text := all[0].texts()
	s := Status{
		Name: text["pool"], State: Health(text["state"]),
		Explanation: text["status"], Action: text["action"], See: text["see"],
		Scan:       parseScan(text["scan"]),
		Vdevs:      parseConfig(all[0].lines("config")),
		DataErrors: parseErrors(all[0].lines("errors")),
	}
	if s.Name != name || s.State == "" || len(s.Vdevs) == 0 {
		return Status{}, fmt.Errorf("%w: zpool status of %s: pool %q, state %q, %d vdevs",
			ErrFormat, name, s.Name, s.State, len(s.Vdevs))
	}
	s.Suspended = suspended(s)
	return s, nil
}

// suspended by the state, or by the message of a pool whose I/O has failed with
// failmode wait (HC) or continue (JQ).
func suspended(s Status) bool {
	return s.State == Suspended || strings.HasSuffix(s.See, "ZFS-8000-HC") || strings.HasSuffix(s.See, "ZFS-8000-JQ")
}

var (
	scanErrors = regexp.MustCompile(` with (\d+) errors`)
	scanSince  = regexp.MustCompile(` (?:on|since) ([A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ [0-9:]{8} \d{4})`)
)

// parseScan of the words that follow "scan:", joined by one blank.
func parseScan(text string) Scan {
	s := Scan{State: ScanNone, Text: text, Resilver: strings.HasPrefix(text, "resilver")}
	switch {
	case strings.Contains(text, " in progress since "):
		s.State = ScanInProgress
	case strings.Contains(text, " paused since "):
		s.State = ScanPaused
	case strings.Contains(text, " canceled on "):
		s.State = ScanCanceled
	case strings.HasPrefix(text, "scrub repaired "), strings.HasPrefix(text, "resilvered "):
		s.State = ScanFinished
	default:
		return s
	}
	if m := scanErrors.FindStringSubmatch(text); m != nil {
		s.Errors, _ = number(m[1])
	}
	if m := scanSince.FindStringSubmatch(text); m != nil {
		s.At, _ = time.ParseInLocation("Mon Jan 2 15:04:05 2006", m[1], time.UTC)
	}
	return s
}

var errorCount = regexp.MustCompile(`^(\d+) data errors?`)

// parseErrors of the lines after "errors:", which with -v list the files.
func parseErrors(lines []string) int {
	if len(lines) == 0 {
		return 0
	}
	first := strings.TrimSpace(lines[0])
	if m := errorCount.FindStringSubmatch(first); m != nil {
		n, _ := number(m[1])
		return int(min(n, 1<<30))
	}
	switch {
	case first == "No known data errors", first == "":
		return 0
	case !strings.HasPrefix(first, "Permanent errors"):
		return -1
	}
	files := 0
	for _, l := range lines[1:] {
		if strings.TrimSpace(l) != "" {
			files++
		}
	}
	return files
}
