package pgnodestorage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/backoff"
)

// Scheme has what an agent reads and writes, and no more: an agent is on every
// storage node, and each kind costs memory there.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(s))
	utilruntime.Must(eventsv1.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	return s
}

// CacheOptions hold the PgNodeStorages of one node, and nothing else.
func CacheOptions(node string) cache.Options {
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha1.PgNodeStorage{}: {Field: fields.OneTermEqualSelector("spec.nodeName", node)},
		},
	}
}

// Options of the controller. A pass waits for commands on the node, which bound
// themselves.
func Options() controller.Options {
	return controller.Options{
		ReconciliationTimeout: 10 * time.Minute,
		RateLimiter:           backoff.Limiter(time.Second),
		UsePriorityQueue:      new(backoff.PriorityQueue),
	}
}
