package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// example has a site that follows, one that did not answer, and one that was not asked yet.
func example() Report {
	return Report{Members: []Member{
		{
			Name: "south", Asked: 1795702958, Answered: true, InRecovery: true, System: "7712485473208298184", Timeline: 3,
			Primary: "north", Epoch: 2, Topology: "5f2c9a17", ClockSkewMilliseconds: -12,
		},
		{Name: "west", Asked: 1795702957, Problem: TimedOut},
		{Name: "east"},
	}}
}

// wire is what a watcher sends for example. The operator of another version reads it.
const wire = `{"members":[` +
	`{"name":"south","asked":1795702958,"answered":true,"inRecovery":true,"system":"7712485473208298184","timeline":3,` +
	`"primary":"north","epoch":2,"topology":"5f2c9a17","clockSkewMilliseconds":-12},` +
	`{"name":"west","asked":1795702957,"answered":false,"problem":"timed out","inRecovery":false,"clockSkewMilliseconds":0},` +
	`{"name":"east","asked":0,"answered":false,"inRecovery":false,"clockSkewMilliseconds":0}]}`

func TestTheWireStaysAsItIs(t *testing.T) {
	raw, err := json.Marshal(example())
	if err != nil || string(raw) != wire {
		t.Errorf("got %s %v\nwant %s", raw, err, wire)
	}
	got, err := Decode(strings.NewReader(wire))
	if err != nil || !reflect.DeepEqual(got, example()) {
		t.Errorf("got %+v %v", got, err)
	}
}

// largest is a valid report that no other exceeds in length.
func largest() Report {
	var out Report
	for i := range MaxMembers {
		out.Members = append(out.Members, Member{
			// JSON writes '<' as six bytes.
			Name: strings.Repeat("<", MaxName-1) + string(rune('0'+i)), Asked: math.MaxInt64, Answered: true, InRecovery: true,
			System: "18446744073709551615", Timeline: math.MaxUint32, Primary: strings.Repeat("<", MaxName),
			Epoch: MaxEpoch, Topology: strings.Repeat("<", MaxTopology), ClockSkewMilliseconds: -MaxSkew,
		})
	}
	return out
}

func TestTheLargestReportIsDecoded(t *testing.T) {
	raw, err := json.Marshal(largest())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(bytes.NewReader(raw)); err != nil || !reflect.DeepEqual(got, largest()) {
		t.Errorf("%d bytes: %v", len(raw), err)
	}
}

func TestWhatIsNotAReportIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"nothing":                      {"", ErrMalformed},
		"another type":                 {"[]", ErrMalformed},
		"half of one":                  {wire[:200], ErrMalformed},
		"two of them":                  {wire + wire, ErrMalformed},
		"text behind it":               {wire + "x", ErrMalformed},
		"an unknown field":             {`{"members":[],"then":1}`, ErrMalformed},
		"an unknown field of a member": {`{"members":[{"name":"a","token":"x"}]}`, ErrMalformed},
		"a number as a name":           {`{"members":[{"name":7}]}`, ErrMalformed},
		"a fraction as a timeline":     {`{"members":[{"name":"a","timeline":1.5}]}`, ErrMalformed},
		"a number beyond 64 bits":      {`{"members":[{"name":"a","asked":9223372036854775808}]}`, ErrMalformed},
		"a page of HTML":               {"<html>503 Service Unavailable</html>", ErrMalformed},
		"endless depth":                {strings.Repeat(`{"members":`, 5000), ErrMalformed},
		"more than 64 KiB":             {wire + strings.Repeat(" ", MaxBytes), ErrTooLong},
		"nine members":                 {`{"members":[` + strings.Repeat(`{"name":"a"},`, 8) + `{"name":"b"}]}`, ErrTooMany},
	} {
		got, err := Decode(strings.NewReader(c.text))
		if !errors.Is(err, c.want) || got.Members != nil {
			t.Errorf("%s: got %+v %v", name, got, err)
		}
	}
}

func TestAnErrorOfTheReaderIsReturned(t *testing.T) {
	broken := errors.New("reset")
	if _, err := Decode(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// A connection that never ends is read up to the bound.
func TestAnEndlessReportIsRefused(t *testing.T) {
	endless := &spaces{}
	if _, err := Decode(endless); !errors.Is(err, ErrTooLong) || endless.read > 2*MaxBytes {
		t.Errorf("%v after %d bytes", err, endless.read)
	}
}

type spaces struct{ read int }

func (s *spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	s.read += len(p)
	return len(p), nil
}

func TestValuesBeyondTheirBoundsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Member)
		want   error
	}{
		"no name":                       {func(m *Member) { m.Name = "" }, errName},
		"a long name":                   {func(m *Member) { m.Name = strings.Repeat("n", MaxName+1) }, errName},
		"a name of two lines":           {func(m *Member) { m.Name = "south\nReady=True" }, errName},
		"a name beyond ASCII":           {func(m *Member) { m.Name = "süd" }, errName},
		"asked before 1970":             {func(m *Member) { m.Asked = -1 }, errAsked},
		"an answer never asked":         {func(m *Member) { m.Asked = 0 }, errAsked},
		"an answer with a problem":      {func(m *Member) { m.Problem = Refused }, errProblem},
		"an answer in other words":      {func(m *Member) { m.Problem = "all is well" }, errProblem},
		"a failure in other words":      {func(m *Member) { *m = Member{Name: "a", Asked: 1, Problem: "FATAL: no pg_hba.conf entry"} }, errProblem},
		"a failure without a problem":   {func(m *Member) { *m = Member{Name: "a", Asked: 1} }, errProblem},
		"a problem before any attempt":  {func(m *Member) { *m = Member{Name: "a", Problem: Refused} }, errProblem},
		"facts without an answer":       {func(m *Member) { m.Answered, m.Problem = false, Refused }, errFacts},
		"no system":                     {func(m *Member) { m.System = "" }, errSystem},
		"a system with a sign":          {func(m *Member) { m.System = "+1" }, errSystem},
		"a system with zeros before it": {func(m *Member) { m.System = "007" }, errSystem},
		"a system of 65 bits":           {func(m *Member) { m.System = "18446744073709551616" }, errSystem},
		"a negative timeline":           {func(m *Member) { m.Timeline = -1 }, errTimeline},
		"a timeline of 33 bits":         {func(m *Member) { m.Timeline = math.MaxUint32 + 1 }, errTimeline},
		"a negative epoch":              {func(m *Member) { m.Epoch = -1 }, errEpoch},
		"an epoch that cannot be added": {func(m *Member) { m.Epoch = math.MaxInt64 }, errEpoch},
		"a long primary":                {func(m *Member) { m.Primary = strings.Repeat("p", MaxName+1) }, errPrimary},
		"a primary with a space":        {func(m *Member) { m.Primary = "north south" }, errPrimary},
		"a long topology":               {func(m *Member) { m.Topology = strings.Repeat("t", MaxTopology+1) }, errTopology},
		"a topology with an escape":     {func(m *Member) { m.Topology = "\x1b[2J" }, errTopology},
		"a clock far behind":            {func(m *Member) { m.ClockSkewMilliseconds = math.MinInt64 }, errSkew},
		"a clock far ahead":             {func(m *Member) { m.ClockSkewMilliseconds = MaxSkew + 1 }, errSkew},
	} {
		m := example().Members[0]
		c.change(&m)
		raw, err := json.Marshal(Report{Members: []Member{m}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(bytes.NewReader(raw)); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestANameTwiceIsRefused(t *testing.T) {
	if _, err := Decode(strings.NewReader(`{"members":[{"name":"a"},{"name":"a"}]}`)); err == nil {
		t.Error("decoded")
	}
}

// What is decoded is within its bounds, and decodes again to the same. No error repeats what
// was sent.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(wire))
	f.Add([]byte(`{"members":[{"name":"a"}],"members":[{"name":"b","answered":true}]}`))
	f.Add([]byte(`{"MEMBERS":[{"NAME":"a","Asked":1,"problem":"\u006eo route"}]}`))
	f.Add([]byte(`{"members":null}`))
	f.Add([]byte("{\"members\":[{\"name\":\"\xff\"}]}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Decode(bytes.NewReader(raw))
		if err != nil {
			if got.Members != nil || len(err.Error()) > 200 || !printable(strings.ReplaceAll(err.Error(), " ", ""), 200) {
				t.Errorf("%+v %q", got, err)
			}
			return
		}
		if err := got.Validate(); err != nil || len(raw) > MaxBytes {
			t.Errorf("%d bytes, %v", len(raw), err)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		same, err := Decode(bytes.NewReader(again))
		if err != nil || len(same.Members) != len(got.Members) {
			t.Errorf("%s: %v", again, err)
		}
	})
}
