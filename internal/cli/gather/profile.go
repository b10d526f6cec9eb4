package gather

import (
	"context"
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// Profile of a name and what is below it.
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
	kind, err := catalog.For(p.Spec.Type)
	if err != nil {
		return nil //nolint:nilerr // a type of a newer version: its conditions are shown, its objects are not known here
	}
	for _, shown := range kind.Hooks().Plugin.Shown {
		if err := r.shown(ctx, n, out, shown); err != nil {
			return err
		}
	}
	return r.classes(ctx, n, kind, out)
}

// shown reads the objects of a kind that the status command lists below a profile.
func (r Reader) shown(ctx context.Context, n *notes, out *snapshot.Profile, shown profile.Shown) error {
	if shown.Named == nil {
		objects, err := r.objects(ctx, n, shown.Kind, client.MatchingLabels{naming.LabelProfile: out.Profile.Name})
		out.Objects = append(out.Objects, objects...)
		return err
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(shown.Kind)
	key := shown.Named(out.Profile)
	found, err := r.get(ctx, n, shown.Kind.Kind+" "+key.String(), key, o)
	if found {
		out.Objects = append(out.Objects, *o)
	}
	return err
}

func (r Reader) classes(ctx context.Context, n *notes, kind profile.Type, out *snapshot.Profile) error {
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
