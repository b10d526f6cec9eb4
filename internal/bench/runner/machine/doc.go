// Package machine interprets the kernel's statistics of a pod and its node. Their files have
// the same text wherever they were read. What a kernel or a container lacks is absent, and
// nothing follows from it.
package machine
