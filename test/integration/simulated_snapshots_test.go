package integration

import (
	"context"
	"errors"
	"testing"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	// boundFinalizer is what the snapshot controller keeps a VolumeSnapshot with.
	boundFinalizer = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection"
	// madeOf on a simulated volume names the VolumeSnapshot that it is a clone of.
	madeOf = "example.com/made-of"
)

// simulatedSnapshotter is a snapshot controller and a CSI driver for one namespace. It fails the
// test when a VolumeSnapshot is deleted before the volumes that are clones of it.
type simulatedSnapshotter struct {
	t  *testing.T
	c  client.Client
	ns string
}

func (s *simulatedSnapshotter) list(ctx context.Context) ([]snapshotv1.VolumeSnapshot, error) {
	list := &snapshotv1.VolumeSnapshotList{}
	err := s.c.List(ctx, list, client.InNamespace(s.ns))
	return list.Items, err
}

// all take every VolumeSnapshot, and delete those that are to be deleted.
func (s *simulatedSnapshotter) all(ctx context.Context) error {
	list, err := s.list(ctx)
	for i := range list {
		v := &list[i]
		switch {
		case v.DeletionTimestamp != nil:
			err = errors.Join(err, s.remove(ctx, v))
		case v.Status == nil:
			err = errors.Join(err, s.take(ctx, v))
		}
	}
	return passing(err)
}

// take one VolumeSnapshot, whose volumes can be cloned at once.
func (s *simulatedSnapshotter) take(ctx context.Context, v *snapshotv1.VolumeSnapshot) error {
	if controllerutil.AddFinalizer(v, boundFinalizer) {
		if err := s.c.Update(ctx, v); err != nil {
			return err
		}
	}
	now := metav1.Now()
	v.Status = &snapshotv1.VolumeSnapshotStatus{ReadyToUse: new(true), CreationTime: &now, BoundVolumeSnapshotContentName: new("content-" + v.Name)}
	return s.c.Status().Update(ctx, v)
}

// remove a VolumeSnapshot that is being deleted.
func (s *simulatedSnapshotter) remove(ctx context.Context, v *snapshotv1.VolumeSnapshot) error {
	volumes := &corev1.PersistentVolumeList{}
	if err := s.c.List(ctx, volumes); err != nil {
		return err
	}
	for i := range volumes.Items {
		if volumes.Items[i].Annotations[madeOf] == s.ns+"/"+v.Name {
			s.t.Errorf("VolumeSnapshot %s is deleted before its clone %s", v.Name, volumes.Items[i].Name)
		}
	}
	controllerutil.RemoveFinalizer(v, boundFinalizer)
	return s.c.Update(ctx, v)
}

// passing errors are those of an object that another changed or deleted meanwhile.
func passing(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var left []error
		for _, e := range joined.Unwrap() {
			left = append(left, passing(e))
		}
		return errors.Join(left...)
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
