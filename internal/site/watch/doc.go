// Package watch asks the other sites of a database what they do, and publishes their last
// answers. It runs in a pod of its own, because the operator never reads the Secrets that a
// session at another site needs. This pod has no rights in Kubernetes.
//
// A site's answers are not trusted. A session reads a few bytes in bounded time, resolves
// names to the objects of Postgres alone, and changes nothing.
package watch
