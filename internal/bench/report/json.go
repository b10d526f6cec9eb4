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

// Read a report from its JSON form. It rejects another Kind or Version, more than MaxBytes,
// and a report that lacks what the forms show.
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
	for i, g := range r.Groups {
		if err := g.complete(); err != nil {
			return Report{}, fmt.Errorf("groups[%d].%w; use an unchanged file that report -o json wrote", i, err)
		}
	}
	return r, nil
}

// complete checks what the forms rely on, because an edited file can lack it. The error
// begins with the field.
func (g Group) complete() error {
	if len(g.Variants) == 0 {
		return errors.New("variants is empty")
	}
	for i, p := range g.Ranking {
		if p.Rank < 0 {
			return fmt.Errorf("ranking[%d].rank is %d, want 0 or more", i, p.Rank)
		}
	}
	for i, v := range g.Variants {
		if err := checkLayers(v.Layers); err != nil {
			return fmt.Errorf("variants[%d].layers: %w", i, err)
		}
	}
	for i, s := range g.Settings.Different {
		if len(s.Values) != len(g.Settings.Variants) {
			return fmt.Errorf("settings.different[%d].values has %d values, want %d", i, len(s.Values), len(g.Settings.Variants))
		}
	}
	for i, d := range g.Deltas {
		if err := d.complete(); err != nil {
			return fmt.Errorf("deltas[%d].%w", i, err)
		}
	}
	return nil
}

func (d Deltas) complete() error {
	for i, row := range d.Rows {
		switch {
		case row.Old == nil:
			return fmt.Errorf("rows[%d].oldSummary is missing", i)
		case row.New == nil:
			return fmt.Errorf("rows[%d].newSummary is missing", i)
		}
	}
	return nil
}

func writeJSON(w io.Writer, r Report) error {
	return json.NewEncoder(w).Encode(r)
}
