package backoff

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The queue that is chosen lets its workers go when it is shut down amid work.
func TestQueueShutsDown(t *testing.T) {
	const rounds, workers, patience = 300, 8, 30 * time.Second
	for round := range rounds {
		queue := workqueue.NewTypedRateLimitingQueue(Limiter(time.Millisecond))
		if PriorityQueue {
			queue = priorityqueue.New[reconcile.Request]("test")
		}
		var all sync.WaitGroup
		busy := make(chan struct{}, 50)
		for w := range workers {
			all.Go(func() { work(queue, w, busy) })
		}
		for range 50 {
			<-busy
		}
		queue.ShutDown()
		ended := make(chan struct{})
		go func() { all.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatalf("round %d: workers did not end", round)
		}
	}
}

// work as a controller's worker does, on requests that come all the time, and report
// it.
func work(queue workqueue.TypedRateLimitingInterface[reconcile.Request], worker int, busy chan<- struct{}) {
	for i := 0; ; i++ {
		queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: strconv.Itoa(worker) + "-" + strconv.Itoa(i)}})
		q, shutdown := queue.Get()
		if shutdown {
			return
		}
		queue.Done(q)
		select {
		case busy <- struct{}{}:
		default:
		}
	}
}

func TestLimiter(t *testing.T) {
	l, failing := Limiter(time.Second), reconcile.Request{}
	var last time.Duration
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 120, 120} {
		if last = l.When(failing); last != want*time.Second {
			t.Errorf("%s, want %s", last, want*time.Second)
		}
	}
	if last != Longest {
		t.Errorf("the longest is %s, want %s", last, Longest)
	}
	l.Forget(failing)
	if got := l.When(failing); got != time.Second {
		t.Errorf("%s after a success, want 1s", got)
	}
}
