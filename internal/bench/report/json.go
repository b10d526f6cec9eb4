package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxBytes limits a report that Read accepts. The largest matrix, 64 variants by 20
// repeats, of runs of ten minutes has 768,000 seconds of some 45 bytes.
const MaxBytes = 256 << 20

// ErrNotAReport is the error of Read for JSON of another kind.
var ErrNotAReport = errors.New("not a report on a benchmark")

// Read a report from its JSON form. It rejects another Kind or Version, and more than
// MaxBytes.
func Read(from io.Reader) (Report, error) { return readAtMost(from, MaxBytes) }

func readAtMost(from io.Reader, most int64) (Report, error) {
	var r Report
	limited := &io.LimitedReader{R: from, N: most + 1}
	if err := json.NewDecoder(limited).Decode(&r); err != nil {
		if limited.N <= 0 {
			err = fmt.Errorf("the file exceeds %d bytes", most)
		}
		return Report{}, fmt.Errorf("read a report: %w", err)
	}
	switch {
	case r.Kind != Kind:
		return Report{}, fmt.Errorf("%w: kind is %q, want %q; use a file that report -o json wrote", ErrNotAReport, r.Kind, Kind)
	case r.Version != Version:
		return Report{}, fmt.Errorf("report version %d is not supported, want %d: use the release that wrote the file", r.Version, Version)
	}
	return r, nil
}

func writeJSON(w io.Writer, r Report) error {
	return json.NewEncoder(w).Encode(r)
}
