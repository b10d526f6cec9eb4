// Package meter counts what ZeroFS asks of its store: a forward proxy on loopback,
// since 0.19 has no metrics. ZeroFS speaks plain HTTP to it, signed for the store, and
// it speaks TLS to the store; nothing that a signature covers is changed. It leads to
// that one store and nowhere else.
//
// A request that the store does not answer is answered with 502. Of 0.19, nearly every
// write is conditional, and object_store 0.12.4 repeats these after a 5xx and after a
// connection that was refused or closed in its order, yet never after one that was reset
// (client/retry.rs), by which ZeroFS dies at once. One that was done, whose answer was
// lost, is refused with 412 when it is repeated, by which ZeroFS dies likewise.
package meter
