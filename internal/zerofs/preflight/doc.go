// Package preflight finds out whether a ZeroFS server could work with its store,
// before one is started: a person is told what is wrong, where ZeroFS would tell half
// of it and try again forever. What is found wrong is found without writing, but for
// conditional writes, which only a write can prove.
package preflight
