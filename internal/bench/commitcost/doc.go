// Package commitcost parses the output of pg_test_fsync and fio about a layer of the
// storage, and attributes the time of a commit to the layers. It is pure.
package commitcost
