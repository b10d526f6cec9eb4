// Package cron reads schedules in the form of a CronJob, and finds their times.
package cron

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // the image need not have the time zones

	"github.com/robfig/cron/v3"
)

const (
	// horizon is how far back times are looked for. What is older is not made up. The
	// library looks five years ahead, which must reach over it.
	horizon = 4 * 366 * 24 * time.Hour
	// Most times that are counted one by one, as a CronJob does.
	Most = 100
)

// Times of a schedule, in its time zone.
type Times struct{ of cron.Schedule }

// Parse a schedule in five fields, or a name as @daily, in a time zone by its name in
// the IANA time zone database.
func Parse(schedule, zone string) (Times, error) {
	if zone == "" {
		zone = "UTC"
	}
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
		return Times{}, fmt.Errorf("spec.timeZone: %q is not in the IANA time zone database; write a name as Europe/Berlin or UTC", zone)
	}
	if strings.Contains(schedule, "TZ=") {
		return Times{}, errors.New("spec.schedule holds a time zone; take it away and set spec.timeZone")
	}
	of, err := cron.ParseStandard("CRON_TZ=" + zone + " " + schedule)
	if err != nil {
		return Times{}, fmt.Errorf("spec.schedule: %w; write five fields: minute, hour, day of the month, month, day of the week", err)
	}
	if _, counted := of.(cron.ConstantDelaySchedule); counted {
		return Times{}, errors.New("spec.schedule: @every has no times of the day, so what is due would depend on when the operator started; write five fields")
	}
	return Times{of: of}, nil
}

// Next time after another, or zero if there is none within five years.
func (s Times) Next(after time.Time) time.Time { return s.of.Next(after) }

// Last time after one and not after another, or zero if there is none. It does not
// count times one by one: there may be millions.
func (s Times) Last(after, until time.Time) time.Time {
	if earliest := until.Add(-horizon); after.Before(earliest) {
		after = earliest
	}
	if !s.within(after, until) {
		return time.Time{}
	}
	// A time follows low by until; none does high.
	low, high := after.Unix(), until.Unix()
	for high-low > 1 {
		if middle := low + (high-low)/2; s.within(time.Unix(middle, 0), until) {
			low = middle
		} else {
			high = middle
		}
	}
	return s.Next(time.Unix(low, 0))
}

func (s Times) within(after, until time.Time) bool {
	next := s.Next(after)
	return !next.IsZero() && !next.After(until)
}

// Count times after one and not after another, at most 101: more are not distinguished.
func (s Times) Count(after, until time.Time) int {
	n := 0
	for at := s.Next(after); n <= Most && !at.IsZero() && !at.After(until); at = s.Next(at) {
		n++
	}
	return n
}

// Interval is the longest time between two of the next hundred times after one; 0 if
// there are no two.
func (s Times) Interval(after time.Time) time.Duration {
	longest := time.Duration(0)
	before := s.Next(after)
	for range Most {
		next := s.Next(before)
		if before.IsZero() || next.IsZero() {
			break
		}
		longest = max(longest, next.Sub(before))
		before = next
	}
	return longest
}
