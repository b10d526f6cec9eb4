package pgbench

import (
	"strings"
	"time"
)

// Progress is one line of pgbench --progress: the figures since the line before.
type Progress struct {
	// At is the time since the run began, or, with --progress-timestamp, since
	// the Unix epoch.
	At            time.Duration `json:"at"`
	TPS           float64       `json:"tps"`
	LatencyAvg    float64       `json:"latencyAvg"`
	LatencyStddev float64       `json:"latencyStddev"`
	Failed        int64         `json:"failed"`
	Lag           float64       `json:"lag,omitempty"`
	Skipped       int64         `json:"skipped,omitempty"`
	Retried       int64         `json:"retried,omitempty"`
	Retries       int64         `json:"retries,omitempty"`
}

// ParseProgress reads "progress: 5.0 s, 812.2 tps, lat 4.9 ms stddev 1.2, 0
// failed" with what --rate, --latency-limit and --max-tries add. ok is false for
// every other line.
func ParseProgress(line string) (p Progress, ok bool) {
	rest, ok := strings.CutPrefix(line, "progress: ")
	if !ok {
		return Progress{}, false
	}
	for part := range strings.SplitSeq(strings.TrimRight(rest, "\r\n"), ", ") {
		if !p.part(strings.Fields(part)) {
			return Progress{}, false
		}
	}
	return p, true
}

func (p *Progress) part(words []string) bool {
	if len(words) < 2 {
		return false
	}
	switch words[0] {
	case "lat":
		return len(words) == 5 && scan(words[1], &p.LatencyAvg) == nil && scan(words[4], &p.LatencyStddev) == nil
	case "lag":
		return scan(words[1], &p.Lag) == nil
	}
	return p.counted(words[0], words[1])
}

func (p *Progress) counted(figure, unit string) bool {
	switch unit {
	case "s":
		var seconds float64
		// A Duration holds 292 years; the epoch of --progress-timestamp is 57 ago.
		if scan(figure, &seconds) != nil || seconds < 0 || seconds > 9e9 {
			return false
		}
		p.At = time.Duration(seconds * float64(time.Second))
		return true
	case "tps":
		return scan(figure, &p.TPS) == nil
	}
	into := map[string]*int64{"failed": &p.Failed, "skipped": &p.Skipped, "retried": &p.Retried, "retries": &p.Retries}[unit]
	// A part that a later version adds is passed over.
	return into == nil || scan(figure, into) == nil
}

// InitProgress is one line of pgbench --initialize.
type InitProgress struct {
	// Step is what is done, as "creating primary keys".
	Step string `json:"step"`
	// Percent of the tuples of Step, where the line says so.
	Percent int `json:"percent,omitempty"`
	// Done is the last line.
	Done bool `json:"done,omitempty"`
}

// ParseInitProgress reads the lines of pgbench --initialize. They are "creating tables...",
// "100000 of 1000000 tuples (10%) done (...)", with "of pgbench_accounts" since PostgreSQL 17,
// and "done in 0.19 s (...)".
func ParseInitProgress(line string) (InitProgress, bool) {
	line = strings.TrimRight(line, "\r\n ")
	if strings.HasPrefix(line, "done in ") {
		return InitProgress{Step: "done", Done: true}, true
	}
	if step, ok := strings.CutSuffix(line, "..."); ok && step != "" && !strings.Contains(step, ":") {
		return InitProgress{Step: step}, true
	}
	_, rest, ok := strings.Cut(line, " tuples (")
	percent, _, closed := strings.Cut(rest, "%)")
	var p InitProgress
	if !ok || !closed || scan(percent, &p.Percent) != nil || p.Percent > 100 {
		return InitProgress{}, false
	}
	p.Step = "generating data"
	return p, true
}
