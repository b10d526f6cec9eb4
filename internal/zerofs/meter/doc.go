// Package meter counts what ZeroFS asks of its store: a forward proxy on loopback,
// since 0.19 has no metrics. ZeroFS speaks plain HTTP to it, signed for the store, and
// it speaks TLS to the store; nothing that a signature covers is changed. It leads to
// that one store and nowhere else.
//
// The meter answers with 502 when the store does not answer. Nearly every write of 0.19
// is conditional. object_store 0.12.4 repeats these after a 5xx, and after a connection
// that was refused or closed cleanly. It never repeats them after a reset
// (client/retry.rs), on which ZeroFS dies at once. The store rejects a repeated write
// with 412 when only the answer was lost, on which ZeroFS dies too.
package meter
