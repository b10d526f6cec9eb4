package integration

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/naming"
)

// simulatedNode is a Node object without a machine.
func simulatedNode(t *testing.T, c client.Client, name string, labels map[string]string) *corev1.Node {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	create(t, c, node)
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), node) })
	return node
}

// simulatedAgent answers for a PgNodeStorage as the agent of its node would.
func simulatedAgent(t *testing.T, c client.Client, profile, node string, conditions ...metav1.Condition) *v1alpha1.PgNodeStorage {
	t.Helper()
	s := &v1alpha1.PgNodeStorage{}
	eventually(t, "an answer for "+node, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage(profile, node)}, s); err != nil {
			return err
		}
		s.Status.ObservedGeneration, s.Status.Conditions = s.Generation, nil
		for _, condition := range conditions {
			condition.ObservedGeneration, condition.LastTransitionTime = s.Generation, metav1.Now()
			s.Status.Conditions = append(s.Status.Conditions, condition)
		}
		return c.Status().Update(ctx, s)
	})
	return s
}

func agentReady() metav1.Condition {
	return metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady}
}

// simulatedZFSDriver registers zfs-localpv on a node and reports its pools, as
// the kubelet and the driver would.
func simulatedZFSDriver(t *testing.T, c client.Client, node *corev1.Node, pools ...string) {
	t.Helper()
	before := node.DeepCopy()
	node.Labels["openebs.io/nodeid"] = node.Name
	if err := c.Patch(t.Context(), node, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "zfs.csi.openebs.io", NodeID: node.Name, TopologyKeys: []string{"openebs.io/nodeid", "openebs.io/nodename"}},
	}}}
	create(t, c, csi)
	listed := []any{}
	for _, pool := range pools {
		listed = append(listed, map[string]any{"name": pool, "uuid": "1", "free": "100Gi"})
	}
	report := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "zfs.openebs.io/v1", "kind": "ZFSNode",
		"metadata": map[string]any{"name": node.Name, "namespace": "default"},
		"pools":    listed,
	}}
	create(t, c, report)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = c.Delete(ctx, csi)
		_ = c.Delete(ctx, report)
	})
}
