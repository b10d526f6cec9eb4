// Package supervise is the first process of a ZeroFS server's container. It relays the
// server's block devices, starts ZeroFS again whenever it ends, and keeps beside its
// sockets which life of the relay this is and how it ended: only then can a node know
// whether its devices still hold what was written to them.
package supervise
