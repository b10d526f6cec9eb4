package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlaceNamesTheMakeTarget(t *testing.T) {
	p := Place("bench-zfs")
	if p.Begin != "<!-- written by make bench-zfs -->" || p.End != "<!-- end of what make bench-zfs writes -->" {
		t.Errorf("Place(bench-zfs) = %+v", p)
	}
}

func TestOutcomeIsWrittenBeforeItIsJudged(t *testing.T) {
	missed := errors.New("missed")
	o := Outcome{Report: "report\n", Page: "x.md", Place: Place("x"), Judge: func() error { return missed }}
	folder := filepath.Join(t.TempDir(), "new")
	if err := o.Publish(folder); !errors.Is(err, missed) {
		t.Errorf("Publish() = %v, want %v", err, missed)
	}
	text, err := os.ReadFile(filepath.Join(folder, "x.md"))
	if err != nil || !strings.Contains(string(text), "\nreport\n") {
		t.Errorf("the page is %q, %v", text, err)
	}
	if err := o.Publish(""); !errors.Is(err, missed) {
		t.Errorf("Publish() without a folder = %v, want %v", err, missed)
	}
}
