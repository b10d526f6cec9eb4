package integration

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// simulatedNode is a Node object without a machine, whose kubelet said Ready.
func simulatedNode(t *testing.T, c client.Client, name string, labels map[string]string) *corev1.Node {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()},
	}}}
	create(t, c, node)
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), node) })
	return node
}

// simulatedKubelet changes the status of a Node, as its kubelet does, or the node
// controller of one that is silent.
func simulatedKubelet(t *testing.T, c client.Client, name string, change func(status *corev1.NodeStatus, ready *corev1.NodeCondition)) {
	t.Helper()
	eventually(t, "the status of Node "+name, func(ctx context.Context) error {
		node := &corev1.Node{}
		if err := c.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
			return err
		}
		change(&node.Status, &node.Status.Conditions[0])
		return c.Status().Update(ctx, node)
	})
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

// simulatedClaim is a bound claim of an instance, as CloudNativePG makes it, and its
// volume on the profile's only node, which has the profile's name.
func simulatedClaim(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster, instance, volume string) {
	t.Helper()
	simulatedClaimOn(t, c, cr.Spec.Profile, cr, instance, volume)
}

// simulatedClaimOn has its volume on a node.
func simulatedClaimOn(t *testing.T, c client.Client, node string, cr *v1alpha1.PgStorageCluster, instance, volume string) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: instance, OwnerReferences: controlled(t, c, cr), Labels: map[string]string{
			"cnpg.io/cluster": cr.Name, "cnpg.io/instanceName": instance, "cnpg.io/pvcRole": "PG_DATA",
		}},
		Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName: volume, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	create(t, c, claim)
	pv := simulatedPV(volume, cr.Spec.Profile, "zfs.csi.openebs.io", claim)
	pv.Spec.NodeAffinity = onNode(node)
	create(t, c, pv)
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), pv) })
}

// onNode is the affinity that zfs-localpv gives to the volumes of a node.
func onNode(node string) *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "openebs.io/nodeid", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}}
}

// simulatedVolume is what the agent of a profile's only node, which has the
// profile's name, reads back.
func simulatedVolume(t *testing.T, c client.Client, profile string, volumes ...v1alpha1.ObservedVolume) {
	t.Helper()
	s := &v1alpha1.PgNodeStorage{}
	eventually(t, "the volume read back", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage(profile, profile)}, s); err != nil {
			return err
		}
		s.Status.Volumes = volumes
		meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPoolReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPoolOnline, ObservedGeneration: s.Generation})
		return c.Status().Update(ctx, s)
	})
}
