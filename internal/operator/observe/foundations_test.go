package observe

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// What the instances report about durability is read, whatever else they report. What a
// standby reports about roles is not newer than what the primary reports.
func TestFoundationsAreRead(t *testing.T) {
	report := func(text, instance, primary string) observed.ReadBack {
		t.Helper()
		found, err := readAnswer(strings.NewReader(text), map[string]bool{"jit": true})
		if err != nil {
			t.Fatal(err)
		}
		out := observed.ReadBack{Instances: map[string]map[string]float64{}, Settings: map[string]map[string]string{}}
		found.add(&out, instance, primary)
		return out
	}
	want := observed.ReadBack{
		Instances:     map[string]map[string]float64{"db-1": {"jit": 0}},
		Settings:      map[string]map[string]string{"db-1": {"fsync": "off", "synchronous_standby_names": `ANY 1 ("db-2","db-1")`}},
		Overrides:     []observed.Override{{Role: "app", Name: "synchronous_commit", Value: "off"}},
		OverridesRead: true,
		Followers:     []string{"far-1"},
	}
	if diff := cmp.Diff(want, report(honest+foundations, "db-1", "db-1")); diff != "" {
		t.Error(diff)
	}
	if got := report(honest+foundations, "db-2", "db-1"); got.OverridesRead || len(got.Overrides) > 0 {
		t.Errorf("a standby's overrides count: %+v", got)
	}
	// An instance that does not run the queries says nothing, which is not the same as none.
	if got := report(honest, "db-1", "db-1"); got.OverridesRead || got.Settings["db-1"] != nil {
		t.Errorf("%+v", got)
	}
}

// A tenant writes the labels: what is kept of them is bounded.
func TestFoundationsAreBounded(t *testing.T) {
	var text strings.Builder
	long := strings.Repeat("x", 1000)
	for range 200 {
		text.WriteString("cnpg_pgstorage_override_rows{datname=\"" + long + "\",name=\"fsync\",value=\"" + long + "\"} 1\n")
	}
	_, err := readAnswer(strings.NewReader(text.String()), nil)
	if !errors.Is(err, errFamilyTooLong) {
		t.Errorf("400 KB of one family: %v", err)
	}
	got, err := readAnswer(strings.NewReader(text.String()[:maxFamily/2]), nil)
	if err == nil {
		t.Errorf("a line that was cut: %+v", got)
	}
	some := strings.Join(strings.SplitAfter(text.String(), "\n")[:110], "")
	got, err = readAnswer(strings.NewReader(some), nil)
	if err != nil || len(got.overrides) != mostRows || len(got.overrides[0].Database) > mostName || len(got.overrides[0].Value) > mostName {
		t.Errorf("%v: %d rows", err, len(got.overrides))
	}
}
