package live

import "testing"

// InTurn returns a function that runs a step of a test. Each step builds on the steps before it,
// so a step that fails ends the test.
func InTurn(t *testing.T) func(name string, run func(*testing.T)) {
	return func(name string, run func(*testing.T)) {
		t.Helper()
		if !t.Run(name, run) {
			t.Fatalf("%s failed, and the rest builds on it", name)
		}
	}
}

// InTurnOn is InTurn for steps that take what the test follows, for example its database.
func InTurnOn[S any](t *testing.T, subject S) func(name string, run func(*testing.T, S)) {
	step := InTurn(t)
	return func(name string, run func(*testing.T, S)) {
		t.Helper()
		step(name, func(t *testing.T) { run(t, subject) })
	}
}

// Completed runs a subtest and reports whether it ran to its end. A subtest that reported errors
// and went on has completed, and what comes next can build on it. So has one that was skipped.
func Completed(t *testing.T, name string, run func(*testing.T)) bool {
	t.Helper()
	completed := false
	t.Run(name, func(t *testing.T) {
		defer func() { completed = completed || t.Skipped() }()
		run(t)
		completed = true
	})
	return completed
}
