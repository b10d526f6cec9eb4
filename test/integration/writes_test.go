package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// writes counts the writes of a manager, and can cut the connection after one.
type writes struct {
	inner http.RoundTripper
	count atomic.Int64
	// objects counts those of more than a status.
	objects atomic.Int64
	// failAfter, when positive, makes every write after so many fail.
	failAfter int64
	// within is a part of the path that writes must have to be counted and cut: those
	// of other tests' objects are neither.
	within string
	// or is another part that a path may have in its place; empty: none.
	or string
	// first and last are the methods and paths of the first write and of the last.
	first, last atomic.Value
}

var errCut = errors.New("the connection was cut")

func (w *writes) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || strings.Contains(r.URL.Path, "/events") || !w.counts(r.URL.Path) {
		return w.inner.RoundTrip(r)
	}
	n := w.count.Add(1)
	w.first.CompareAndSwap(nil, r.Method+" "+r.URL.Path)
	w.last.Store(r.Method + " " + r.URL.Path)
	if !strings.HasSuffix(r.URL.Path, "/status") {
		w.objects.Add(1)
	}
	if w.failAfter > 0 && n > w.failAfter {
		return nil, errCut
	}
	return w.inner.RoundTrip(r)
}

func (w *writes) counts(path string) bool {
	return strings.Contains(path, w.within) || w.or != "" && strings.Contains(path, w.or)
}

// into returns a configuration whose requests pass through w.
func (w *writes) into(c *rest.Config) *rest.Config {
	own := rest.CopyConfig(c)
	own.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		w.inner = inner
		return w
	})
	return own
}

// agentController is the agent's, which makes its passes at a steady interval.
const agentController = "pgnodestorage"

// settled waits until a second's looks have all seen the same count, and no pass. On a busy
// machine a pass can take longer than that before it writes. Passes of agents are left out,
// for they never end: see agentPasses.
func settled(t *testing.T, w *writes) int64 {
	t.Helper()
	last, same := int64(-1), 0
	eventually(t, "the writes to end", func(context.Context) error {
		now, busy := w.count.Load(), working(t)
		if now != last || len(busy) > 0 {
			last, same = now, 0
		}
		if same++; same < int(time.Second/interval) {
			return fmt.Errorf("%d writes and counting, passes of %v", now, busy)
		}
		return nil
	})
	return last
}

// working are the controllers with a pass under way: those of all managers of this process.
func working(t *testing.T) []string {
	t.Helper()
	var busy []string
	for controller, workers := range byController(t, "controller_runtime_active_workers") {
		if workers > 0 && controller != agentController {
			busy = append(busy, controller)
		}
	}
	return busy
}

// agentPasses waits until the agents have ended so many passes more.
func agentPasses(t *testing.T, more float64) {
	t.Helper()
	until := reconciles(t)[agentController] + more
	eventually(t, "passes of the agent", func(context.Context) error {
		if now := reconciles(t)[agentController]; now < until {
			return fmt.Errorf("%v of %v", now, until)
		}
		return nil
	})
}

// byController has the values of one of controller-runtime's metrics, added up for each
// controller.
func byController(t *testing.T, name string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "controller" {
					values[l.GetValue()] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
				}
			}
		}
	}
	return values
}

func TestWritesOfANewClusterAreFewAndEnd(t *testing.T) {
	c := apiserver.Client(t, config)
	ns := namespace(t, c)
	// What other tests have left is reconciled too.
	w := &writes{within: "/namespaces/" + ns + "/", or: "/pgstorageprofiles/writes"}
	manager.Start(t, w.into(config))
	storage(t, c, "writes")
	warm := cluster(ns, "warm", "writes")
	create(t, c, warm)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(warm))
	hasCondition(t, c, warm, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	start := settled(t, w)
	cr := cluster(ns, "shop", "writes")
	create(t, c, cr)
	get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	get(t, c, client.ObjectKeyFromObject(cr), &monitoringv1.PodMonitor{})
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy)
	if n := settled(t, w) - start; n > 8 {
		t.Errorf("%d writes until the children exist, want at most 8", n)
	}
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	rest := settled(t, w)

	// A pass that changes nothing writes nothing.
	before := cr.DeepCopy()
	cr.Annotations = map[string]string{"example.com/note": "wake up"}
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if n := settled(t, w) - rest; n != 0 {
		t.Errorf("%d writes at rest, at last %v", n, w.last.Load())
	}
}

// A manager that is killed after any of its writes is followed by one that ends
// up in the same place.
func TestClusterSurvivesACrashAfterAnyWrite(t *testing.T) {
	c := apiserver.Client(t, config)
	storage(t, c, "killed")
	ns := namespace(t, c)
	cuts := int64(0)
	for ended := false; !ended && !t.Failed(); {
		t.Run(fmt.Sprintf("write %d", cuts+1), func(t *testing.T) {
			cr := cluster(ns, fmt.Sprintf("cut-%d", cuts+1), "killed")
			create(t, c, cr)
			w := &writes{failAfter: cuts + 1}
			stop := manager.Start(t, w.into(config))
			ended = !isCut(t, c, w, cr)
			stop()
			stop = manager.Start(t, config)
			simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
			hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
			get(t, c, client.ObjectKeyFromObject(cr), &monitoringv1.PodMonitor{})
			list := &cnpgv1.ClusterList{}
			if err := c.List(t.Context(), list, client.InNamespace(ns)); err != nil {
				t.Fatal(err)
			}
			if len(list.Items) != int(cuts+1) {
				t.Errorf("%d Clusters for %d PgStorageClusters", len(list.Items), cuts+1)
			}
			stop()
		})
		cuts++
	}
	// A finalizer, a Cluster, a PodMonitor and a status at the least.
	if cuts < 4 {
		t.Errorf("a new cluster took %d writes: too few to be all of them", cuts)
	}
}

// isCut waits until a write was cut, or until the cluster has all that it can have before its
// database runs. It reports whether a write was cut.
func isCut(t *testing.T, c client.Client, w *writes, cr *v1alpha1.PgStorageCluster) bool {
	t.Helper()
	waits := condition{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy}
	eventually(t, "the cut or the last write", func(ctx context.Context) error {
		if w.count.Load() > w.failAfter {
			return nil
		}
		_, err := waits.on(ctx, c, cr)
		return err
	})
	return w.count.Load() > w.failAfter || settled(t, w) > w.failAfter
}
