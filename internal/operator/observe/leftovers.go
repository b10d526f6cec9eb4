package observe

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Leftovers returns the objects of one kind that a deleted profile still has, and none where
// it has none. It asks the API server: a cache may lag, and without the profile nothing
// deletes what it left. Classes that volumes still have stay, and do not count.
func (r Readers) Leftovers(ctx context.Context, p *v1alpha1.PgStorageProfile, kind profile.Type, facts observed.Profile) (of string, names []string, err error) {
	hooks := kind.Hooks()
	if hooks.Nodes {
		if names, err = r.storagesLeft(ctx, p); err != nil || len(names) > 0 {
			return "PgNodeStorage", names, err
		}
	}
	if hooks.Servers != nil {
		if names, err = r.serversLeft(ctx, p, facts.Operator.Namespace); err != nil || len(names) > 0 {
			return "DaemonSet", names, err
		}
	}
	names, err = r.classesLeft(ctx, p, func(class string) bool {
		return !slices.Contains(kind.Classes(p), class) || slices.Contains(facts.ClassesInUse, class)
	})
	return "StorageClass", names, err
}

func (r Readers) storagesLeft(ctx context.Context, p *v1alpha1.PgStorageProfile) (names []string, err error) {
	list := &v1alpha1.PgNodeStorageList{}
	if err := r.Live.List(ctx, list, client.MatchingLabels{naming.LabelProfile: p.Name}); err != nil {
		return nil, fmt.Errorf("list PgNodeStorages of profile %s: %w", p.Name, err)
	}
	for i := range list.Items {
		if s := &list.Items[i]; nodevolumes.Genuine(p.Name, s) {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

func (r Readers) serversLeft(ctx context.Context, p *v1alpha1.PgStorageProfile, namespace string) (names []string, err error) {
	list := &appsv1.DaemonSetList{}
	if err := r.Live.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels(naming.ProfileLabels(p.Name, string(p.UID)))); err != nil {
		return nil, fmt.Errorf("list DaemonSets of profile %s: %w", p.Name, err)
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}

func (r Readers) classesLeft(ctx context.Context, p *v1alpha1.PgStorageProfile, stays func(name string) bool) (names []string, err error) {
	list := &storagev1.StorageClassList{}
	if err := r.Live.List(ctx, list, client.MatchingLabels(naming.ProfileLabels(p.Name, string(p.UID)))); err != nil {
		return nil, fmt.Errorf("list StorageClasses of profile %s: %w", p.Name, err)
	}
	for i := range list.Items {
		if name := list.Items[i].Name; !stays(name) {
			names = append(names, name)
		}
	}
	return names, nil
}
