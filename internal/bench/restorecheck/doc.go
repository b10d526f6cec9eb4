// Package restorecheck checks a database that was restored from a backup. It must be the one
// that was backed up, have all archived WAL, and have sound data.
package restorecheck
