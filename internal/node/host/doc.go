// Package host runs the node's own storage programs, and only what is listed in
// rules.go of them: no shell, no force, no destruction. Callers are the typed
// clients internal/node/zfs and internal/node/blockdev.
package host
