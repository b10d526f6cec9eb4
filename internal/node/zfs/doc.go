// Package zfs is a typed client of the node's zpool and zfs programs, OpenZFS 2.1 to
// 2.4, and a reader of what its kernel module tells. Sizes are bytes. It has no
// policy but that of its property table: what is not in it is not set.
package zfs
