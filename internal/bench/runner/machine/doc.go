// Package machine makes sense of what the kernel says of a pod and of its node, in
// the texts of files that are the same wherever they were read from. What a kernel or
// a container does not have is absent, and nothing follows from it.
package machine
