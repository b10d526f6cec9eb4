// Package verification decides how the backups of a database are verified. They are restored
// into a Cluster of their own, a Job checks it, and both are deleted. The package reads and
// writes nothing.
package verification
