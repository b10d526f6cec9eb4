package observe

import (
	"context"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// ProfileIndex is the cache index of PgStorageClusters by their profile.
const ProfileIndex = "spec.profile"

// IndexProfile is the index function of ProfileIndex.
func IndexProfile(obj client.Object) []string {
	cluster, ok := obj.(*v1alpha1.PgStorageCluster)
	if !ok {
		return nil
	}
	return []string{cluster.Spec.Profile}
}

// ClustersOf lists the PgStorageClusters that use a profile, as namespace/name.
func ClustersOf(ctx context.Context, r client.Reader, profile string) ([]string, error) {
	list := &v1alpha1.PgStorageClusterList{}
	if err := r.List(ctx, list, client.MatchingFields{ProfileIndex: profile}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list PgStorageClusters of profile %s: %w", profile, err)
	}
	users := make([]string, 0, len(list.Items))
	for i := range list.Items {
		users = append(users, client.ObjectKeyFromObject(&list.Items[i]).String())
	}
	return users, nil
}

// StorageClasses reads the named classes, each once, and lists those that do not
// exist. Empty names are passed over.
func StorageClasses(ctx context.Context, r client.Reader, names ...string) (found []v1alpha1.ObservedStorageClass, missing []string, err error) {
	done := map[string]bool{"": true}
	for _, name := range names {
		if done[name] {
			continue
		}
		done[name] = true
		class, err := find(ctx, r, client.ObjectKey{Name: name}, &storagev1.StorageClass{})
		if err != nil {
			return nil, nil, err
		}
		if class == nil {
			missing = append(missing, name)
			continue
		}
		found = append(found, observedClass(class))
	}
	return found, missing, nil
}

func observedClass(class *storagev1.StorageClass) v1alpha1.ObservedStorageClass {
	out := v1alpha1.ObservedStorageClass{Name: class.Name, Provisioner: class.Provisioner, Expansion: "NotAllowed"}
	if class.ReclaimPolicy != nil {
		out.ReclaimPolicy = string(*class.ReclaimPolicy)
	}
	if class.VolumeBindingMode != nil {
		out.VolumeBindingMode = string(*class.VolumeBindingMode)
	}
	if class.AllowVolumeExpansion != nil && *class.AllowVolumeExpansion {
		out.Expansion = "Allowed"
	}
	return out
}
