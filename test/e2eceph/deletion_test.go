//go:build e2eceph

package e2eceph

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

func keyOf(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}

func rookObject(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	o.SetNamespace(rookNamespace)
	o.SetName(name)
	return o
}

// deletionOutOfOrder deletes the profile first. It waits for each of its users by name, and
// all that they need stays.
func (j *journey) deletionOutOfOrder(t *testing.T) {
	if err := c.Delete(t.Context(), profile()); err != nil {
		t.Fatal(err)
	}
	waitsFor(t, namespace+"/"+j.ledger.Name)
	psql(t, j.ledger, "CREATE TABLE still_served AS SELECT 1")
	everythingIsThere(t)
	if err := c.Delete(t.Context(), j.ledger); err != nil {
		t.Fatal(err)
	}
	gone(t, j.ledger)
	waitsFor(t, mounted().Name)
	everythingIsThere(t)
}

// waitsFor waits until the profile's deletion names what it waits for.
func waitsFor(t *testing.T, what string) {
	t.Helper()
	eventually(t, "the deletion of the profile to wait for "+what, func(ctx context.Context) error {
		p, err := current(ctx)
		if err != nil {
			return err
		}
		storage := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionStorageReady)
		if storage == nil || p.DeletionTimestamp == nil {
			return errors.New("it is not being deleted")
		}
		if !strings.Contains(storage.Message, what) {
			return fmt.Errorf("%s: %s", storage.Reason, storage.Message)
		}
		t.Logf("      %s: %s", storage.Reason, storage.Message)
		return nil
	})
}

// everythingIsThere: nothing of the storage is deleted, or is about to be.
func everythingIsThere(t *testing.T) {
	t.Helper()
	for _, o := range []client.Object{
		rookObject(rook.CephClusterKind, "rook-ceph"), rookObject(rook.CephBlockPoolKind, profileName), rookObject(rook.CephBlockPoolKind, naming.ManagerPool),
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: profileName}},
	} {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Error(err)
		}
		if o.GetDeletionTimestamp() != nil {
			t.Errorf("%T %s is being deleted", o, o.GetName())
		}
	}
}

// deletionInOrder removes what the profile waits for, one after the other. The image keeps the
// pool, which Rook says and the profile repeats.
func (j *journey) deletionInOrder(t *testing.T) {
	kubectl(t, "-n", rookNamespace, "exec", toolsName, "--", "bash", "-ec", unmountImage)
	if err := c.Delete(t.Context(), mounted()); err != nil {
		t.Fatal(err)
	}
	waitsFor(t, "CephBlockPool "+rookNamespace+"/"+profileName+" is held by Rook")
	begin := time.Now()
	eventually(t, "the image to be removed", func(ctx context.Context) error {
		// Ceph remembers for 30 seconds who had it open.
		_, err := ceph(ctx, "rbd", "rm", "--no-progress", "rbd/"+imageName)
		return err
	})
	kubectl(t, "-n", rookNamespace, "delete", "pod", toolsName, "--wait=false")
	gone(t, rookObject(rook.CephBlockPoolKind, profileName))
	gone(t, rookObject(rook.CephClusterKind, "rook-ceph"))
	gone(t, profile())
	gone(t, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: profileName}})
	t.Logf("everything was deleted %s after the last image", time.Since(begin).Round(time.Second))
	// The disks keep what is on them: the operator wipes none.
	list := &corev1.PersistentVolumeList{}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	disks := 0
	for _, v := range list.Items {
		if v.Spec.StorageClassName == "loop-block" {
			disks++
		}
	}
	if disks != 3 {
		t.Errorf("%d volumes of disks are left", disks)
	}
}

func gone(t *testing.T, obj client.Object) {
	t.Helper()
	eventually(t, fmt.Sprintf("%T %s to be gone", obj, obj.GetName()), func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(fmt.Errorf("it is there, finalizers %v", obj.GetFinalizers()), err)
	})
}
