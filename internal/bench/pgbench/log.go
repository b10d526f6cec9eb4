package pgbench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/histogram"
)

// LogFormat says which columns a transaction log has after the first six.
type LogFormat struct {
	// Lag of --rate.
	Lag bool
	// Retries of --max-tries other than 1.
	Retries bool
}

// Log gathers transaction logs of pgbench --log
// (https://www.postgresql.org/docs/current/pgbench.html#PGBENCH-LOG-FORMAT): one
// line for each transaction, or for a sample of them.
type Log struct {
	format    LogFormat
	latencies *histogram.Histogram
	summary   LogSummary
}

// LogSummary is what a Log says. Latencies are of processed transactions, in
// milliseconds; counts are of the lines, so with --sampling-rate of the sample.
type LogSummary struct {
	Processed             int64 `json:"processed"`
	Failed                int64 `json:"failed"`
	SerializationFailures int64 `json:"serializationFailures,omitempty"`
	DeadlockFailures      int64 `json:"deadlockFailures,omitempty"`
	Skipped               int64 `json:"skipped"`
	Retries               int64 `json:"retries,omitempty"`

	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// NewLog of one format.
func NewLog(format LogFormat) *Log {
	return &Log{format: format, latencies: histogram.New()}
}

// ReadFiles reads the logs of all threads that pgbench wrote with a prefix:
// PREFIX.PID and PREFIX.PID.THREAD.
func (l *Log) ReadFiles(prefix string) error {
	paths, err := filepath.Glob(prefix + ".*")
	if err != nil {
		return fmt.Errorf("transaction logs %s: %w", prefix, err)
	}
	sort.Strings(paths)
	for _, path := range paths {
		if err := l.readFile(path); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) readFile(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("transaction log: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := l.Read(f); err != nil {
		return fmt.Errorf("transaction log %s: %w", filepath.Base(path), err)
	}
	return nil
}

// Read reads one log. A line of another format is a *LineError. Read skips a last line that was
// cut off, as when pgbench was stopped.
func (l *Log) Read(r io.Reader) error {
	lines := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("line %d: %w", n, err)
		}
		line := strings.TrimRight(string(text), "\r\n")
		if err := l.line(strings.Fields(line)); err != nil {
			return &LineError{Line: n, Text: line, Err: err}
		}
	}
}

// Columns of a line: client, transaction, latency or outcome, script, seconds and
// microseconds of the time.
const (
	columnOutcome = 2
	columns       = 6
)

func (l *Log) line(words []string) error {
	want := columns
	if l.format.Lag {
		want++
	}
	if l.format.Retries {
		want++
	}
	if len(words) != want {
		return fmt.Errorf("want %d columns, not %d", want, len(words))
	}
	if l.format.Retries {
		var n int64
		if err := scan(words[want-1], &n); err != nil {
			return err
		}
		l.summary.Retries += n
	}
	return l.outcome(words[columnOutcome])
}

func (l *Log) outcome(word string) error {
	switch word {
	case "skipped":
		l.summary.Skipped++
		return nil
	case "failed", "other":
	case "serialization":
		l.summary.SerializationFailures++
	case "deadlock":
		l.summary.DeadlockFailures++
	default:
		return l.latency(word)
	}
	l.summary.Failed++
	return nil
}

func (l *Log) latency(word string) error {
	var micros int64
	if err := scan(word, &micros); err != nil {
		return err
	}
	l.summary.Processed++
	return l.latencies.Record(micros)
}

// Summary of all that was read.
func (l *Log) Summary() LogSummary {
	s := l.summary
	if s.Processed == 0 {
		return s
	}
	s.P50 = l.latencies.Percentile(50)
	s.P95 = l.latencies.Percentile(95)
	s.P99 = l.latencies.Percentile(99)
	s.Max = l.latencies.Max()
	return s
}

// Latencies of the processed transactions that were read, to be added to those of
// other logs. More lines that are read go on counting in it.
func (l *Log) Latencies() *histogram.Histogram { return l.latencies }
