package pgnodestorage

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// A pass follows each change of a server, and nothing else. The client is a fake: the
// real one only reads a cache.
func TestServers(t *testing.T) {
	storage := func(name string, network *v1alpha1.NodeNetworkDevices) *v1alpha1.PgNodeStorage {
		return &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.PgNodeStorageSpec{NetworkDevices: network}}
	}
	c := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(
		storage("disks", nil), storage("a", &v1alpha1.NodeNetworkDevices{}), storage("b", &v1alpha1.NodeNetworkDevices{}),
	).Build()
	mark := map[string]string{"disks": "1", "a": "1", "b": "1"}
	w := &servers{client: c, clock: clocktesting.NewFakeClock(time.Time{}), mark: func(s *v1alpha1.PgNodeStorage) string { return mark[s.Name] }}
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()

	marks := w.look(t.Context(), q, nil)
	marks = w.look(t.Context(), q, marks)
	if q.Len() != 0 {
		t.Fatal("a pass without a change")
	}
	mark["disks"], mark["b"] = "2", "2"
	marks = w.look(t.Context(), q, marks)
	if item, _ := q.Get(); q.Len() != 0 || item.Name != "b" {
		t.Fatalf("%v, and %d more", item, q.Len())
	}
	w.look(t.Context(), q, marks)
	if q.Len() != 0 {
		t.Error("a second pass for one change")
	}
}
