package controllers

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// cephCache holds what profiles of type CephRBD read of objects that the operator did
// not make, in the few fields that are read. Nothing is watched, and nothing held,
// before the first pass over such a profile.
type cephCache struct{ cache.Cache }

// GetCache has the manager start it with its own caches, before any controller.
func (c cephCache) GetCache() cache.Cache { return c.Cache }

// newCephCache adds the cache to the manager. Kinds of foreign CRDs are not named in
// it, because they need not exist yet.
func newCephCache(mgr ctrl.Manager) (cache.Cache, error) {
	osds, err := labels.Parse(observe.OSDSelector)
	if err != nil {
		return nil, err
	}
	claims, err := labels.Parse(observe.OSDClaimSelector)
	if err != nil {
		return nil, err
	}
	c, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultTransform: slimCeph,
		ByObject: map[client.Object]cache.ByObject{
			&appsv1.Deployment{}:            {Label: osds},
			&corev1.PersistentVolumeClaim{}: {Label: claims},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cache of Ceph clusters: %w", err)
	}
	return c, mgr.Add(cephCache{c})
}

// slimCeph keeps of each object what a profile reads of it, and nothing that moves
// while Ceph is at rest: Rook writes when it looked last, and how much is used, every
// minute.
func slimCeph(obj any) (any, error) {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		return slimForeign(o)
	case *appsv1.Deployment:
		slim := &appsv1.Deployment{ObjectMeta: slimMeta(o.ObjectMeta)}
		slim.Labels = bounded(o.Labels)
		slim.Spec.Template.Spec.NodeSelector = bounded(o.Spec.Template.Spec.NodeSelector)
		slim.Status.ReadyReplicas = o.Status.ReadyReplicas
		return slim, nil
	case *corev1.PersistentVolumeClaim:
		slim := &corev1.PersistentVolumeClaim{ObjectMeta: slimMeta(o.ObjectMeta)}
		slim.Labels = bounded(o.Labels)
		slim.Spec.VolumeName, slim.Spec.StorageClassName = o.Spec.VolumeName, o.Spec.StorageClassName
		return slim, nil
	case *corev1.PersistentVolume:
		slim := &corev1.PersistentVolume{ObjectMeta: slimMeta(o.ObjectMeta)}
		slim.Spec.StorageClassName, slim.Spec.NodeAffinity = o.Spec.StorageClassName, o.Spec.NodeAffinity
		if c := o.Spec.ClaimRef; c != nil {
			slim.Spec.ClaimRef = &corev1.ObjectReference{Namespace: c.Namespace, Name: c.Name, UID: c.UID}
		}
		if c := o.Spec.CSI; c != nil {
			slim.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: c.Driver, VolumeHandle: c.VolumeHandle, VolumeAttributes: c.VolumeAttributes}
		}
		return slim, nil
	case *storagev1.VolumeAttachment:
		slim := &storagev1.VolumeAttachment{ObjectMeta: slimMeta(o.ObjectMeta)}
		slim.Spec.Attacher, slim.Spec.NodeName = o.Spec.Attacher, o.Spec.NodeName
		slim.Spec.Source.PersistentVolumeName = o.Spec.Source.PersistentVolumeName
		return slim, nil
	case *metav1.PartialObjectMetadata:
		return &metav1.PartialObjectMetadata{TypeMeta: o.TypeMeta, ObjectMeta: slimMeta(o.ObjectMeta)}, nil
	}
	return obj, nil
}

func slimMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, DeletionTimestamp: m.DeletionTimestamp}
}

// slimForeign keeps the spec of Rook's objects, which is held against what is wanted,
// and of a status what package rook reads.
func slimForeign(o *unstructured.Unstructured) (any, error) {
	o.SetManagedFields(nil)
	switch o.GroupVersionKind() {
	case rook.CephClusterKind:
		return slimStatus(o, &rook.ClusterStatus{})
	case rook.CephBlockPoolKind:
		return slimStatus(o, &rook.PoolStatus{})
	case observe.ZFSVolumeKind:
		o.SetAnnotations(nil)
		return slimVolume(o), nil
	}
	return o, nil
}

type slimmer interface{ Slim() }

func slimStatus(o *unstructured.Unstructured, status slimmer) (any, error) {
	if err := rook.Read(o.Object, "status", status); err != nil {
		return nil, err
	}
	status.Slim()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return nil, fmt.Errorf("keep the status of %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	o.Object["status"] = content
	return o, nil
}

func slimVolume(o *unstructured.Unstructured) *unstructured.Unstructured {
	spec := map[string]any{}
	for _, field := range observe.ZFSVolumeFields {
		if value, found, _ := unstructured.NestedString(o.Object, "spec", field); found {
			spec[field] = value
		}
	}
	o.Object["spec"] = spec
	delete(o.Object, "status")
	return o
}
