// Package planted has faults that every rule finds. The node is told what to do.
//
// Latency rises by 95 % of the limit.
//
// It computes Postgres' parameters.
//
// Of a pool that is full, the rest is shown.
//
// This sentence has a first clause and a second clause and a third clause and a fourth clause
// and it still does not end here where it should have ended.
package planted
