//go:build !linux

package benchrun

// unbuffered is known on Linux alone, where the runner runs.
func unbuffered(string) bool { return false }
