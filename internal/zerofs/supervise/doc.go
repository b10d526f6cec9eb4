// Package supervise runs a ZeroFS server as the first process of its container, and
// keeps beside its sockets which life of the server this is and how it ended: only
// then can a node know whether its devices still hold what was written to them.
package supervise
