// Package backoff spaces the passes over an object that fails, in manager and agent.
package backoff

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Longest bounds how long a failing object waits for its next pass.
const Longest = 2 * time.Minute

// Limiter waits so long after the first failure, and twice as long after each
// further one. Each controller has its own.
func Limiter(first time.Duration) workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, Longest)
}
