package gather

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Follow shows each change of a PgBenchmark until done says that it was the last one.
// Broken watches are begun again.
func Follow(ctx context.Context, c client.WithWatch, key client.ObjectKey, done func(*v1alpha1.PgBenchmark) (bool, error)) error {
	if err := c.Get(ctx, key, &v1alpha1.PgBenchmark{}); err != nil {
		return explained(err, "PgBenchmark", key, "pgb")
	}
	_, err := watchtools.UntilWithSync(ctx, oneBenchmark(c, key), &v1alpha1.PgBenchmark{}, nil, func(e watch.Event) (bool, error) {
		b, ok := e.Object.(*v1alpha1.PgBenchmark)
		if !ok {
			return false, fmt.Errorf("watch PgBenchmark %s: %T %v", key, e.Object, e.Object)
		}
		if e.Type == watch.Deleted {
			return false, fmt.Errorf("PgBenchmark %s was deleted", key)
		}
		return done(b)
	})
	return err
}

func oneBenchmark(c client.WithWatch, key client.ObjectKey) *cache.ListWatch {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, key.Name)
	options := func(raw *metav1.ListOptions) *client.ListOptions {
		return &client.ListOptions{Namespace: key.Namespace, FieldSelector: selector, Raw: raw}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
			list := &v1alpha1.PgBenchmarkList{}
			return list, c.List(ctx, list, options(&raw))
		},
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, &v1alpha1.PgBenchmarkList{}, options(&raw))
		},
	}
}
