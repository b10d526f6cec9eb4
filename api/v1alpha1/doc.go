// Package v1alpha1 is the API of pgstorage, group pgstorage.dev. It has six kinds:
//
//   - PgStorageProfile declares one kind of storage and how to provision it.
//   - PgStorageCluster declares a Postgres cluster on the storage of a profile.
//   - PgBenchmark runs pgbench against a cluster, or against each variant of a matrix.
//   - PgScheduledBenchmark creates a PgBenchmark at each time of a schedule.
//   - PgStorageBranch declares a writable copy of a database.
//   - PgNodeStorage carries the desired and observed storage of one node between the
//     manager and that node's agent.
//
// Files are named after their kinds: <kind>_types.go has its spec and status, and
// <kind>_<part>_types.go one part of them. The package imports apimachinery only.
package v1alpha1
