// Package branches decides how a PgStorageBranch is made, kept and removed. The package reads
// and writes nothing.
package branches
