// Package adoption describes a CloudNativePG Cluster that exists as the PgStorageCluster
// that takes it over without a change. It is pure.
package adoption
