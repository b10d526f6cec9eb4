//go:build !linux

package runner

// unbuffered is known on Linux alone, where the runner runs.
func unbuffered(string) bool { return false }
