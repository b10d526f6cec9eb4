package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/pgnodestorage"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// startAgent runs an agent on this machine until the test ends. It may read, and
// every change fails the test: what an agent does to a node is tested in a virtual
// machine.
func startAgent(t *testing.T, config *rest.Config, name string) {
	t.Helper()
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: pgnodestorage.Scheme(), Cache: pgnodestorage.CacheOptions(name), NewClient: apply.NewClient,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	runner := host.DryRun(&host.Exec{}, func(argv []string) { t.Errorf("the agent would change this machine: %v", argv) })
	r := &pgnodestorage.Reconciler{
		Client: mgr.GetClient(), Node: agent.New("", runner), NodeName: name, Resync: 200 * time.Millisecond, Clock: clock.RealClock{},
		Events: mgr.GetEventRecorder("pgstorage-agent"), Observe: func(*v1alpha1.PgNodeStorage, agent.PassResult) {}, Forget: func(string) {},
	}
	if err := r.SetupWithManager(mgr, controller.Options{SkipNameValidation: new(true)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("agent ended: %v", err)
		}
	})
}

func agentStorage(name, node string) *v1alpha1.PgNodeStorage {
	return &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.PgNodeStorageSpec{NodeName: node, Profile: "agent", Pool: v1alpha1.NodePool{Name: "pgstorage-none"}},
	}
}

// An agent answers for its own node and no other, says what the node lacks, writes
// nothing at rest, and lets go without touching anything.
func TestAgentAnswersForItsNode(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	mine, other := agentStorage("agent.mine", "mine"), agentStorage("agent.other", "other")
	create(t, c, mine, other)
	startAgent(t, w.into(config), "mine")
	eventually(t, "an answer", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(mine), mine); err != nil {
			return err
		}
		if mine.Status.ObservedGeneration != mine.Generation {
			return fmt.Errorf("status %+v", mine.Status)
		}
		return nil
	})
	// This machine has no pool of that name, and usually no ZFS.
	pool := meta.FindStatusCondition(mine.Status.Conditions, v1alpha1.ConditionPoolReady)
	if pool == nil || pool.Reason != v1alpha1.ReasonZFSNotLoaded && pool.Reason != v1alpha1.ReasonPoolNotFound {
		t.Errorf("PoolReady is %+v", pool)
	}
	if !controllerutil.ContainsFinalizer(mine, naming.NodeStorageFinalizer) {
		t.Error("no finalizer")
	}
	agentPasses(t, 2) // the pass that began before the answer may still write
	rest := settled(t, w)
	agentPasses(t, 5)
	if n := settled(t, w) - rest; n != 0 {
		t.Errorf("%d writes at rest", n)
	}
	get(t, c, client.ObjectKeyFromObject(other), other)
	if len(other.Finalizers) != 0 || len(other.Status.Conditions) != 0 {
		t.Errorf("the agent of another node touched %+v", other)
	}
	if err := c.Delete(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(mine), mine)
}
