package nodevolumes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// reports is the PgNodeStorage of a node whose agent reports volumes.
func reports(node string, volumes ...string) v1alpha1.PgNodeStorage {
	s := v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage("fast", node)},
		Spec:       v1alpha1.PgNodeStorageSpec{NodeName: node, Profile: "fast"},
	}
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionPoolReady, Status: metav1.ConditionTrue}}
	for _, v := range volumes {
		s.Status.Volumes = append(s.Status.Volumes, v1alpha1.ObservedVolume{Name: v, Type: "Filesystem", Recordsize: 8192})
	}
	return s
}

// volumeOf is the PersistentVolume that zfs-localpv makes on a node, bound to the claim
// shop-1.
func volumeOf(key, value string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-1"}}
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "prod", Name: "shop-1", UID: "1"}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: Driver, VolumeHandle: "pvc-1", VolumeAttributes: map[string]string{poolAttribute: "tank/pgdata"}}
	v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
	}}}}
	return v
}

func labelled(node, key, value string) corev1.Node {
	return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{key: value}}}
}

// Only the agent of a volume's own node is believed about it. An agent that reports the
// same name, relabels its node, or gets a forged claim is not.
func TestAgentIsBelievedAboutVolumesOfItsOwnNodeOnly(t *testing.T) {
	const id = "openebs.io/nodeid"
	both := []corev1.Node{labelled("a", id, "a"), labelled("b", id, "b")}
	hostile := reports("a", "tank/pgdata/pvc-1")
	honest := reports("b", "tank/pgdata/pvc-1")
	elsewhere := func(change func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		v := volumeOf(id, "b")
		change(v)
		return v
	}
	for _, tc := range []struct {
		name     string
		storages []v1alpha1.PgNodeStorage
		nodes    []corev1.Node
		volume   *corev1.PersistentVolume
		node     string
		unproved string
	}{
		{"its own node", []v1alpha1.PgNodeStorage{honest}, both, volumeOf(id, "b"), "b", ""},
		{"another node reports it too", []v1alpha1.PgNodeStorage{hostile, honest}, both, volumeOf(id, "b"), "b", ""},
		{"another node reports it too, in the other order", []v1alpha1.PgNodeStorage{honest, hostile}, both, volumeOf(id, "b"), "b", ""},
		{"only another node reports it", []v1alpha1.PgNodeStorage{hostile, reports("b")}, both, volumeOf(id, "b"), "", "the agent of node b has not read back volume pvc-1"},
		{"another node took its label", []v1alpha1.PgNodeStorage{hostile, honest}, []corev1.Node{labelled("a", id, "b"), labelled("b", id, "b")}, volumeOf(id, "b"), "", "nodes [a b] all match"},
		{"by an id that is not the node's name", []v1alpha1.PgNodeStorage{hostile, honest}, []corev1.Node{labelled("a", id, "7"), labelled("b", id, "8")}, volumeOf(id, "8"), "b", ""},
		{"by the driver's other key", []v1alpha1.PgNodeStorage{hostile, honest}, nil, volumeOf("openebs.io/nodename", "b"), "b", ""},
		{"by hostname", []v1alpha1.PgNodeStorage{hostile, honest}, []corev1.Node{labelled("b", corev1.LabelHostname, "host-b")}, volumeOf(corev1.LabelHostname, "host-b"), "b", ""},
		{"its Node is gone", []v1alpha1.PgNodeStorage{hostile, honest}, both[:1], volumeOf(id, "b"), "b", ""},
		{"of no node of the profile", []v1alpha1.PgNodeStorage{hostile, honest}, both, volumeOf(id, "c"), "", "to no node of the profile"},
		{"without an affinity", []v1alpha1.PgNodeStorage{hostile, honest}, both, elsewhere(func(v *corev1.PersistentVolume) { v.Spec.NodeAffinity = nil }), "", "has no node affinity"},
		{"an empty term", []v1alpha1.PgNodeStorage{hostile}, both, elsewhere(func(v *corev1.PersistentVolume) {
			v.Spec.NodeAffinity.Required.NodeSelectorTerms = []corev1.NodeSelectorTerm{{}}
		}), "", "to no node of the profile"},
		{"by the name of the Node", []v1alpha1.PgNodeStorage{hostile, honest}, both, elsewhere(func(v *corev1.PersistentVolume) {
			v.Spec.NodeAffinity.Required.NodeSelectorTerms = []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}}}}}
		}), "b", ""},
		{"bound to another's claim", []v1alpha1.PgNodeStorage{honest}, both, elsewhere(func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.Namespace = "other" }), "", "is not bound to this claim"},
		{"bound to a former claim of the name", []v1alpha1.PgNodeStorage{honest}, both, elsewhere(func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "0" }), "", "is not bound to this claim"},
		{"of another driver", []v1alpha1.PgNodeStorage{honest}, both, elsewhere(func(v *corev1.PersistentVolume) { v.Spec.CSI.Driver = "other" }), "", "is not provisioned by zfs.csi.openebs.io"},
		{"below another parent", []v1alpha1.PgNodeStorage{reports("b", "tank/pgwal/pvc-1")}, both, volumeOf(id, "b"), "", "has not read back volume pvc-1"},
		{"an imported dataset of another name", []v1alpha1.PgNodeStorage{reports("b", "tank/pgdata/old")}, both, elsewhere(func(v *corev1.PersistentVolume) { v.Spec.CSI.VolumeHandle = "old" }), "b", ""},
		{"no volume", []v1alpha1.PgNodeStorage{honest}, both, nil, "", "PersistentVolume pvc-1 does not exist"},
		{"a second object in the node's name", []v1alpha1.PgNodeStorage{reports("b"), func() v1alpha1.PgNodeStorage { s := honest; s.Name = "fast.x"; return s }()}, both, volumeOf(id, "b"), "", "has not read back"},
		{"no room for it in the status", []v1alpha1.PgNodeStorage{func() v1alpha1.PgNodeStorage {
			s := reports("b", "tank/pgdata/pvc-0")
			s.Status.VolumeCount = new(int32(2))
			return s
		}()}, both, volumeOf(id, "b"), "", "lists 1 of 2 volumes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop-1", UID: types.UID("1")}}
			c.Spec.VolumeName = "pvc-1"
			got := observed.Claim{Home: "a"}
			Read("fast", tc.storages, tc.nodes).Locate(&got, c, tc.volume)
			if got.Node != tc.node || (got.Observed != nil) != (tc.node != "") || !strings.Contains(got.Unproved, tc.unproved) || tc.unproved == "" && got.Unproved != "" {
				t.Errorf("%+v", got)
			}
			if tc.node != "" && got.Home != tc.node {
				t.Errorf("home %q is the claim's own word", got.Home)
			}
		})
	}
}

// The agent of one node says nothing about the devices of another, nor fences anything
// there.
func TestAgentIsBelievedAboutDevicesOfItsOwnNodeOnly(t *testing.T) {
	on := func(node, reason string) v1alpha1.PgNodeStorage {
		s := reports(node)
		s.Spec.NetworkDevices = &v1alpha1.NodeNetworkDevices{Layout: v1alpha1.VdevStripe}
		s.Status.Pool = &v1alpha1.ObservedPool{Health: online}
		c := metav1.Condition{Type: v1alpha1.ConditionDevicesAttached, Status: metav1.ConditionTrue, Reason: reason}
		if reason != v1alpha1.ReasonDevicesAttached {
			c.Status = metav1.ConditionFalse
		}
		s.Status.Conditions = append(s.Status.Conditions, c)
		return s
	}
	hostile := on("a", v1alpha1.ReasonServerLost)
	hostile.Status.NetworkDevices = []v1alpha1.ObservedNetworkDevice{{Path: "/dev/nbd0", URL: "s3://bucket/prefix/fast/b", State: "Lost"}}
	forged := on("b", v1alpha1.ReasonServerLost)
	forged.Name = "fast.x"
	got := Devices("fast", []v1alpha1.PgNodeStorage{hostile, on("b", v1alpha1.ReasonDevicesAttached), forged})
	if got["a"].Condition != observed.DevicesLost || got["b"].Condition != observed.DevicesWhole {
		t.Errorf("%+v", got)
	}
}
