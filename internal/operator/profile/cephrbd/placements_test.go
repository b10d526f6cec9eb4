package cephrbd

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Instances are found by their pods and claims, also on static volumes that nothing
// attaches.
func TestInstancesAreWhereTheirPodsAre(t *testing.T) {
	instance := func(name, node string, phase corev1.PodPhase, claims ...string) *corev1.Pod {
		out := pod("prod", name, node, map[string]string{naming.LabelCNPGCluster: "shop"}, phase)
		for _, claim := range claims {
			v := corev1.Volume{Name: claim}
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
			out.Spec.Volumes = append(out.Spec.Volumes, v)
		}
		return out
	}
	volume := func(name, class, claim string) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
			StorageClassName: class, ClaimRef: &corev1.ObjectReference{Namespace: "prod", Name: claim},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/rbd/pv0"}},
		}}
	}
	unlabelled := instance("shop-6", "n6", corev1.PodRunning, "shop-6")
	unlabelled.Labels = nil
	var objects profile.Objects
	objects.Add(pods,
		instance("shop-1", "n1", corev1.PodRunning, "shop-1", "shop-1-wal"),
		instance("shop-2", "", corev1.PodPending, "shop-2"),
		instance("shop-3-join", "n3", corev1.PodSucceeded, "shop-3"),
		instance("shop-4", "n4", corev1.PodRunning, "shop-4"),
		instance("shop-5", "n5", corev1.PodPending, "shop-5"),
		unlabelled,
	)
	objects.Add(volumes,
		volume("pv-1", "ceph", "shop-1"), volume("pv-1-wal", "ceph", "shop-1-wal"), volume("pv-2", "ceph", "shop-2"), volume("pv-3", "ceph", "shop-3"),
		volume("pv-4", "another", "shop-4"), volume("pv-5", "ceph", "shop-5"), volume("pv-6", "ceph", "shop-6"),
	)
	facts := observed.Profile{Clusters: []v1alpha1.PgStorageCluster{{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop"}}}}
	if err := read(external(nil), objects, &facts); err != nil {
		t.Fatal(err)
	}
	want := []observed.Placement{{Cluster: "prod/shop", Instance: "shop-1", Node: "n1"}, {Cluster: "prod/shop", Instance: "shop-5", Node: "n5"}}
	if !slices.Equal(facts.Instances, want) {
		t.Errorf("%+v", facts.Instances)
	}
}

// The pod of an OSD says where it is, which the Deployment of a portable one does not.
func TestOSDsAreWhereTheirPodsAre(t *testing.T) {
	d := deployment(nil, 1, map[string]string{"ceph-osd-id": "4", "topology-location-host": "set1-data-0"})
	d.Namespace = "rook-ceph"
	labels := map[string]string{"app": appOSD, "ceph-osd-id": "4"}
	var objects profile.Objects
	objects.Add(deployments, d)
	objects.Add(pods, pod("rook-ceph", "evicted", "n1", labels, corev1.PodFailed), pod("rook-ceph", "runs", "n2", labels, corev1.PodRunning))
	if got := osds(external(nil), objects); len(got) != 1 || got[0].Host != "n2" {
		t.Errorf("%+v", got)
	}
}
