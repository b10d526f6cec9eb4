//go:build linux

package harness

import (
	"slices"
	"testing"
)

func TestListenerKeepsFactsAndShowsOtherLines(t *testing.T) {
	type fact struct{ N int }
	var last fact
	var all []int
	l := &listener{facts: Facts{"facts": Into(&last), "cell": Each(func(f fact) { all = append(all, f.N) })}}
	for _, line := range []string{"facts {\"N\": 1}\n", "cell {\"N\": 2}\n", "cells {\n", "\n", "facts {\"N\": 3}\n", "cell {\"N\": 4}\n"} {
		if n, err := l.Write([]byte(line)); err != nil || n != len(line) {
			t.Errorf("Write(%q) = %d, %v, want %d", line, n, err, len(line))
		}
	}
	if l.err != nil || last.N != 3 || !slices.Equal(all, []int{2, 4}) {
		t.Errorf("last fact %v, cells %v, error %v, want 3, [2 4] and none", last, all, l.err)
	}
	if _, err := l.Write([]byte("cell {\"N\"\n")); err != nil || l.err == nil || len(all) != 2 {
		t.Errorf("half a fact: cells %v, error %v, want two and an error", all, l.err)
	}
}
