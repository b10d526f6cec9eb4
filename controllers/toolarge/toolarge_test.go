package toolarge_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/pgbenchmark"
	"github.com/pgstorage/pgstorage/controllers/pgscheduledbenchmark"
	"github.com/pgstorage/pgstorage/controllers/pgstoragebranch"
	"github.com/pgstorage/pgstorage/controllers/pgstoragecluster"
	"github.com/pgstorage/pgstorage/controllers/verification"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// errWrite is the answer to every write, where a test wants none.
var errWrite = errors.New("the API server does not answer")

// world is a fake API server that has one object, and counts the writes.
type world struct {
	client.Client
	events *events.FakeRecorder
	clock  *clocktesting.FakePassiveClock
	writes int
}

// newWorld returns a world that answers every write with an error. Without one, writes succeed.
func newWorld(o client.Object, answer error) *world {
	w := &world{events: events.NewFakeRecorder(10), clock: clocktesting.NewFakePassiveClock(noon)}
	write := func(do func() error) error {
		w.writes++
		if answer != nil {
			return answer
		}
		return do()
	}
	w.Client = fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(o).
		WithIndex(&v1alpha1.PgBenchmark{}, observe.BenchmarkIndex, observe.IndexBenchmark).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				return write(func() error { return c.Create(ctx, o, opts...) })
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				return write(func() error { return c.Delete(ctx, o, opts...) })
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				return write(func() error { return c.Update(ctx, o, opts...) })
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				return write(func() error { return c.Patch(ctx, o, p, opts...) })
			},
			Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				return write(func() error { return c.Apply(ctx, o, opts...) })
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, name string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				return write(func() error { return c.SubResource(name).Update(ctx, o, opts...) })
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				return write(func() error { return c.SubResource(name).Patch(ctx, o, p, opts...) })
			},
			SubResourceApply: func(ctx context.Context, c client.Client, name string, o runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
				return write(func() error { return c.SubResource(name).Apply(ctx, o, opts...) })
			},
		}).Build()
	return w
}

func (w *world) readers() observe.Readers {
	return observe.Readers{Cache: w, Live: w, Scheme: scheme.New(), Kinds: catalog.All()}
}

func (w *world) apis() *observe.ForeignAPIs { return &observe.ForeignAPIs{Reader: w, Clock: w.clock} }

func noWatch(observed.ForeignAPIs) error { return nil }

// kind is a kind whose reconciler skips objects, and an object that it writes otherwise.
type kind struct {
	object client.Object
	// finalizer is the operator's on such an object. It is empty where deletion needs none.
	finalizer string
	reconcile func(*testing.T, *world, client.Object) error
}

// by returns a function that reads an object and gives it to a reconciler.
func by[T client.Object](reconciler func(*world) reconcile.ObjectReconciler[T]) func(*testing.T, *world, client.Object) error {
	return func(t *testing.T, w *world, o client.Object) error {
		t.Helper()
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		_, err := reconciler(w).Reconcile(t.Context(), o.(T))
		return err
	}
}

var config = clusters.Config{Branches: true}

func kinds() map[string]kind {
	named := metav1.ObjectMeta{Namespace: "shop", Name: "db", UID: "uid", Generation: 1}
	return map[string]kind{
		"pgstoragecluster": {&v1alpha1.PgStorageCluster{ObjectMeta: named}, naming.ClusterFinalizer, by(func(w *world) reconcile.ObjectReconciler[*v1alpha1.PgStorageCluster] {
			return &pgstoragecluster.Reconciler{
				Client: w, Readers: w.readers(), APIs: w.apis(), ReadBack: &observe.ReadBack{Pods: w, Clock: w.clock}, Config: config,
				Backups: observe.Backups{Cache: w, Live: w, Clock: w.clock, Kinds: catalog.All()}, Clock: w.clock, Events: w.events, Watch: noWatch,
			}
		})},
		"pgbenchmark": {&v1alpha1.PgBenchmark{ObjectMeta: named, Spec: v1alpha1.PgBenchmarkSpec{Cluster: "other"}}, naming.BenchmarkFinalizer, by(func(w *world) reconcile.ObjectReconciler[*v1alpha1.PgBenchmark] {
			return &pgbenchmark.Reconciler{Client: w, Readers: w.readers(), APIs: w.apis(), Config: config, Clock: w.clock, Events: w.events, Watch: noWatch}
		})},
		"pgstoragebranch": {&v1alpha1.PgStorageBranch{ObjectMeta: named}, naming.BranchFinalizer, by(func(w *world) reconcile.ObjectReconciler[*v1alpha1.PgStorageBranch] {
			return &pgstoragebranch.Reconciler{Client: w, Readers: w.readers(), APIs: w.apis(), Kinds: catalog.All(), Config: config, Clock: w.clock, Events: w.events, Watch: noWatch}
		})},
		"pgscheduledbenchmark": {&v1alpha1.PgScheduledBenchmark{ObjectMeta: named, Spec: v1alpha1.PgScheduledBenchmarkSpec{Schedule: "0 0 * * *"}}, "", by(func(w *world) reconcile.ObjectReconciler[*v1alpha1.PgScheduledBenchmark] {
			return &pgscheduledbenchmark.Reconciler{Client: w, Live: w, Readers: w.readers(), Clock: w.clock, Events: w.events}
		})},
		// The status has a verification that the spec does not declare any more.
		"verification": {&v1alpha1.PgStorageCluster{ObjectMeta: named, Status: v1alpha1.PgStorageClusterStatus{
			BackupVerification: &v1alpha1.BackupVerificationStatus{Step: v1alpha1.VerifyRestoring},
		}}, "", by(func(w *world) reconcile.ObjectReconciler[*v1alpha1.PgStorageCluster] {
			return &verification.Reconciler{Client: w, Readers: w.readers(), APIs: w.apis(), Config: config, Clock: w.clock, Events: w.events}
		})},
	}
}

func TestObjectWithoutItsStatusIsNotWritten(t *testing.T) {
	for name, k := range kinds() {
		t.Run(name, func(t *testing.T) {
			k.object.SetAnnotations(map[string]string{naming.AnnotationTooLarge: "393217"})
			w := newWorld(k.object, errWrite)
			if err := k.reconcile(t, w, k.object); err != nil || w.writes != 0 {
				t.Errorf("%d writes, error %v", w.writes, err)
			}
			if len(w.events.Events) != 1 {
				t.Fatalf("%d events", len(w.events.Events))
			}
			if event := <-w.events.Events; !strings.HasPrefix(event, "Warning StatusTooLarge the status has 393217 bytes") {
				t.Errorf("event %q", event)
			}

			// The same object with its status is written.
			k.object.SetAnnotations(nil)
			k.object.SetResourceVersion("")
			w = newWorld(k.object, errWrite)
			if err := k.reconcile(t, w, k.object); !errors.Is(err, errWrite) || w.writes != 1 {
				t.Errorf("whole: %d writes, error %v", w.writes, err)
			}
		})
	}
}

// Deletion continues without the status.
func TestObjectWithoutItsStatusIsFinalized(t *testing.T) {
	for name, k := range kinds() {
		t.Run(name, func(t *testing.T) {
			const foreign = "example.com/other"
			deleted := metav1.NewTime(noon)
			k.object.SetAnnotations(map[string]string{naming.AnnotationTooLarge: "393217"})
			k.object.SetDeletionTimestamp(&deleted)
			k.object.SetFinalizers([]string{foreign})
			if k.finalizer != "" {
				k.object.SetFinalizers([]string{k.finalizer})
			}
			w := newWorld(k.object, nil)
			if err := k.reconcile(t, w, k.object); err != nil || len(w.events.Events) != 0 {
				t.Errorf("%d events, error %v", len(w.events.Events), err)
			}
			err := w.Get(t.Context(), client.ObjectKeyFromObject(k.object), k.object)
			if k.finalizer != "" && !apierrors.IsNotFound(err) {
				t.Errorf("error %v, finalizers %v", err, k.object.GetFinalizers())
			}
			if k.finalizer == "" && (err != nil || w.writes != 0) {
				t.Errorf("%d writes, error %v", w.writes, err)
			}
		})
	}
}
