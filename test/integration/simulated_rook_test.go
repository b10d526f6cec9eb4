package integration

import (
	"context"
	"fmt"
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// What Rook v1.20 and its Ceph would write, in the words of Rook's documentation
// (Status of a CephCluster) and sources (pkg/operator/ceph).

type fields = map[string]any

func rookObject(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// simulatedRook writes the status of an object of Rook's for its generation of now; nil
// takes the status away.
func simulatedRook(t *testing.T, c client.Client, o *unstructured.Unstructured, status fields) {
	t.Helper()
	eventually(t, fmt.Sprintf("the simulated status of %s %s", o.GetKind(), o.GetName()), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		delete(o.Object, "status")
		if status != nil {
			complete := fields{"observedGeneration": o.GetGeneration()}
			maps.Copy(complete, status)
			o.Object["status"] = complete
		}
		return c.Status().Update(ctx, o)
	})
}

// cephStatus of a CephCluster that was orchestrated, with the checks that Ceph raises,
// as name and severity in turn.
func cephStatus(health string, checks ...string) fields {
	details := fields{}
	for i := 0; i+1 < len(checks); i += 2 {
		details[checks[i]] = fields{"severity": checks[i+1], "message": "simulated"}
	}
	return fields{
		"phase": "Ready", "state": "Created", "message": "Cluster created successfully",
		"ceph": fields{
			"health": health, "details": details, "lastChecked": "2026-11-21T00:00:00Z",
			"capacity": fields{"bytesTotal": int64(75) << 30, "bytesUsed": int64(1) << 30, "bytesAvailable": int64(74) << 30},
		},
	}
}

func progressing(message string) fields {
	return fields{"phase": "Progressing", "state": "Creating", "message": message}
}

var poolReady = fields{"phase": "Ready", "poolID": int64(2), "info": fields{"type": "Replicated", "failureDomain": "host"}}

// blockedBy is how Rook says that a deletion waits for dependents.
func blockedBy(kind, message string) fields {
	now := metav1.Now().UTC().Format("2006-01-02T15:04:05Z")
	return fields{"phase": "Deleting", "conditions": []any{fields{
		"type": kind, "status": "True", "reason": "ObjectHasDependents", "message": message, "lastHeartbeatTime": now, "lastTransitionTime": now,
	}}}
}

// simulatedFinalizer is Rook's own hold on its objects.
func simulatedFinalizer(t *testing.T, c client.Client, o *unstructured.Unstructured, held bool) {
	t.Helper()
	changed(t, c, o, func() {
		if held {
			controllerutil.AddFinalizer(o, "simulated.ceph.rook.io/held")
		} else {
			o.SetFinalizers(nil)
		}
	})
}

// simulatedOSD is the Deployment of an OSD on a node, whose pod is ready.
func simulatedOSD(t *testing.T, c client.Client, namespace string, id int, node string) *appsv1.Deployment {
	t.Helper()
	name := fmt.Sprintf("rook-ceph-osd-%d", id)
	labels := map[string]string{"app": "rook-ceph-osd", "ceph-osd-id": fmt.Sprint(id), "device-class": "ssd", "topology-location-host": node}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					NodeSelector: map[string]string{corev1.LabelHostname: node},
					Containers:   []corev1.Container{{Name: "osd", Image: "registry.example/ceph:v20.2.4"}},
				},
			},
		},
	}
	create(t, c, d)
	simulatedOSDPods(t, c, d, 1)
	return d
}

func simulatedOSDPods(t *testing.T, c client.Client, d *appsv1.Deployment, ready int32) {
	t.Helper()
	eventually(t, "the pods of "+d.Name, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil {
			return err
		}
		d.Status = appsv1.DeploymentStatus{Replicas: 1, ReadyReplicas: ready, AvailableReplicas: ready}
		return c.Status().Update(ctx, d)
	})
}

// simulatedOSDVolume is the bound claim of an OSD on a node, the volume that
// zfs-localpv made of it, and what the node's agent read back.
func simulatedOSDVolume(t *testing.T, c client.Client, p *v1alpha1.PgStorageProfile, node, thin string) (*corev1.PersistentVolume, *unstructured.Unstructured) {
	t.Helper()
	class, block := naming.BlockClass(p.Name), corev1.PersistentVolumeBlock
	amount := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("25Gi")}
	volume := "pvc-" + p.Name + "-" + node
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Spec.CephRBD.Rook.Namespace, Name: naming.DeviceSet + "-data-" + node, Labels: map[string]string{
			"ceph.rook.io/DeviceSet": naming.DeviceSet, "ceph.rook.io/DeviceSetPVCId": naming.DeviceSet + "-data-" + node,
		}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, VolumeName: volume, VolumeMode: &block, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: amount},
		},
	}
	pv := simulatedPV(volume, class, "zfs.csi.openebs.io", claim)
	pv.Spec.NodeAffinity = onNode(node)
	zvol := rookObject(schema.GroupVersionKind{Group: "zfs.openebs.io", Version: "v1", Kind: "ZFSVolume"}, "default", volume)
	zvol.Object["spec"] = fields{
		"ownerNodeID": node, "poolName": naming.BlockDataset("tank"), "capacity": fmt.Sprint(int64(25) << 30),
		"volumeType": "ZVOL", "volblocksize": "4k", "thinProvision": thin,
	}
	create(t, c, claim, pv, zvol)
	s := &v1alpha1.PgNodeStorage{}
	eventually(t, "the volume read back on "+node, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage(p.Name, node)}, s); err != nil {
			return err
		}
		s.Status.Volumes = []v1alpha1.ObservedVolume{{Name: naming.BlockDataset("tank") + "/" + volume, Type: "Volume", Volblocksize: 4096, Provisioning: "Thick"}}
		meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPoolReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPoolOnline, ObservedGeneration: s.Generation})
		return c.Status().Update(ctx, s)
	})
	return pv, zvol
}

// simulatedPV is a volume of a claim, without the finalizer that a controller would have to
// remove.
func simulatedPV(name, class, driver string, claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName: class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		ClaimRef:               &corev1.ObjectReference{Namespace: claim.Namespace, Name: claim.Name},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}},
	}}
}

// simulatedPod of one container, on a node, with the claims that it mounts.
func simulatedPod(t *testing.T, c client.Client, namespace, name, node string, labels map[string]string, claims ...string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "registry.example/image:1"}}},
	}
	for _, claim := range claims {
		v := corev1.Volume{Name: claim}
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
		pod.Spec.Volumes = append(pod.Spec.Volumes, v)
	}
	create(t, c, pod)
	return pod
}

// simulatedEnd of a pod's container, with what it wrote as its last words.
func simulatedEnd(t *testing.T, c client.Client, pod *corev1.Pod, phase corev1.PodPhase, code int32, message string) {
	t.Helper()
	eventually(t, "the end of "+pod.Name, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		pod.Status.Phase = phase
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}}}
		return c.Status().Update(ctx, pod)
	})
}

// simulatedPrepare is the pod of Rook's job that prepares the device of a node, which
// failed.
func simulatedPrepare(t *testing.T, c client.Client, namespace, node, message string) *corev1.Pod {
	t.Helper()
	job := "rook-ceph-osd-prepare-" + node
	pod := simulatedPod(t, c, namespace, job+"-x", node, map[string]string{"app": "rook-ceph-osd-prepare", "batch.kubernetes.io/job-name": job})
	simulatedEnd(t, c, pod, corev1.PodRunning, 1, message)
	return pod
}

// simulatedProbe waits for the Job that probes the pools of a profile, and ends it. With a
// failure, its pod has these last words.
func simulatedProbe(t *testing.T, c client.Client, namespace, profile, failure string) *batchv1.Job {
	t.Helper()
	var job *batchv1.Job
	eventually(t, "a probe of "+profile, func(ctx context.Context) error {
		list := &batchv1.JobList{}
		if err := c.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{naming.LabelProfile: profile}); err != nil {
			return err
		}
		for i := range list.Items {
			if len(list.Items[i].Status.Conditions) == 0 && list.Items[i].DeletionTimestamp == nil {
				job = &list.Items[i]
				return nil
			}
		}
		return fmt.Errorf("none of %d Jobs runs", len(list.Items))
	})
	now := metav1.Now()
	met, end := batchv1.JobSuccessCriteriaMet, batchv1.JobComplete
	if failure != "" {
		met, end = batchv1.JobFailureTarget, batchv1.JobFailed
		pod := simulatedPod(t, c, namespace, job.Name+"-x", "n1", map[string]string{"app": "pgstorage-probe", "batch.kubernetes.io/job-name": job.Name})
		simulatedEnd(t, c, pod, corev1.PodFailed, 1, failure)
	} else {
		job.Status.CompletionTime = &now
	}
	job.Status.StartTime = &now
	for _, kind := range []batchv1.JobConditionType{met, end} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: "Simulated", LastProbeTime: now, LastTransitionTime: now})
	}
	if err := c.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	return job
}

// deleted removes an object with its finalizers, as controllers that are not here would.
func deleted(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	eventually(t, "the end of "+o.GetName(), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return client.IgnoreNotFound(err)
		}
		if len(o.GetFinalizers()) > 0 {
			o.SetFinalizers(nil)
			if err := c.Update(ctx, o); err != nil {
				return err
			}
		}
		// A Job would otherwise orphan its pods, which waits for a controller.
		return client.IgnoreNotFound(c.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	})
}

func cephClusterIn(namespace string) *unstructured.Unstructured {
	return rookObject(rook.CephClusterKind, namespace, "rook-ceph")
}

func poolIn(namespace, name string) *unstructured.Unstructured {
	return rookObject(rook.CephBlockPoolKind, namespace, name)
}
