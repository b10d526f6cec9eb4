// Package blockdev lists the disks of a node, detects which of them are blank, and wipes a
// named one. Safety rule 1 depends on it: a disk that is not known to be blank is not blank.
package blockdev
