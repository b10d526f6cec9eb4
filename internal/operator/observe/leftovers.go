package observe

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Leftovers returns the objects of one kind that a deleted profile still has besides its
// PgNodeStorages, and none where it has none. It asks the API server: a cache may lag, and
// without the profile nothing deletes what it left. Classes that volumes still have stay, and
// do not count.
func (r Readers) Leftovers(ctx context.Context, p *v1alpha1.PgStorageProfile, kind profile.Type, facts observed.Profile) (of string, names []string, err error) {
	if kind.Hooks().Servers != nil {
		if names, err = r.serversLeft(ctx, p, facts.Operator.Namespace); err != nil || len(names) > 0 {
			return "DaemonSet", names, err
		}
	}
	names, err = r.classesLeft(ctx, p, func(class string) bool {
		return !slices.Contains(kind.Classes(p), class) || slices.Contains(facts.ClassesInUse, class)
	})
	return "StorageClass", names, err
}

// StoragesLeft returns the PgNodeStorages of a deleted profile that the API server still has.
// Their agents need the profile's servers.
func (r Readers) StoragesLeft(ctx context.Context, p *v1alpha1.PgStorageProfile, kind profile.Type) (names []string, err error) {
	if !kind.Hooks().Nodes {
		return nil, nil
	}
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

// NodeGone reports whether a Node does not exist. The API server answers for a Node that the
// cache lacks.
func (r Readers) NodeGone(ctx context.Context, name string) (bool, error) {
	node, err := findEither(ctx, r, client.ObjectKey{Name: name}, &corev1.Node{}, &corev1.Node{})
	return err == nil && node == nil, err
}
