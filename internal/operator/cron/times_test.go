package cron

import (
	"strings"
	"testing"
	"time"
)

func times(t testing.TB, schedule, zone string) Times {
	t.Helper()
	out, err := Parse(schedule, zone)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func moment(t testing.TB, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	out, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct{ schedule, zone, want string }{
		{"", "UTC", "expected exactly 5 fields, found 0"},
		{"* * * *", "UTC", "expected exactly 5 fields, found 4"},
		{"61 * * * *", "UTC", "above maximum (59)"},
		{"*/0 * * * *", "UTC", "should be a positive number"},
		{"@sometimes", "UTC", "unrecognized descriptor"},
		{"@every 1h", "UTC", "@every has no times of the day"},
		{"TZ=UTC * * * * *", "UTC", "set spec.timeZone"},
		{"* * * * *", "Local", "not in the IANA time zone database"},
		{"* * * * *", "Europe/Atlantis", "not in the IANA time zone database"},
	} {
		if _, err := Parse(tc.schedule, tc.zone); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "spec.") {
			t.Errorf("%q in %s: %v", tc.schedule, tc.zone, err)
		}
	}
}

func TestLastAndCount(t *testing.T) {
	for _, tc := range []struct {
		name, schedule, zone, after, until, last string
		count                                    int
	}{
		{"one", "30 2 * * *", "UTC", "2026-03-01T12:00:00Z", "2026-03-02T02:30:00Z", "2026-03-02T02:30:00Z", 1},
		{"not yet", "30 2 * * *", "UTC", "2026-03-01T12:00:00Z", "2026-03-02T02:29:59Z", "", 0},
		{"not again", "30 2 * * *", "UTC", "2026-03-02T02:30:00Z", "2026-03-02T12:00:00Z", "", 0},
		{"the latest of three", "30 2 * * *", "UTC", "2026-03-01T12:00:00Z", "2026-03-04T12:00:00Z", "2026-03-04T02:30:00Z", 3},
		{"in a zone", "30 2 * * *", "Asia/Tokyo", "2026-03-01T12:00:00Z", "2026-03-01T18:00:00Z", "2026-03-01T17:30:00Z", 1},
		{"no zone is UTC", "0 0 * * *", "", "2026-03-01T12:00:00Z", "2026-03-02T12:00:00Z", "2026-03-02T00:00:00Z", 1},
		{"every minute for three years", "* * * * *", "UTC", "2023-03-01T12:00:00Z", "2026-03-01T12:00:30Z", "2026-03-01T12:00:00Z", 101},
		{"every minute for centuries", "* * * * *", "UTC", "1726-03-01T12:00:00Z", "2026-03-01T12:00:30Z", "2026-03-01T12:00:00Z", 101},
		{"a day of leap years", "0 0 29 2 *", "UTC", "2020-03-01T00:00:00Z", "2026-03-01T00:00:00Z", "2024-02-29T00:00:00Z", 1},
		{"never", "0 0 31 2 *", "UTC", "2020-03-01T00:00:00Z", "2026-03-01T00:00:00Z", "", 0},
		{"backwards", "* * * * *", "UTC", "2026-03-01T12:00:00Z", "2026-03-01T11:00:00Z", "", 0},
		// Between 02:00 and 03:00 there is no 02:30 on this day.
		{"an hour that is left out", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z", "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := times(t, tc.schedule, tc.zone)
			after, until := moment(t, tc.after), moment(t, tc.until)
			if got := s.Last(after, until); !got.Equal(moment(t, tc.last)) {
				t.Errorf("last %s, want %q", got, tc.last)
			}
			if got := s.Count(after, until); got != tc.count {
				t.Errorf("%d times, want %d", got, tc.count)
			}
		})
	}
}

// Last finds by halving what counting one by one finds, also where clocks are changed.
func TestLastIsWhatCountingFinds(t *testing.T) {
	from := moment(t, "2026-01-01T00:00:00Z")
	for _, schedule := range []string{"30 2 * * *", "*/7 1-3 * * *", "0 0 1,15 * *", "15 2 * * 0", "@hourly", "5 4 29 2 *"} {
		for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"} {
			s := times(t, schedule, zone)
			for hours := 0; hours < 366*24; hours += 37 {
				until := from.Add(time.Duration(hours)*time.Hour + 17*time.Second)
				after := until.Add(-3 * 24 * time.Hour)
				want := time.Time{}
				for at := s.Next(after); !at.IsZero() && !at.After(until); at = s.Next(at) {
					want = at
				}
				if got := s.Last(after, until); !got.Equal(want) {
					t.Fatalf("%s in %s until %s: %s, want %s", schedule, zone, until, got, want)
				}
			}
		}
	}
}

func TestInterval(t *testing.T) {
	from := moment(t, "2026-03-02T12:00:00Z") // a Monday
	for schedule, want := range map[string]time.Duration{
		"@hourly":      time.Hour,
		"30 2 * * 1-5": 3 * 24 * time.Hour,
		"0 0 1 * *":    31 * 24 * time.Hour,
		"0 0 31 2 *":   0,
	} {
		if got := times(t, schedule, "UTC").Interval(from); got != want {
			t.Errorf("%s: %s, want %s", schedule, got, want)
		}
	}
}

// Every schedule that a user writes is rejected or has ascending times.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"30 2 * * 1-5", "@daily", "@every 1s", "TZ=", "*/61 * * * *", "0-59/99999999999 * * * *", "? ? ? ? ?", "0 0 29 feb mon"} {
		f.Add(s, "Europe/Berlin")
	}
	from := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, schedule, zone string) {
		s, err := Parse(schedule, zone)
		if err != nil {
			return
		}
		last := s.Last(from.Add(-48*time.Hour), from)
		if !last.IsZero() && (last.After(from) || !last.After(from.Add(-48*time.Hour))) {
			t.Errorf("%q in %q: %s", schedule, zone, last)
		}
		if next := s.Next(from); !next.IsZero() && !next.After(from) {
			t.Errorf("%q in %q: next %s", schedule, zone, next)
		}
	})
}
