//go:build linux

package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
	server "github.com/pgstorage/pgstorage/internal/testing/postgres"
)

// accepting is a server that is started again and again, with one configuration each time.
type accepting struct {
	*server.Server
	major int
}

// started is a server of this machine's Postgres until the test ends. It skips where there is
// none.
func started(ctx context.Context, t *testing.T) *server.Server {
	t.Helper()
	s, err := server.Start(ctx)
	if errors.Is(err, server.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// startReal makes a data directory, or skips where there is no Postgres.
func startReal(t *testing.T) accepting {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Postgres many times")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	s := started(ctx, t)
	r := accepting{Server: s}
	out, err := s.Command(ctx, "postgres", "--version").Output()
	if err == nil {
		r.major, err = strconv.Atoi(regexp.MustCompile(`\d+`).FindString(string(out)))
	}
	if err == nil {
		err = r.Down(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// configure the next start.
func (r accepting) configure(t *testing.T, settings map[string]string) {
	t.Helper()
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s = '%s'\n", name, strings.ReplaceAll(settings[name], "'", "''"))
	}
	if err := os.WriteFile(filepath.Join(r.Data, "postgresql.conf"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read the configuration, without a start; "" when Postgres takes all of it.
func (r accepting) read(t *testing.T, settings map[string]string, name string) (string, error) {
	t.Helper()
	r.configure(t, settings)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := r.Command(ctx, "postgres", "-D", r.Data, "-C", name).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// starts says whether a server starts with the settings, and what it said if not.
func (r accepting) starts(t *testing.T, settings map[string]string) error {
	t.Helper()
	r.configure(t, settings)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	log := filepath.Join(r.Dir, "log")
	if err := os.Truncate(log, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.Up(ctx); err != nil {
		said, _ := os.ReadFile(log)
		return fmt.Errorf("%w: %s", err, said)
	}
	return r.Down(ctx)
}

// roomy has space for much, so that each refusal has one cause.
func roomy(major int) Inputs {
	return Inputs{Major: major, Workload: OLTP, Medium: SSD, Tier: durability.Local, Instances: 3, MemoryBytes: 8 * gB, CPUs: 2, DataBytes: 100 * gB, WALBytes: 20 * gB}
}

// settingsOf what is accepted; false where something is refused.
func settingsOf(in Inputs, name, value string) (map[string]string, bool) {
	in.User = map[string]string{name: value}
	ps, refusals := Compute(in)
	out := map[string]string{}
	for _, p := range ps {
		out[p.Name] = p.Value
	}
	return out, len(refusals) == 0
}

// boundaries of a parameter: every word, the ends of its range, and where an end is
// refused the last value that is accepted.
func boundaries(in Inputs, s setting) []string {
	switch s.kind {
	case "bool":
		return []string{"on", "off"}
	case "enum":
		return s.enum
	case "integer", "real":
		out := []string{s.print(s.min), s.print(s.max)}
		if _, ok := settingsOf(in, s.name, out[1]); ok || s.kind == "real" {
			return out
		}
		low, high := max(s.min, 1), s.max // the first accepted power of two, then what is between
		for _, ok := settingsOf(in, s.name, s.print(low)); !ok && low < high; _, ok = settingsOf(in, s.name, s.print(low)) {
			low *= 2
		}
		for high-low > max(low/1000, 1) {
			middle := low + float64(int64(high-low)/2)
			if _, ok := settingsOf(in, s.name, s.print(middle)); ok {
				low = middle
			} else {
				high = middle
			}
		}
		return append(out, s.print(low))
	}
	return textSamples[strings.ToLower(s.name)]
}

// What is accepted must start: every parameter of this machine's Postgres, at every
// boundary. Parameters that decide what a start allocates are started one by one with
// everything that is computed beside them, all others together.
func TestAcceptedStarts(t *testing.T) {
	r := startReal(t)
	in := roomy(r.major)
	var rounds []map[string]string
	accepted := 0
	for _, key := range slices.Sorted(maps.Keys(catalogue()[r.major])) {
		s := catalogue()[r.major][key]
		s.name = key
		round := 0
		for _, value := range boundaries(in, s) {
			settings, ok := settingsOf(in, key, value)
			if !ok {
				continue
			}
			accepted++
			if s.context == "postmaster" || key == "log_statement_stats" || key == "max_stack_depth" {
				if err := r.starts(t, settings); err != nil {
					t.Errorf("%s = %s is accepted, and Postgres does not start: %v", key, value, err)
				}
				continue
			}
			if len(rounds) <= round {
				rounds = append(rounds, map[string]string{})
			}
			rounds[round][key] = settings[key]
			round++
		}
	}
	if accepted < 400 {
		t.Errorf("only %d values were tried", accepted)
	}
	for i, settings := range rounds {
		if said, err := r.read(t, settings, "max_connections"); err != nil {
			t.Errorf("accepted, and Postgres does not read it: %s", said)
		} else if i >= 2 { // few parameters have more than two values
			continue
		} else if err := r.starts(t, settings); err != nil {
			t.Errorf("accepted, and Postgres does not start: %v: %v", err, settings)
		}
	}
}
