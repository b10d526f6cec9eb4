// Package relay forwards requests between the kernel's NBD driver and ZeroFS. It keeps
// each write until a later flush has succeeded, and repeats it to a restarted ZeroFS.
// So the end of ZeroFS is a pause for the device, without loss. An NFS client does the
// same with its unstable writes when the server's write verifier changes (RFC 1813,
// sections 3.3.7 and 3.3.21).
//
// The relay never answers a failed write, trim or flush with an error. OpenZFS
// acknowledges a commit although its flush failed (openzfs pull request 16314). Such a
// request waits until ZeroFS has done it.
package relay
