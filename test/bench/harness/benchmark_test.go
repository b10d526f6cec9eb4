//go:build linux

package harness

import (
	"flag"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func TestClients(t *testing.T) {
	clients := Clients{1, 4}
	flags := flag.NewFlagSet("x", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Var(&clients, "clients", "")
	if err := flags.Parse(nil); err != nil || clients.String() != "1,4" {
		t.Errorf("%v, %v", clients, err)
	}
	if err := flags.Parse([]string{"-clients", "2,8,50"}); err != nil || !slices.Equal(clients, Clients{2, 8, 50}) {
		t.Errorf("%v, %v", clients, err)
	}
	for _, text := range []string{"", "0", "x", "1,", "1,-4"} {
		if err := flags.Parse([]string{"-clients", text}); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// What a guest tells is kept, what it does not tell of is shown, and what cannot be read
// is an error.
func TestListener(t *testing.T) {
	type fact struct{ N int }
	var last fact
	var all []int
	l := &listener{told: Told{"facts": Into(&last), "cell": Each(func(f fact) { all = append(all, f.N) })}}
	for _, line := range []string{"facts {\"N\": 1}\n", "cell {\"N\": 2}\n", "cells {\n", "\n", "facts {\"N\": 3}\n", "cell {\"N\": 4}\n"} {
		if n, err := l.Write([]byte(line)); err != nil || n != len(line) {
			t.Errorf("%q: %d, %v", line, n, err)
		}
	}
	if l.err != nil || last.N != 3 || !slices.Equal(all, []int{2, 4}) {
		t.Errorf("%v, %v, %v", last, all, l.err)
	}
	if _, err := l.Write([]byte("cell {\"N\"\n")); err != nil || l.err == nil || len(all) != 2 {
		t.Errorf("half a fact: %v, %v", all, l.err)
	}
}

func TestLines(t *testing.T) {
	text, err := Lines([]map[string]int{{"a": 1}, {"b": 2}})
	if err != nil || string(text) != "{\"a\":1}\n{\"b\":2}\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := Lines([]any{func() {}}); err == nil {
		t.Error("a function is no JSON")
	}
}

func TestSpread(t *testing.T) {
	for want, values := range map[string][]float64{
		"–":                                  {},
		"2.0 (2.0 to 2.0)":                   {2000},
		"2.0 (1.0 to 3.0); -0.5 to 4.5":      {1000, 2000, 3000},
		"15.0 (10.0 to 20.0); -48.5 to 78.5": {10000, 20000},
	} {
		if got := Spread(Summary(values), 1, 1e3); got != want {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
	}
}

func TestGain(t *testing.T) {
	of, over := map[int]float64{0: 200, 1: 220, 2: 180}, map[int]float64{0: 100, 1: 110, 2: 90, 3: 1}
	if got := Ratio(Gain(v1alpha1.DurabilityLocal, map[int]float64{0: 201, 1: 220, 2: 180}, over)); !strings.HasPrefix(got, "2.00 (1.99 to 2.0") {
		t.Error(got)
	}
	if got := Ratio(Gain(v1alpha1.DurabilityLocal, of, map[int]float64{0: 100})); got != "too few runs" {
		t.Error(got)
	}
	if got := Ratio(Gain(v1alpha1.DurabilityLocal, nil, nil)); got != "too few runs" {
		t.Error(got)
	}
}

func TestSettings(t *testing.T) {
	var out strings.Builder
	Settings(&out, []string{"pool x"}, map[string]map[string]string{"b": {"z": "1", "a": "2"}, "a": {"c": "3"}})
	if !strings.Contains(out.String(), "pool x\n\na:\nc = 3\n\nb:\na = 2\nz = 1\n```\n") {
		t.Errorf("%s", &out)
	}
}

// A page's places are its target's.
func TestPlace(t *testing.T) {
	p := Place("bench-zfs")
	if p.Begin != "<!-- written by make bench-zfs -->" || p.End != "<!-- end of what make bench-zfs writes -->" {
		t.Errorf("%+v", p)
	}
}
