package pgnodestorage

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// serversEvery is how often the files of ZeroFS servers are looked at.
const serversEvery = 2 * time.Second

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// servers requests a pass where a ZeroFS server started, ended, or entered another
// phase. A device that waits for its server must not wait for the next resync too. It
// reads a few small files of the node each time.
type servers struct {
	client client.Reader
	mark   func(*v1alpha1.PgNodeStorage) string
	clock  clock.WithTicker
}

// start to look, until ctx ends. It is the function of a source.
func (w *servers) start(ctx context.Context, q queue) error {
	go func() {
		tick := w.clock.NewTicker(serversEvery)
		defer tick.Stop()
		marks := map[string]string{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C():
				marks = w.look(ctx, q, marks)
			}
		}
	}()
	return nil
}

// look at all servers once. One that is seen for the first time has had its pass.
func (w *servers) look(ctx context.Context, q queue, before map[string]string) map[string]string {
	var all v1alpha1.PgNodeStorageList
	if err := w.client.List(ctx, &all); err != nil { // of the cache, which is not there yet
		return before
	}
	now := map[string]string{}
	for i := range all.Items {
		s := &all.Items[i]
		if s.Spec.NetworkDevices == nil {
			continue
		}
		now[s.Name] = w.mark(s)
		if last, known := before[s.Name]; known && last != now[s.Name] {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: s.Name}})
		}
	}
	return now
}
