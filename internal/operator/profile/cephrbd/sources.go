package cephrbd

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// +kubebuilder:rbac:groups=ceph.rook.io,resources=cephclusters;cephblockpools,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=persistentvolumes;persistentvolumeclaims,verbs=list;watch
// +kubebuilder:rbac:groups=storage.k8s.io,resources=csidrivers,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=zfs.openebs.io,resources=zfsvolumes,verbs=list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=cephclusters.ceph.rook.io;cephblockpools.ceph.rook.io,verbs=get

// Kinds that a profile of this type reads, besides those of Rook.
var (
	deployments  = appsv1.SchemeGroupVersion.WithKind("Deployment")
	claims       = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	volumes      = corev1.SchemeGroupVersion.WithKind("PersistentVolume")
	pods         = corev1.SchemeGroupVersion.WithKind("Pod")
	jobs         = batchv1.SchemeGroupVersion.WithKind("Job")
	drivers      = storagev1.SchemeGroupVersion.WithKind("CSIDriver")
	recordedZvol = schema.GroupVersionKind{Group: "zfs.openebs.io", Version: "v1", Kind: "ZFSVolume"}
)

// rookCRDs are of use only together.
var rookCRDs = []string{"cephclusters.ceph.rook.io", "cephblockpools.ceph.rook.io"}

// sources that Rook, Kubernetes and zfs-localpv write.
func sources() []profile.Source {
	return []profile.Source{
		{Kind: rook.CephClusterKind, CRDs: rookCRDs, Namespace: rookNamespace, Concerns: inNamespace, Trim: trimCluster, Created: true, Guards: true},
		{Kind: rook.CephBlockPoolKind, CRDs: rookCRDs, Namespace: rookNamespace, Concerns: inNamespace, Trim: trimPool, Created: true, Guards: true},
		{Kind: deployments, Selector: "app=rook-ceph-osd", Namespace: rookNamespace, Concerns: inNamespace, Trim: trimDeployment},
		{Kind: claims, Selector: labelDeviceSet, Namespace: rookNamespace, Concerns: inNamespace, Trim: trimClaim},
		{Kind: volumes, Concerns: ofClass, Trim: trimVolume, Guards: true},
		{Kind: pods, Selector: "app in (" + appOSD + "," + appOSDPrepare + "," + naming.ProbeApp + ")", Namespace: rookNamespace, Concerns: inNamespace, Trim: trimPod},
		{Kind: pods, Group: "instances", Selector: naming.LabelCNPGCluster, Concerns: onCeph, Trim: trimPod},
		{Kind: jobs, Selector: naming.LabelManagedBy + "=" + naming.ManagedBy + "," + naming.LabelProfile, Namespace: rookNamespace, Concerns: inNamespace, Trim: trimJob, Created: true, Guards: true},
		{Kind: drivers, Metadata: true, Trim: trimDriver},
		{Kind: recordedZvol, CRDs: []string{"zfsvolumes.zfs.openebs.io"}, Concerns: onZvols, Trim: profile.TrimSpec("volumeType", "volblocksize", "thinProvision")},
	}
}

func rookNamespace(p *v1alpha1.PgStorageProfile) string {
	if p.Spec.CephRBD == nil {
		return ""
	}
	return p.Spec.CephRBD.Rook.Namespace
}

// inNamespace: the CephCluster is in the object's namespace.
func inNamespace(p *v1alpha1.PgStorageProfile, o profile.Object) bool {
	return p.Spec.CephRBD != nil && rookNamespace(p) == o.GetNamespace()
}

// ofClass: the PersistentVolume has a class of the profile.
func ofClass(p *v1alpha1.PgStorageProfile, o profile.Object) bool {
	v, ok := o.(*corev1.PersistentVolume)
	return ok && (v.Spec.StorageClassName == naming.DataClass(p.Name) || v.Spec.StorageClassName == naming.BlockClass(p.Name))
}

// onCeph: the pod has a claim, and may be an instance on the profile.
func onCeph(p *v1alpha1.PgStorageProfile, o profile.Object) bool {
	pod, ok := o.(*corev1.Pod)
	return ok && p.Spec.CephRBD != nil && len(pod.Spec.Volumes) > 0
}

// onZvols: the OSDs of the profile are on zvols.
func onZvols(p *v1alpha1.PgStorageProfile, _ profile.Object) bool { return zfsOf(p) != nil }
