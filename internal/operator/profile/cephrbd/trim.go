package cephrbd

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// Each trim keeps what the profile reads of an object. Rook writes its last look and
// the space in use every minute. Fields that change while Ceph is idle are dropped, or
// every such change would wake the profile.

func trimDeployment(object profile.Object) (profile.Object, error) {
	o, ok := object.(*appsv1.Deployment)
	if !ok {
		return object, nil
	}
	out := &appsv1.Deployment{ObjectMeta: profile.TrimMeta(o)}
	out.Labels = profile.TrimLabels(o.Labels)
	out.Spec.Template.Spec.NodeSelector = profile.TrimLabels(o.Spec.Template.Spec.NodeSelector)
	out.Status.ReadyReplicas = o.Status.ReadyReplicas
	return out, nil
}

func trimClaim(object profile.Object) (profile.Object, error) {
	o, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok {
		return object, nil
	}
	out := &corev1.PersistentVolumeClaim{ObjectMeta: profile.TrimMeta(o)}
	out.Labels = profile.TrimLabels(o.Labels)
	out.Spec.VolumeName, out.Spec.StorageClassName = o.Spec.VolumeName, o.Spec.StorageClassName
	return out, nil
}

func trimVolume(object profile.Object) (profile.Object, error) {
	o, ok := object.(*corev1.PersistentVolume)
	if !ok {
		return object, nil
	}
	out := &corev1.PersistentVolume{ObjectMeta: profile.TrimMeta(o)}
	out.Spec.StorageClassName, out.Spec.NodeAffinity = o.Spec.StorageClassName, o.Spec.NodeAffinity
	if c := o.Spec.ClaimRef; c != nil {
		out.Spec.ClaimRef = &corev1.ObjectReference{Namespace: c.Namespace, Name: c.Name, UID: c.UID}
	}
	if c := o.Spec.CSI; c != nil {
		out.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: c.Driver, VolumeHandle: c.VolumeHandle, VolumeAttributes: c.VolumeAttributes}
	}
	return out, nil
}

func trimDriver(object profile.Object) (profile.Object, error) {
	o, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: o.TypeMeta, ObjectMeta: profile.TrimMeta(o)}, nil
}

func trimCluster(o profile.Object) (profile.Object, error) {
	return trimStatus(o, &rook.ClusterStatus{})
}
func trimPool(o profile.Object) (profile.Object, error) { return trimStatus(o, &rook.PoolStatus{}) }

type slimmer interface{ Slim() }

// trimStatus keeps of Rook's objects the spec, which is compared with what the profile
// wants, and of the status what package rook reads.
func trimStatus(object profile.Object, status slimmer) (profile.Object, error) {
	o, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	o.SetManagedFields(nil)
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
