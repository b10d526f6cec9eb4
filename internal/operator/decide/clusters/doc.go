// Package clusters decides what follows from a PgStorageCluster: the objects to apply,
// the status, the conditions and the fences of instances. It is pure: the same spec and
// the same observations give the same bytes.
//
// Build returns the plan. Outcomes and Status say what to report after it was applied.
// The texts of the conditions are in messages.go.
package clusters
