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

// Follow calls show for each change of a PgBenchmark until show returns true. It opens a
// watch that breaks again. The error says if the benchmark is deleted.
func Follow(ctx context.Context, c client.WithWatch, key client.ObjectKey, show func(*v1alpha1.PgBenchmark) (ended bool)) error {
	if err := c.Get(ctx, key, &v1alpha1.PgBenchmark{}); err != nil {
		return readError(err, "PgBenchmark", key, "pgb")
	}
	_, err := watchtools.UntilWithSync(ctx, oneBenchmark(c, key), &v1alpha1.PgBenchmark{}, nil, func(e watch.Event) (bool, error) {
		b, ok := e.Object.(*v1alpha1.PgBenchmark)
		if !ok {
			return false, fmt.Errorf("watch PgBenchmark %s: %T %v", key, e.Object, e.Object)
		}
		if e.Type == watch.Deleted {
			return false, fmt.Errorf("PgBenchmark %s was deleted", key)
		}
		return show(b), nil
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
