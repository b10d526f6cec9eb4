package gather

import (
	"context"
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// made are the kinds of objects that carry the label of a profile, by its type.
var made = map[v1alpha1.ProfileType][]schema.GroupVersionKind{
	v1alpha1.ProfileTypeZFSLocalPV: {snapshotClass},
	v1alpha1.ProfileTypeS3NBD:      {{Group: "apps", Version: "v1", Kind: "DaemonSet"}, {Version: "v1", Kind: "Pod"}, snapshotClass},
	v1alpha1.ProfileTypeCephRBD:    {rook.CephBlockPoolKind, snapshotClass},
}

var snapshotClass = schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshotClass"}

// Profile of a name and what it stands on.
func (r Reader) Profile(ctx context.Context, name string) (snapshot.Profile, error) {
	out, n := snapshot.Profile{Name: name}, notes{}
	p := &v1alpha1.PgStorageProfile{}
	found, err := r.get(ctx, &n, "PgStorageProfile "+name, client.ObjectKey{Name: name}, p)
	if err == nil && found {
		out.Profile = p
		err = r.beneath(ctx, &n, &out)
	}
	out.Unread = n
	return out, err
}

func (r Reader) beneath(ctx context.Context, n *notes, out *snapshot.Profile) error {
	p := out.Profile
	storages := &v1alpha1.PgNodeStorageList{}
	if err := r.list(ctx, n, "PgNodeStorages", storages, client.MatchingLabels{naming.LabelProfile: p.Name}); err != nil {
		return err
	}
	out.Storages = storages.Items
	slices.SortFunc(out.Storages, func(a, b v1alpha1.PgNodeStorage) int { return strings.Compare(a.Spec.NodeName, b.Spec.NodeName) })
	if err := r.cephCluster(ctx, n, out); err != nil {
		return err
	}
	for _, gvk := range made[p.Spec.Type] {
		objects, err := r.objects(ctx, n, gvk, client.MatchingLabels{naming.LabelProfile: p.Name})
		if err != nil {
			return err
		}
		out.Objects = append(out.Objects, objects...)
	}
	return r.classes(ctx, n, out)
}

// cephCluster that the profile names, its own or another's.
func (r Reader) cephCluster(ctx context.Context, n *notes, out *snapshot.Profile) error {
	ceph := out.Profile.Spec.CephRBD
	if ceph == nil {
		return nil
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(rook.CephClusterKind)
	key := client.ObjectKey{Namespace: ceph.Rook.Namespace, Name: ceph.Rook.Cluster}
	found, err := r.get(ctx, n, "CephCluster "+key.String(), key, o)
	if found {
		out.Objects = append(out.Objects, *o)
	}
	return err
}

func (r Reader) classes(ctx context.Context, n *notes, out *snapshot.Profile) error {
	kind, err := catalog.For(out.Profile.Spec.Type)
	if err != nil {
		return nil //nolint:nilerr // a type of a newer version: its conditions are shown, its classes are not known here
	}
	for _, name := range kind.Classes(out.Profile) {
		class := &storagev1.StorageClass{}
		before := len(*n)
		found, err := r.get(ctx, n, fmt.Sprintf("StorageClass %s", name), client.ObjectKey{Name: name}, class)
		switch {
		case err != nil:
			return err
		case found:
			out.Classes = append(out.Classes, *class)
		case len(*n) == before:
			out.Missing = append(out.Missing, name)
		}
	}
	return nil
}
