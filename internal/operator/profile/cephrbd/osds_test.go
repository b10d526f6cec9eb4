package cephrbd

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

func deployment(selector map[string]string, ready int32, labels map[string]string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Status: appsv1.DeploymentStatus{ReadyReplicas: ready}}
	d.Spec.Template.Spec.NodeSelector = selector
	return d
}

func TestOSDs(t *testing.T) {
	for _, tc := range []struct {
		name       string
		deployment *appsv1.Deployment
		want       OSD
		none       bool
	}{
		{
			"pinned to a node of another name", deployment(map[string]string{corev1.LabelHostname: "h1"}, 1, map[string]string{"ceph-osd-id": "3", "device-class": "ssd", "topology-location-rack": "r1"}),
			OSD{ID: 3, Host: "node-1", Hostname: "h1", Domain: "r1", DeviceClass: "ssd", Up: true}, false,
		},
		{
			"portable, and its pod away", deployment(nil, 0, map[string]string{"ceph-osd-id": "0", "topology-location-host": "set1-data-0"}),
			OSD{Host: "set1-data-0", Hostname: "set1-data-0"}, false,
		},
		{"no OSD", deployment(nil, 1, map[string]string{"app": "rook-ceph-osd"}), OSD{}, true},
		{
			"being deleted", func() *appsv1.Deployment {
				d := deployment(nil, 1, map[string]string{"ceph-osd-id": "0"})
				d.DeletionTimestamp = new(metav1.Now())
				return d
			}(), OSD{}, true,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, found := osdOf(tc.deployment, "rack", map[string]string{"h1": "node-1"})
			if got != tc.want || found == tc.none {
				t.Errorf("%+v, %v", got, found)
			}
		})
	}
}

// TestFailuresOfOSDs: one that runs has none, however its container ended before.
func TestFailuresOfOSDs(t *testing.T) {
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 132, Reason: "Error"}}
	waits := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	pod := func(name, id string, status corev1.ContainerStatus) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: name, Labels: map[string]string{"app": appOSD, labelOSD: id}}}
		p.Spec.NodeName, p.Status.ContainerStatuses = "node-1", []corev1.ContainerStatus{status}
		return p
	}
	var objects profile.Objects
	objects.Add(deployments, deployment(nil, 0, map[string]string{labelOSD: "0"}), deployment(nil, 1, map[string]string{labelOSD: "1"}),
		deployment(nil, 0, map[string]string{labelOSD: "2"}), deployment(nil, 0, map[string]string{labelOSD: "3"}))
	objects.Add(
		pods, pod("a", "0", corev1.ContainerStatus{State: waits, LastTerminationState: ended}), pod("b", "1", corev1.ContainerStatus{LastTerminationState: ended}),
		pod("c", "2", corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}),
		pod("d", "3", corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}),
	)
	p := &v1alpha1.PgStorageProfile{}
	p.Spec.CephRBD = &v1alpha1.CephRBDProfile{Rook: v1alpha1.RookNames{Namespace: "rook-ceph"}}
	var got []string
	for _, o := range osds(p, objects) {
		got = append(got, o.Failure)
	}
	if want := []string{"Error, exit code 132", "", "", "ImagePullBackOff"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestInstanceOfAClaim(t *testing.T) {
	clusters := []v1alpha1.PgStorageCluster{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop"}}, {ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop-2"}},
	}
	for claim, want := range map[types.NamespacedName]string{
		{Namespace: "prod", Name: "shop-1"}:        "prod/shop",
		{Namespace: "prod", Name: "shop-2"}:        "prod/shop",
		{Namespace: "prod", Name: "shop-2-1"}:      "prod/shop-2",
		{Namespace: "prod", Name: "shop-1-wal"}:    "",
		{Namespace: "prod", Name: "shop"}:          "",
		{Namespace: "dev", Name: "shop-1"}:         "",
		{Namespace: "prod", Name: "other-1"}:       "",
		{Namespace: "prod", Name: "shop-1-tbs-ix"}: "",
	} {
		if got, _, _ := instanceOf(claim, clusters); got != want {
			t.Errorf("%s/%s is of %q, want %q", claim.Namespace, claim.Name, got, want)
		}
	}
}
