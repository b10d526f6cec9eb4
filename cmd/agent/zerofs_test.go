package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

func TestSubcommand(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		done bool
	}{
		{"", 0, false},
		{"--version", 0, false},
		{"zerofs-run", exitUsage, true},
		{"zerofs-run --dir /tmp/none", exitUsage, true},
		{"zerofs-run --unknown", exitUsage, true},
		{"zerofs-run --dir /tmp/none --prometheus 127.0.0.1:0", exitUsage, true},
		{"zerofs-preflight", exitUsage, true},
		{"zerofs-preflight --url s3://a/b extra", exitUsage, true},
		{"zerofs-install", exitFailed, true},
	} {
		if code, done := subcommand(strings.Fields(c.args)); code != c.code || done != c.done {
			t.Errorf("%q: %d %v", c.args, code, done)
		}
	}
}

// A preflight that fails before its first request to the store reports the reason to
// the kubelet.
func TestPreflightReports(t *testing.T) {
	t.Setenv(zerofs.EnvPassword, "short")
	t.Setenv(zerofs.EnvNodeName, "node-1")
	log := filepath.Join(t.TempDir(), "log")
	code, _ := subcommand([]string{"zerofs-preflight", "--url", "s3://a/" + zerofs.NodeNameInURL, "--termination-log", log})
	raw, err := os.ReadFile(log)
	if f := zerofs.ParseFailure(string(raw)); code != exitFailed || err != nil || f == nil || f.Reason != zerofs.ReasonPasswordInvalid {
		t.Errorf("%d %v %s", code, err, raw)
	}
}

func TestPreflightNodeName(t *testing.T) {
	args := []string{"--url", "s3://a/p/" + zerofs.NodeNameInURL}
	t.Setenv(zerofs.EnvNodeName, "")
	if _, _, err := preflightFlags(args); err == nil {
		t.Error("a url without its node was accepted")
	}
	t.Setenv(zerofs.EnvNodeName, "n1")
	o, termination, err := preflightFlags(args)
	if err != nil || o.URL != "s3://a/p/n1" || termination != zerofs.TerminationLog {
		t.Errorf("%v %+v", err, o)
	}
}

func TestInstall(t *testing.T) {
	to := filepath.Join(t.TempDir(), "agent")
	if err := zerofsInstall([]string{to}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(to)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, %d bytes", err, len(got))
	}
	if i, err := os.Stat(to); err != nil || i.Mode().Perm() != 0o755 {
		t.Errorf("%v %v", err, i.Mode())
	}
}

// A meter needs both of its flags, and an address that the pod alone reaches.
func TestMeterFlags(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for _, c := range []struct {
		address, store string
		good           bool
	}{
		{"", "", true},
		{"127.0.0.1:0", "https://s3.example", true},
		{"127.0.0.1:0", "", false},
		{"", "https://s3.example", false},
		{"127.0.0.1:0", "s3.example", false},
		{"127.0.0.1:none", "https://s3.example", false},
	} {
		m, err := startMeter(c.address, c.store, log)
		if (err == nil) != c.good || (m != nil) != (c.good && c.address != "") {
			t.Errorf("%q %q: %v %v", c.address, c.store, m, err)
		}
		if m != nil {
			_ = m.Close()
		}
	}
}
