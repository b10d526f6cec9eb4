package cephrbd

import (
	"encoding/json"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// The cache keeps what a profile reads, and nothing that changes while Ceph is idle.
func TestTrimKeepsOnlyWhatIsRead(t *testing.T) {
	noise := metav1.ObjectMeta{
		Namespace: "rook-ceph", Name: "a", UID: "u", ResourceVersion: "7", Annotations: map[string]string{"noise": "noise"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "noise"}},
	}
	labelled := noise
	labelled.Labels = map[string]string{"ceph-osd-id": "0"}
	volume := "pvc-1"
	for _, tc := range []struct {
		name string
		kind schema.GroupVersionKind
		obj  profile.Object
		want string
	}{
		{
			"an OSD", deployments, &appsv1.Deployment{
				ObjectMeta: labelled,
				Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					NodeSelector: map[string]string{"kubernetes.io/hostname": "n1"}, Containers: []corev1.Container{{Name: "noise"}},
				}}},
				Status: appsv1.DeploymentStatus{ReadyReplicas: 1, ObservedGeneration: 3},
			},
			`{"metadata":{"name":"a","namespace":"rook-ceph","uid":"u","resourceVersion":"7","labels":{"ceph-osd-id":"0"}},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null,"nodeSelector":{"kubernetes.io/hostname":"n1"}}},"strategy":{}},"status":{"readyReplicas":1}}`,
		},
		{
			"a claim", claims, &corev1.PersistentVolumeClaim{ObjectMeta: labelled, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: volume}, Status: corev1.PersistentVolumeClaimStatus{Phase: "noise"}},
			`{"metadata":{"name":"a","namespace":"rook-ceph","uid":"u","resourceVersion":"7","labels":{"ceph-osd-id":"0"}},"spec":{"resources":{},"volumeName":"pvc-1"},"status":{}}`,
		},
		{
			"a volume", volumes, &corev1.PersistentVolume{ObjectMeta: labelled, Spec: corev1.PersistentVolumeSpec{
				StorageClassName: "ceph", ClaimRef: &corev1.ObjectReference{Namespace: "prod", Name: "shop-1", UID: "1"}, MountOptions: []string{"noise"},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h", VolumeAttributes: map[string]string{"p": "tank"}, FSType: "noise"}},
			}},
			`{"metadata":{"name":"a","namespace":"rook-ceph","uid":"u","resourceVersion":"7"},"spec":{"csi":{"driver":"d","volumeHandle":"h","volumeAttributes":{"p":"tank"}},"claimRef":{"namespace":"prod","name":"shop-1","uid":"1"},"storageClassName":"ceph"},"status":{}}`,
		},
		{
			"a pod of Rook's that fails", pods, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: "a", UID: "u", ResourceVersion: "7", Labels: map[string]string{"app": "rook-ceph-osd-prepare", "batch.kubernetes.io/job-name": "j", "noise": "noise"}},
				Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "noise"}}, Volumes: []corev1.Volume{
					{Name: "noise"}, {Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c", ReadOnly: true}}},
				}},
				Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{
					Name: "noise", RestartCount: 3,
					State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 20s"}},
					LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "first\n\x1b[1mlast\n", ContainerID: "noise"}},
				}}},
			},
			`{"metadata":{"name":"a","namespace":"rook-ceph","uid":"u","resourceVersion":"7","labels":{"app":"rook-ceph-osd-prepare","batch.kubernetes.io/job-name":"j"}},"spec":{"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"c"}}],"containers":null,"nodeName":"n1"},"status":{"phase":"Running","containerStatuses":[{"name":"","state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error","message":"[1mlast","startedAt":null,"finishedAt":null}},"ready":false,"restartCount":0,"image":"","imageID":""}]}}`,
		},
		{
			"an instance", pods, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "a", UID: "u", ResourceVersion: "7", Labels: map[string]string{"cnpg.io/cluster": "shop"}},
				Spec:       corev1.PodSpec{NodeName: "n1"},
				Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
					State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "noise"}},
				}}},
			},
			`{"metadata":{"name":"a","namespace":"prod","uid":"u","resourceVersion":"7","labels":{"cnpg.io/cluster":"shop"}},"spec":{"containers":null,"nodeName":"n1"},"status":{"phase":"Running"}}`,
		},
		{
			"a driver", drivers, &metav1.PartialObjectMetadata{ObjectMeta: labelled},
			`{"metadata":{"name":"a","namespace":"rook-ceph","uid":"u","resourceVersion":"7"}}`,
		},
		{
			"a CephCluster", rook.CephClusterKind, served("ceph.rook.io/v1", "CephCluster", map[string]any{"mon": map[string]any{"count": int64(3)}}, map[string]any{
				"phase": "Ready", "state": "noise", "observedGeneration": int64(2), "message": "Cluster created successfully",
				"ceph": map[string]any{
					"health": "HEALTH_WARN", "lastChecked": "noise", "details": map[string]any{"OSD_DOWN": map[string]any{"severity": "HEALTH_WARN", "message": "noise"}},
					"capacity": map[string]any{"bytesTotal": int64(9), "bytesUsed": int64(1), "lastUpdated": "noise"},
				},
				"conditions": []any{
					map[string]any{"type": "Ready", "status": "True", "message": "noise", "lastHeartbeatTime": "noise"},
					map[string]any{"type": "DeletionIsBlocked", "status": "True", "reason": "ObjectHasDependents", "message": "a pool", "lastHeartbeatTime": "noise"},
				},
			}),
			`{"apiVersion":"ceph.rook.io/v1","kind":"CephCluster","metadata":{"annotations":{"pgstorage.dev/intent":"1"},"name":"a"},"spec":{"mon":{"count":3}},"status":{"ceph":{"capacity":{"bytesTotal":9},"details":{"OSD_DOWN":{"severity":"HEALTH_WARN"}},"health":"HEALTH_WARN"},"conditions":[{"message":"a pool","reason":"ObjectHasDependents","status":"True","type":"DeletionIsBlocked"}],"message":"Cluster created successfully","observedGeneration":2,"phase":"Ready"}}`,
		},
		{
			"a pool without a status", rook.CephBlockPoolKind, served("ceph.rook.io/v1", "CephBlockPool", map[string]any{"failureDomain": "host"}, nil),
			`{"apiVersion":"ceph.rook.io/v1","kind":"CephBlockPool","metadata":{"annotations":{"pgstorage.dev/intent":"1"},"name":"a"},"spec":{"failureDomain":"host"},"status":{}}`,
		},
		{
			"a zvol", recordedZvol, served("zfs.openebs.io/v1", "ZFSVolume", map[string]any{"volumeType": "ZVOL", "volblocksize": "4k", "thinProvision": "no", "capacity": "noise"}, map[string]any{"state": "noise"}),
			`{"apiVersion":"zfs.openebs.io/v1","kind":"ZFSVolume","metadata":{"name":"a"},"spec":{"thinProvision":"no","volblocksize":"4k","volumeType":"ZVOL"}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kept, err := trimOf(t, tc.kind)(tc.obj)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(kept)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.want {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}

func served(version, kind string, spec, status map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	if status != nil {
		o.Object["status"] = status
	}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind))
	o.SetName("a")
	o.SetAnnotations(map[string]string{"pgstorage.dev/intent": "1"})
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "noise"}})
	return o
}

// trimOf returns the Trim of the source of a kind.
func trimOf(t *testing.T, kind schema.GroupVersionKind) func(profile.Object) (profile.Object, error) {
	t.Helper()
	for _, s := range (Type{}).Hooks().Sources {
		if s.Kind == kind {
			return s.Trim
		}
	}
	t.Fatalf("no source of kind %s", kind)
	return nil
}

func TestLabelsOfAnOSDAreBounded(t *testing.T) {
	many := map[string]string{}
	for i := range 1000 {
		many[fmt.Sprintf("l%04d", i)] = "v"
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: many}}
	d.Spec.Template.Spec.NodeSelector = many
	kept, err := trimDeployment(d)
	if err != nil {
		t.Fatal(err)
	}
	const want = 64
	if got := kept.(*appsv1.Deployment); len(got.Labels) != want || len(got.Spec.Template.Spec.NodeSelector) != want {
		t.Errorf("got %d labels and %d of the node selector, want %d", len(got.Labels), len(got.Spec.Template.Spec.NodeSelector), want)
	}
}
