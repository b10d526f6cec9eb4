package watch

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// given answer of a server that writes.
func given() answer {
	return answer{system: 7712485473208298184, file: "0000000A00000001000000FF", primary: "north", topology: "5f2c9a17", epoch: "2", now: float64(noon.Unix())}
}

func TestAnAnswerIsRead(t *testing.T) {
	want := report.Member{
		Name: "south", Asked: noon.Unix(), Answered: true, System: "7712485473208298184", Timeline: 10, Primary: "north", Epoch: 2, Topology: "5f2c9a17",
		ClockSkewMilliseconds: -500,
	}
	a := given()
	if got, err := a.read("south", noon, noon.Add(time.Second)); err != nil || got != want {
		t.Errorf("got %+v %v", got, err)
	}
	a.recovers, a.file, a.timeline = true, "", 9
	want.InRecovery, want.Timeline = true, 9
	if got, err := a.read("south", noon, noon.Add(time.Second)); err != nil || got != want {
		t.Errorf("in recovery: got %+v %v", got, err)
	}
}

// From 2038, the identifiers of new systems are beyond the signed type of SQL.
func TestASystemIsUnsigned(t *testing.T) {
	a := given()
	a.system = math.MinInt64
	if got, err := a.read("south", noon, noon); err != nil || got.System != "9223372036854775808" {
		t.Errorf("got %q %v", got.System, err)
	}
}

// A site whose operator is older has no epoch.
func TestAnEpochThatIsNotSetIsZero(t *testing.T) {
	a := given()
	a.epoch = ""
	if got, err := a.read("south", noon, noon); err != nil || got.Epoch != 0 {
		t.Errorf("got %d %v", got.Epoch, err)
	}
}

func TestHostileAnswersAreNotRead(t *testing.T) {
	for name, change := range map[string]func(*answer){
		"a file of no name":               func(a *answer) { a.file = "" },
		"a file of a long name":           func(a *answer) { a.file = strings.Repeat("0", 25) },
		"a file of no timeline":           func(a *answer) { a.file = "timeline" + a.file[8:] },
		"a file with a sign":              func(a *answer) { a.file = "+000000A" + a.file[8:] },
		"a negative timeline in recovery": func(a *answer) { a.recovers, a.timeline = true, -1 },
		"an epoch in words":               func(a *answer) { a.epoch = "the last" },
		"a negative epoch":                func(a *answer) { a.epoch = "-1" },
		"an epoch that cannot be added":   func(a *answer) { a.epoch = "9223372036854775807" },
		"an epoch of 64 bits":             func(a *answer) { a.epoch = "9223372036854775808" },
		"a long primary":                  func(a *answer) { a.primary = strings.Repeat("p", 254) },
		"a primary of two lines":          func(a *answer) { a.primary = "north\nReady" },
		"a long topology":                 func(a *answer) { a.topology = strings.Repeat("t", 513) },
		"a clock of no number":            func(a *answer) { a.now = math.NaN() },
		"a clock without end":             func(a *answer) { a.now = math.Inf(1) },
		"a clock before 1970":             func(a *answer) { a.now = -1 },
		"a clock beyond milliseconds":     func(a *answer) { a.now = 1e15 },
	} {
		a := given()
		change(&a)
		got, err := a.read("south", noon, noon)
		if !errors.Is(err, errNotUnderstood) || got != (report.Member{}) {
			t.Errorf("%s: got %+v %v", name, got, err)
		}
	}
}

func TestSkewIsPositiveWhereTheSiteIsAhead(t *testing.T) {
	for name, c := range map[string]struct {
		site time.Time
		trip time.Duration
		want int64
	}{
		"the same":                        {noon, 0, 0},
		"ahead":                           {noon.Add(90 * time.Second), 0, 90000},
		"behind":                          {noon.Add(-90 * time.Second), 0, -90000},
		"a trip alone is not a skew":      {noon.Add(time.Second), 2 * time.Second, 0},
		"half of the trip is subtracted":  {noon.Add(61 * time.Second), 2 * time.Second, 60000},
		"less than a millisecond is none": {noon.Add(400 * time.Microsecond), 0, 0},
	} {
		got, err := skewOf(float64(c.site.UnixMicro())/1e6, noon, noon.Add(c.trip))
		if err != nil || got != c.want {
			t.Errorf("%s: got %d %v, want %d", name, got, err, c.want)
		}
	}
}
