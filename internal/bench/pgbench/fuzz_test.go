package pgbench

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func seeds(f *testing.F, pattern string) {
	f.Helper()
	for _, path := range recorded(f, pattern) {
		f.Add(read(f, path))
	}
}

func FuzzParse(f *testing.F) {
	seeds(f, "*.out.txt")
	f.Fuzz(func(t *testing.T, out string) {
		result, err := Parse(strings.NewReader(out))
		if (result == nil) == (err == nil) {
			t.Fatal("want either a result or an error")
		}
		var line *LineError
		if errors.As(err, &line) && (line.Line < 1 || line.Line > strings.Count(out, "\n")+1) {
			t.Fatalf("line %d of %d", line.Line, strings.Count(out, "\n")+1)
		}
		if _, err := json.Marshal(result); err != nil {
			t.Fatalf("a result that JSON cannot express: %v", err)
		}
	})
}

func FuzzParseLog(f *testing.F) {
	for _, path := range recorded(f, "*.log.txt") {
		f.Add(read(f, path), strings.Contains(path, "rate"), strings.Contains(path, "retries"))
	}
	f.Fuzz(func(t *testing.T, text string, lag, retries bool) {
		log := NewLog(LogFormat{Lag: lag, Retries: retries})
		if err := log.Read(strings.NewReader(text)); err != nil {
			return
		}
		s := log.Summary()
		if s.P50 > s.P95 || s.P95 > s.P99 || s.P99 > s.Max*1.001 {
			t.Fatalf("percentiles out of order: %+v", s)
		}
		if lines := int64(strings.Count(text, "\n")); s.Processed+s.Failed+s.Skipped != lines {
			t.Fatalf("%d lines counted as %+v", lines, s)
		}
	})
}

func FuzzProgress(f *testing.F) {
	for _, path := range recorded(f, "*.err.txt") {
		for line := range strings.SplitSeq(read(f, path), "\n") {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		if p, ok := ParseProgress(line); ok {
			if _, err := json.Marshal(p); err != nil || p.At < 0 {
				t.Fatalf("%+v: %v", p, err)
			}
		}
		if p, ok := ParseInitProgress(line); ok && (p.Percent < 0 || p.Percent > 100) {
			t.Fatalf("%+v", p)
		}
	})
}
