// Package v1alpha1 is the API of pgstorage: PgStorageProfile (how a kind of
// storage is made), PgStorageCluster (a Postgres cluster on a profile) and
// PgBenchmark (a pgbench run against a cluster). It imports apimachinery only.
package v1alpha1
