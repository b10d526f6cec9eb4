// Package relay stands between the kernel's NBD driver and ZeroFS. It keeps each write
// until a later flush has succeeded, and repeats what it keeps to a ZeroFS that was
// started again, so that the end of ZeroFS is a pause for the device and no loss. An
// NFS client does the same with its unstable writes when the server's write verifier
// changes (RFC 1813, sections 3.3.7 and 3.3.21).
//
// A write, trim or flush that ZeroFS failed is never answered with an error: OpenZFS
// acknowledges a commit although its flush failed (openzfs pull request 16314). Such a
// request waits until ZeroFS has done it.
package relay
