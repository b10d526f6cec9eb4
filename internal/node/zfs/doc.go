// Package zfs is a typed client of the node's zpool and zfs programs, OpenZFS 2.1 to 2.4, and a
// reader of its kernel module's statistics. Sizes are bytes. It has no policy but that of its
// property table: it sets only what the table has.
package zfs
