// Package blockdev tells which disks a node has, which of them are blank, and wipes
// one that is named. Safety rule 1 rests on it: what is not known to be blank is not.
package blockdev
