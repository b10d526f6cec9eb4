// Package preflight checks whether a ZeroFS server can work with its store, before a
// server starts. It reports what is wrong to the administrator, where ZeroFS would log
// half of it and retry indefinitely. Its checks do not write, except for conditional
// writes, which only a write can prove.
package preflight
