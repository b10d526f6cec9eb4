// Package commitcost reads what pg_test_fsync and fio say of a layer of the storage, and
// says which layer of a commit costs what. It is pure.
package commitcost
