package restorecheck

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// The last timeline counts, and a position at the start of a file is the end of the one before.
func TestFileOfAHistory(t *testing.T) {
	const segment = 16 << 20
	for history, want := range map[string]string{
		"1\t0/5000000\tno recovery target specified\n":                   "0000000000000004",
		"1\t0/5000028\tno recovery target specified\n":                   "0000000000000005",
		"1\t0/5000028\tx\n\n2\t1/2A000100\tno recovery target specified": "000000010000002A",
		"# comment\n1\t0/100\tbefore 2000-01-01\n":                       "0000000000000000",
	} {
		if got, err := fileOf(history, segment); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", history, got, err, want)
		}
	}
	for _, history := range []string{"", "1", "1\tx", "1\tx/y\tz", "1\t0/zz\tz"} {
		if got, err := fileOf(history, segment); err == nil {
			t.Errorf("%q: %s", history, got)
		}
	}
	if got, err := fileOf("1\t1/0\tx", 1<<30); err != nil || got != "0000000000000003" {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := fileOf("1\t1/0\tx", 0); err == nil {
		t.Error("a segment of no bytes is accepted")
	}
}

func TestWALThatIsMissingFails(t *testing.T) {
	at := position{wal: "0000000000000005"}
	for want, result := range map[string]string{
		"0000000000000005": v1alpha1.CheckPassed, "0000000000000004": v1alpha1.CheckPassed,
		"0000000000000006": v1alpha1.CheckFailed, "0000000100000000": v1alpha1.CheckFailed,
		"": v1alpha1.CheckNotRun,
	} {
		if got := checkWAL(want, at); got.Result != result || got.Message == "" {
			t.Errorf("%q: %+v", want, got)
		}
	}
	if got := checkSystem("1", "2"); got.Result != v1alpha1.CheckFailed {
		t.Errorf("%+v", got)
	}
	if got := checkSystem("1", "1"); got.Result != v1alpha1.CheckPassed {
		t.Errorf("%+v", got)
	}
}

// A report of long messages fits a termination message, and keeps every check.
func TestReportFitsATerminationMessage(t *testing.T) {
	r := Report{WAL: "0000000000000005", Size: 1 << 40}
	for range 21 {
		r.Checks = append(r.Checks, v1alpha1.IntegrityCheck{Name: CheckTable, Result: v1alpha1.CheckFailed, Message: strings.Repeat(`"é`, 400)})
	}
	text, err := r.Encode()
	if err != nil || len(text) > 4096 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	back, err := Decode(string(text))
	if err != nil || len(back.Checks) != 21 || back.WAL != r.WAL || back.Size != r.Size || back.Checks[20].Message == "" {
		t.Errorf("%+v, %v", back, err)
	}
}

// Whatever runs in the pod may write the report.
func TestHostileReports(t *testing.T) {
	for _, text := range []string{"", "x", "{}", `{"checks":[]}`, `{"checks":[` + strings.Repeat(`{},`, 40) + `{}]}`, `{"checks":{"a":1}}`} {
		if r, err := Decode(text); err == nil {
			t.Errorf("%q: %+v", text, r)
		}
	}
	r, err := Decode(`{"wal":"` + strings.Repeat("F", 99) + `","size":-5,"checks":[{"name":"` + strings.Repeat("n", 99) + `","result":"Passed","message":"` + strings.Repeat("m", 999) + `"}]}`)
	if err != nil || len(r.WAL) > 16 || r.Size != 0 || len(r.Checks[0].Name) > 64 || len(r.Checks[0].Message) > mostMessage {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSpecNeedsItsFields(t *testing.T) {
	if s, err := Parse(`{"database":"app","owner":"app","system":"7","seconds":60,"tables":[{"name":"public.t","minRows":2}]}`); err != nil || s.Tables[0].MinRows != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, text := range []string{"", "{}", `{"database":"app","owner":"app","seconds":60}`, `{"database":"app","owner":"app","system":"7"}`} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, s)
		}
	}
}
