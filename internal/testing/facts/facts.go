// Package facts compares messages by their key facts, so that a test survives a
// rewording.
package facts

import (
	"fmt"
	"strings"
	"testing"
)

// Gap in an expected text stands for any wording.
const Gap = "…"

// Same fails the test if got, printed, does not match want. Each Gap in want matches any
// text, also an empty one; everything else must occur literally and in this order.
func Same(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); !Match(g, w) {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// Match reports whether a text matches an expected one with gaps.
func Match(got, want string) bool {
	pieces := strings.Split(want, Gap)
	if len(pieces) == 1 {
		return got == want
	}
	rest, found := strings.CutPrefix(got, strings.TrimSuffix(pieces[0], " "))
	for _, piece := range pieces[1 : len(pieces)-1] {
		_, after, is := strings.Cut(rest, strings.TrimSpace(piece))
		found, rest = found && is, after
	}
	return found && strings.HasSuffix(rest, strings.TrimPrefix(pieces[len(pieces)-1], " "))
}
