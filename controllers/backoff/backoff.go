// Package backoff spaces the passes over an object that fails, in manager and agent, and
// says which queue they wait in.
package backoff

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Longest bounds how long a failing object waits for its next pass.
const Longest = 2 * time.Minute

// PriorityQueue is controller-runtime's own queue, and its default. That of v0.24.1 can
// block its workers indefinitely on shutdown, so that a manager ends 30 s late and with
// an error. A later release fixes it (kubernetes-sigs/controller-runtime, issue 3538).
const PriorityQueue = false

// Limiter waits so long after the first failure, and twice as long after each
// further one. Each controller has its own.
func Limiter(first time.Duration) workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, Longest)
}
