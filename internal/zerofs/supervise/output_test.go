package supervise

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

func TestLines(t *testing.T) {
	var out bytes.Buffer
	l := &lines{to: &out, hide: zerofs.Secrets{"secret"}}
	long := strings.Repeat("x", maxLine-3)
	for _, part := range []string{"a sec", "ret\nb\n", "", long, "secret\n", "c"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// The secret that a long line ends with is cut, and its rest is not passed on.
	if want := "a ***\nb\n" + long + "sec\nc\n"; out.String() != want {
		t.Errorf("%.80q", out.String())
	}
}

func TestExplainsByLog(t *testing.T) {
	for in, want := range map[string]string{
		"2026 ERROR a: flush failed: kind: Connect\nError: I/O error":                    zerofs.ReasonEndpointUnreachable,
		"2026 ERROR a: flush failed\n2026 INFO b\nError: I/O error":                      zerofs.ReasonServerFailed,
		"2026 ERROR kind: Connect\nError: Invalid password or corrupted key\n":           zerofs.ReasonPasswordWrong,
		"2026 ERROR code AccessDenied\nError: Password validation failed: ERROR in it\n": zerofs.ReasonPasswordInvalid,
	} {
		d := &diagnosis{}
		for line := range strings.SplitSeq(in, "\n") {
			d.line(line)
		}
		if f := d.explain(nil); f.Reason != want {
			t.Errorf("%q: %v, wanted %s", in, f, want)
		}
	}
}

func TestDiagnosis(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"\x1b[32mINFO\x1b[0m x\n\nlast\n": "last",
		"INFO x\nError: Failed: A {\n  path: \"p\",\n}\n\nStack backtrace:\n   0: <unknown>\n":                                                `Failed: A { path: "p", }`,
		"Error: a\n\nCaused by:\n    0: b\n":                                                                                                  "a Caused by: 0: b",
		"thread 'main' panicked at src/x.rs:1:2:\nout of it\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n": "thread 'main' panicked at src/x.rs:1:2: out of it",
		"Error: " + strings.Repeat("y", 2*maxSaid) + "\nmore":                                                                                 strings.Repeat("y", 2*maxSaid),
	} {
		d := &diagnosis{}
		for line := range strings.SplitSeq(in, "\n") {
			d.line(line)
		}
		if got := d.said(); got != want {
			t.Errorf("%.80q: %.80q, wanted %.80q", in, got, want)
		}
	}
}
