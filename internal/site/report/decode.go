package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Bounds of a report. What exceeds them is refused.
const (
	// MaxBytes of a report.
	MaxBytes = 64 << 10
	// MaxMembers of a report.
	MaxMembers = 8
	// MaxName is the most bytes of a name, and of the setting pgstorage.primary.
	MaxName = 253
	// MaxTopology is the most bytes of the setting pgstorage.topology.
	MaxTopology = 512
	// MaxEpoch is more promotions than there will be, and has room for one more.
	MaxEpoch = 1 << 53
	// MaxSkew of a clock in milliseconds, either way: it has an absolute value, and room
	// for sums.
	MaxSkew = 1 << 53
)

// Errors of Decode. Their texts contain nothing of what was decoded.
var (
	ErrTooLong   = fmt.Errorf("the report of the sites has more than %d bytes", MaxBytes)
	ErrMalformed = errors.New("the report of the sites is not JSON of the expected form")
	ErrTooMany   = fmt.Errorf("the report of the sites has more than %d members", MaxMembers)
)

// Decode a report. It reads at most MaxBytes and one more. It refuses fields that it does
// not know, and values beyond their bounds. An error of the reader is returned as it is.
func Decode(r io.Reader) (Report, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return Report{}, err
	}
	if len(raw) > MaxBytes {
		return Report{}, ErrTooLong
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var out Report
	if decoder.Decode(&out) != nil {
		return Report{}, ErrMalformed
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Report{}, ErrMalformed
	}
	if err := out.Validate(); err != nil {
		return Report{}, err
	}
	return out, nil
}

// Validate compares a report with its bounds.
func (r Report) Validate() error {
	if len(r.Members) > MaxMembers {
		return ErrTooMany
	}
	seen := map[string]bool{}
	for i, m := range r.Members {
		if err := m.Validate(); err != nil {
			return fmt.Errorf("member %d of the report of the sites: %w", i, err)
		}
		if seen[m.Name] {
			return fmt.Errorf("member %d of the report of the sites: another one has its name", i)
		}
		seen[m.Name] = true
	}
	return nil
}

// Errors of Validate.
var (
	errName     = fmt.Errorf("name must have 1 to %d printable ASCII characters without spaces", MaxName)
	errAsked    = errors.New("asked must not be negative, nor 0 for an answer")
	errProblem  = errors.New("problem must be one of the known ones, and set if and only if an attempt failed")
	errFacts    = errors.New("a site that did not answer has facts")
	errSystem   = errors.New("system must be a decimal number of 64 bits")
	errTimeline = errors.New("timeline must be a number of 32 bits, not negative")
	errEpoch    = fmt.Errorf("epoch must be between 0 and %d", MaxEpoch)
	errPrimary  = fmt.Errorf("primary must have at most %d printable ASCII characters without spaces", MaxName)
	errTopology = fmt.Errorf("topology must have at most %d printable ASCII characters without spaces", MaxTopology)
	errSkew     = fmt.Errorf("clockSkewMilliseconds must be between -%d and %d", MaxSkew, MaxSkew)
)

// Validate compares a member with its bounds.
func (m Member) Validate() error {
	if m.Name == "" || !printable(m.Name, MaxName) {
		return errName
	}
	if m.Asked < 0 || m.Answered && m.Asked == 0 {
		return errAsked
	}
	if !m.Problem.fits(m.Asked > 0 && !m.Answered) {
		return errProblem
	}
	if m.Answered {
		return m.validateFacts()
	}
	if m != (Member{Name: m.Name, Asked: m.Asked, Problem: m.Problem}) {
		return errFacts
	}
	return nil
}

// fits says that a problem is there if and only if an attempt failed.
func (p Problem) fits(failed bool) bool {
	if failed {
		return p.Known()
	}
	return p == ""
}

func (m Member) validateFacts() error {
	system, err := strconv.ParseUint(m.System, 10, 64)
	switch {
	case err != nil || strconv.FormatUint(system, 10) != m.System:
		return errSystem
	case !printable(m.Primary, MaxName):
		return errPrimary
	case !printable(m.Topology, MaxTopology):
		return errTopology
	}
	return m.validateNumbers()
}

func (m Member) validateNumbers() error {
	switch {
	case m.Timeline < 0 || m.Timeline > math.MaxUint32:
		return errTimeline
	case m.Epoch < 0 || m.Epoch > MaxEpoch:
		return errEpoch
	case m.ClockSkewMilliseconds < -MaxSkew || m.ClockSkewMilliseconds > MaxSkew:
		return errSkew
	}
	return nil
}

// printable says that a text has at most so many bytes, all of them ASCII that shows.
func printable(text string, most int) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return len(text) <= most
}
