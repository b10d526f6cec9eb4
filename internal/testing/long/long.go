// Package long marks tests that take minutes and repeat, in more variants, what shorter ones
// show. make test sets -short and so omits them; make test-long and each level alone run them.
package long

import "testing"

// Skip ends a test under -short, and names the command that runs it.
func Skip(t testing.TB, command string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("long: %s runs it", command)
	}
}
