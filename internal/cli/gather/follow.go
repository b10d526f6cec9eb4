package gather

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
// watch that breaks again. The error says if the benchmark is deleted, or if the user may not
// list it.
func Follow(ctx context.Context, c client.WithWatch, key client.ObjectKey, show func(*v1alpha1.PgBenchmark) (ended bool)) error {
	if err := c.Get(ctx, key, &v1alpha1.PgBenchmark{}); err != nil {
		return readError(err, "PgBenchmark", key, "pgb")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	_, err := watchtools.UntilWithSync(ctx, oneBenchmark(c, key, func(err error) {
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			cancel(fmt.Errorf("list PgBenchmark %s: %w", key, err))
		}
	}), &v1alpha1.PgBenchmark{}, nil, func(e watch.Event) (bool, error) {
		b, ok := e.Object.(*v1alpha1.PgBenchmark)
		if !ok {
			return false, fmt.Errorf("watch PgBenchmark %s: %T %v", key, e.Object, e.Object)
		}
		if e.Type == watch.Deleted {
			return false, fmt.Errorf("PgBenchmark %s was deleted", key)
		}
		return show(b), nil
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// oneBenchmark lists and watches a PgBenchmark. Its reader lists again after every error, also
// where it cannot watch, so listed gets the error of each list.
func oneBenchmark(c client.WithWatch, key client.ObjectKey, listed func(error)) *cache.ListWatch {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, key.Name)
	options := func(raw *metav1.ListOptions) *client.ListOptions {
		return &client.ListOptions{Namespace: key.Namespace, FieldSelector: selector, Raw: raw}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
			list := &v1alpha1.PgBenchmarkList{}
			err := c.List(ctx, list, options(&raw))
			listed(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, &v1alpha1.PgBenchmarkList{}, options(&raw))
		},
	}
}
