// Package machine interprets the kernel's statistics of a pod and its node, in
// the texts of files that are the same wherever they were read from. What a kernel or
// a container does not have is absent, and nothing follows from it.
package machine
