package integration

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
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
	"github.com/pgstorage/pgstorage/internal/node/tmpfs/tmpfstest"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// thisMachine is the node of an agent that may read. Every change fails the test: what an agent
// does to a node is tested in a virtual machine.
func thisMachine(t *testing.T) *agent.Node {
	return agent.New("", host.DryRun(&host.Exec{}, func(argv []string) { t.Errorf("the agent would change this machine: %v", argv) }))
}

// startAgent runs an agent until the test ends.
func startAgent(t *testing.T, config *rest.Config, name string, node *agent.Node) {
	t.Helper()
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: pgnodestorage.Scheme(), Cache: pgnodestorage.CacheOptions(name), NewClient: apply.NewClient,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &pgnodestorage.Reconciler{
		Client: mgr.GetClient(), Node: node, NodeName: name, Resync: 200 * time.Millisecond, Clock: clock.RealClock{},
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
	startAgent(t, w.into(config), "mine", thisMachine(t))
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

// The last volume of a node leaves its status too. The API server refuses the status otherwise,
// and the agent would mount no other volume until it tries again.
func TestAgentReportsThatNoVolumeIsInMemory(t *testing.T) {
	c := apiserver.Client(t, config)
	s := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: "memory.alone"},
		Spec:       v1alpha1.PgNodeStorageSpec{NodeName: "alone", Profile: "memory", Memory: &v1alpha1.NodeMemory{}},
	}
	create(t, c, s)
	w := &writes{}
	node := thisMachine(t)
	node.Memory = &tmpfstest.Fake{}
	startAgent(t, w.into(config), "alone", node)
	for _, names := range [][]string{{"first"}, {}, {"second"}, {"second", "third"}, {}} {
		eventually(t, fmt.Sprintf("volumes %v to be declared", names), func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
				return err
			}
			s.Spec.Memory = &v1alpha1.NodeMemory{}
			for _, name := range names {
				s.Spec.Memory.Volumes = append(s.Spec.Memory.Volumes, v1alpha1.NodeMemoryVolume{Name: name, Size: resource.MustParse("1Gi")})
			}
			return c.Update(ctx, s)
		})
		eventually(t, fmt.Sprintf("volumes %v to be reported", names), func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
				return err
			}
			got := []string{}
			if s.Status.Memory != nil {
				for _, v := range s.Status.Memory.Volumes {
					got = append(got, v.Name)
				}
			}
			if s.Status.ObservedGeneration != s.Generation || !slices.Equal(got, names) {
				return fmt.Errorf("observed generation %d of %d, volumes %v, conditions %+v", s.Status.ObservedGeneration, s.Generation, got, s.Status.Conditions)
			}
			return nil
		})
	}
	agentPasses(t, 2)
	rest := settled(t, w)
	agentPasses(t, 5)
	if n := settled(t, w) - rest; n != 0 {
		t.Errorf("%d writes at rest", n)
	}
}
