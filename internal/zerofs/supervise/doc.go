// Package supervise is the first process of a ZeroFS server's container. It relays the
// server's block devices, and starts ZeroFS again whenever it ends. Beside its sockets
// it records which life of the relay this is, and how it ended. From that record a node
// knows whether its devices still have what was written to them.
package supervise
