package integration

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// silent makes a Node what the node controller makes of one that is powered off.
func silent(since metav1.Time) func(*corev1.NodeStatus, *corev1.NodeCondition) {
	return func(_ *corev1.NodeStatus, ready *corev1.NodeCondition) {
		ready.Status, ready.Reason, ready.Message = corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status."
		ready.LastTransitionTime = since
	}
}

func back(_ *corev1.NodeStatus, ready *corev1.NodeCondition) {
	ready.Status, ready.Reason, ready.Message = corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"
	ready.LastHeartbeatTime, ready.LastTransitionTime = metav1.Now(), metav1.Now()
}

// reachability waits until a PgNodeStorage says this of its Node.
func reachability(t *testing.T, c client.Client, s *v1alpha1.PgNodeStorage, status metav1.ConditionStatus, reason string) metav1.Condition {
	t.Helper()
	var found metav1.Condition
	eventually(t, fmt.Sprintf("NodeReachable=%s of %s", status, s.Name), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		got := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNodeReachable)
		if got == nil || got.Status != status || got.Reason != reason {
			return fmt.Errorf("%+v", s.Status.Conditions)
		}
		found = *got
		return nil
	})
	return found
}

func versionOf(t *testing.T, c client.Client, class string) string {
	t.Helper()
	return get(t, c, client.ObjectKey{Name: class}, &storagev1.StorageClass{}).ResourceVersion
}

// PgNodeStorage, profile and databases report a node that is powered off, and nothing that was
// created for it changes.
func TestNodeThatIsOffIsReported(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := zfsProfile("off", nil)
	create(t, c, p)
	for _, name := range []string{"off", "off-2"} {
		simulatedZFSDriver(t, c, simulatedNode(t, c, name, map[string]string{"test": "off"}), "tank")
		simulatedAgent(t, c, "off", name, agentReady())
	}
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	cr := cluster(namespace(t, c), "shop", "off")
	create(t, c, cr)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	simulatedClaim(t, c, cr, "shop-1", "pvc-off")
	simulatedVolume(t, c, "off", v1alpha1.ObservedVolume{Name: "tank/pgdata/pvc-off", Type: "Filesystem", Recordsize: 8192})
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified)
	s := &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage("off", "off")}}
	reachability(t, c, s, metav1.ConditionTrue, v1alpha1.ReasonNodeReady)
	generation, version := s.Generation, versionOf(t, c, "off")

	since := metav1.NewTime(time.Now().Add(-time.Minute).Truncate(time.Second))
	simulatedKubelet(t, c, "off", silent(since))
	text := fmt.Sprintf("is not Ready since %s (Unknown: NodeStatusUnknown), so what was read back there last may no longer hold; see kubectl describe node off, and bring it back", since.UTC().Format(time.RFC3339))
	if got := reachability(t, c, s, metav1.ConditionUnknown, v1alpha1.ReasonNodeNotReady); got.Message != "Node off "+text {
		t.Errorf("PgNodeStorage: %q", got.Message)
	}
	if got := profileSays(t, c, p, v1alpha1.ConditionNodesReady, v1alpha1.ReasonNodeNotReady); got.Message != "1 of 2 nodes are not ready: off: its Node "+text {
		t.Errorf("profile: %q", got.Message)
	}
	if want := (v1alpha1.ProfileNode{Name: "off", Ready: metav1.ConditionFalse, Message: "its Node " + text}); len(p.Status.Nodes) != 2 || p.Status.Nodes[0] != want {
		t.Errorf("nodes %+v", p.Status.Nodes)
	}
	told := hasCondition(t, c, cr, v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v1alpha1.ReasonNodeNotReady)
	if !strings.Contains(told.Message, text) {
		t.Errorf("cluster: %q", told.Message)
	}
	eventually(t, "the read-back to be told as old", func(ctx context.Context) error {
		got, err := condition{v1alpha1.ConditionVolumesVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified}.on(ctx, c, cr)
		if err == nil && !strings.HasSuffix(got.Message, ". Node off "+text) {
			err = fmt.Errorf("%q", got.Message)
		}
		return err
	})
	if !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionReady) || s.Generation != generation {
		t.Errorf("what is the agent's, or the spec, was changed: %+v", s)
	}
	if got := versionOf(t, c, "off"); got != version {
		t.Errorf("the StorageClass was written: version %s after %s", got, version)
	}

	simulatedKubelet(t, c, "off", back)
	reachability(t, c, s, metav1.ConditionTrue, v1alpha1.ReasonNodeReady)
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	hasCondition(t, c, cr, v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	eventually(t, "the read-back to be told as current", func(ctx context.Context) error {
		got, err := condition{v1alpha1.ConditionVolumesVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified}.on(ctx, c, cr)
		if err == nil && strings.Contains(got.Message, "not Ready") {
			err = fmt.Errorf("%q", got.Message)
		}
		return err
	})
	if got := versionOf(t, c, "off"); got != version {
		t.Errorf("the StorageClass was written: version %s after %s", got, version)
	}
}

// passes counts the passes over a ZFS profile, by a read that each of them makes.
type passes struct {
	inner   http.RoundTripper
	profile string
	count   atomic.Int64
}

func (p *passes) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/volumesnapshotclasses/"+p.profile) && r.Method == http.MethodGet {
		p.count.Add(1)
	}
	return p.inner.RoundTrip(r)
}

func (p *passes) into(c *rest.Config) *rest.Config {
	own := rest.CopyConfig(c)
	own.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		p.inner = inner
		return p
	})
	return own
}

// Heartbeats, and all else that moves on a Node at rest, make no pass and no write.
func TestHeartbeatsOfANodeCauseNoWrites(t *testing.T) {
	c := apiserver.Client(t, config)
	w, seen := &writes{}, &passes{profile: "beating"}
	manager.Start(t, seen.into(w.into(config)))
	p := zfsProfile("beating", nil)
	create(t, c, p)
	simulatedZFSDriver(t, c, simulatedNode(t, c, "beating", map[string]string{"test": "beating"}), "tank")
	s := simulatedAgent(t, c, "beating", "beating", agentReady())
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	reachability(t, c, s, metav1.ConditionTrue, v1alpha1.ReasonNodeReady)
	beat := func() {
		t.Helper()
		rest := settled(t, w)
		made := seen.count.Load()
		if made == 0 {
			t.Error("no pass was counted")
		}
		for i := range 20 {
			simulatedKubelet(t, c, "beating", func(status *corev1.NodeStatus, ready *corev1.NodeCondition) {
				ready.LastHeartbeatTime = metav1.NewTime(time.Now().Add(time.Duration(i) * time.Second))
				ready.Message = fmt.Sprintf("%d seconds", i)
				status.Images = []corev1.ContainerImage{{Names: []string{"example.com/image"}, SizeBytes: int64(i)}}
			})
		}
		if n := settled(t, w) - rest; n != 0 {
			t.Errorf("%d writes for heartbeats", n)
		}
		if n := seen.count.Load() - made; n != 0 {
			t.Errorf("%d passes for heartbeats", n)
		}
	}
	beat()
	simulatedKubelet(t, c, "beating", func(_ *corev1.NodeStatus, ready *corev1.NodeCondition) {
		ready.Status, ready.Reason, ready.LastTransitionTime = corev1.ConditionFalse, "KubeletNotReady", metav1.Now()
	})
	reachability(t, c, s, metav1.ConditionFalse, v1alpha1.ReasonNodeNotReady)
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonNodeNotReady)
	beat()
}

// Agent and manager write conditions of one list, each its own, and neither takes the
// other's for a change.
func TestAgentAndManagerShareTheConditions(t *testing.T) {
	c := apiserver.Client(t, config)
	// Objects that other tests left are not counted.
	of := map[string]*writes{"manager": {within: "/shared"}, "agent": {within: "/shared"}}
	manager.Start(t, of["manager"].into(config))
	simulatedNode(t, c, "shared", map[string]string{"test": "shared"})
	p := zfsProfile("shared", nil)
	p.Spec.ZFSLocalPV.Pool.Name = "pgstorage-none"
	create(t, c, p)
	startAgent(t, of["agent"].into(config), "shared", thisMachine(t))
	s := &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage("shared", "shared")}}
	answered := func() {
		t.Helper()
		eventually(t, "an answer of the agent", func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
				return err
			}
			ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPoolReady)
			if ready == nil || ready.ObservedGeneration != s.Generation {
				return fmt.Errorf("%+v", s.Status.Conditions)
			}
			return nil
		})
	}
	atRest := func() {
		t.Helper()
		before := map[string]int64{}
		// A late write of the one wakes the other.
		for range 3 {
			agentPasses(t, 2)
			for name, w := range of {
				before[name] = settled(t, w)
			}
		}
		agentPasses(t, 5)
		for name, w := range of {
			if n := settled(t, w) - before[name]; n != 0 {
				t.Errorf("%s: %d writes at rest, the last is %v", name, n, w.last.Load())
			}
		}
	}
	reachability(t, c, s, metav1.ConditionTrue, v1alpha1.ReasonNodeReady)
	answered()
	atRest()

	simulatedKubelet(t, c, "shared", silent(metav1.Now()))
	reachability(t, c, s, metav1.ConditionUnknown, v1alpha1.ReasonNodeNotReady)
	answered()
	atRest()

	// The agent applies all that is its own.
	before := p.DeepCopy()
	p.Spec.ZFSLocalPV.Data.Compression = "zstd"
	if err := c.Patch(t.Context(), p, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	generation := s.Generation
	eventually(t, "the change", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil || s.Generation == generation {
			return fmt.Errorf("generation %d: %w", s.Generation, err)
		}
		return nil
	})
	answered()
	reachability(t, c, s, metav1.ConditionUnknown, v1alpha1.ReasonNodeNotReady)
	atRest()
}
