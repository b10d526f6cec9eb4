package gather

import (
	"context"
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/adoption"
)

// annotationDefaultClass marks the default StorageClass.
const annotationDefaultClass = "storageclass.kubernetes.io/is-default-class"

// Roles of claims, as CloudNativePG labels them.
const (
	roleData = "PG_DATA"
	roleWAL  = "PG_WAL"
)

var cnpgKind = cnpgv1.SchemeGroupVersion.WithKind("Cluster")

// CNPGCluster reads a CloudNativePG Cluster with its StorageClasses and claims. Nothing of
// pgstorage needs to be installed. It returns an error if the Cluster cannot be read.
func (r Reader) CNPGCluster(ctx context.Context, key client.ObjectKey) (snapshot.CNPGCluster, error) {
	out, n := snapshot.CNPGCluster{Cluster: &unstructured.Unstructured{}}, notes{}
	out.Cluster.SetGroupVersionKind(cnpgKind)
	if err := r.Get(ctx, key, out.Cluster); err != nil {
		return out, readError(err, "CloudNativePG Cluster", key, "clusters.postgresql.cnpg.io")
	}
	err := r.storageOf(ctx, &n, &out)
	out.Unread = n
	return out, err
}

// CNPGClusters reads all Clusters of a namespace, as [Reader.CNPGCluster] does.
func (r Reader) CNPGClusters(ctx context.Context, namespace string) ([]snapshot.CNPGCluster, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(cnpgv1.SchemeGroupVersion.WithKind("ClusterList"))
	if err := r.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list CloudNativePG Clusters in namespace %s: %w", namespace, err)
	}
	var out []snapshot.CNPGCluster
	for i := range list.Items {
		n := notes{}
		c := snapshot.CNPGCluster{Cluster: &list.Items[i]}
		if err := r.storageOf(ctx, &n, &c); err != nil {
			return nil, err
		}
		c.Unread = n
		out = append(out, c)
	}
	return out, nil
}

func (r Reader) storageOf(ctx context.Context, n *notes, out *snapshot.CNPGCluster) error {
	namespace := out.Cluster.GetNamespace()
	claims := &corev1.PersistentVolumeClaimList{}
	if err := r.list(ctx, n, "PersistentVolumeClaims in namespace "+namespace, claims, client.InNamespace(namespace), client.MatchingLabels{naming.LabelCNPGCluster: out.Cluster.GetName()}); err != nil {
		return err
	}
	out.Claims = claims.Items
	classes := &storagev1.StorageClassList{}
	if err := r.list(ctx, n, "StorageClasses", classes); err != nil {
		return err
	}
	out.Classes = classes.Items
	out.Known = known(claims.Items, classes.Items)
	return nil
}

// known are the StorageClasses of claims by their role, and the default one.
func known(claims []corev1.PersistentVolumeClaim, classes []storagev1.StorageClass) adoption.Classes {
	var out adoption.Classes
	for i := range claims {
		if class := claims[i].Spec.StorageClassName; class != nil {
			switch claims[i].Labels[naming.LabelCNPGPVCRole] {
			case roleData:
				out.Data = *class
			case roleWAL:
				out.WAL = *class
			}
		}
	}
	for i := range classes {
		if classes[i].Annotations[annotationDefaultClass] == "true" {
			out.Default = classes[i].Name
		}
	}
	return out
}

// Profiles reads the PgStorageProfiles, and PgStorageClusters of a namespace. There are none
// where their kinds are not installed.
func (r Reader) Profiles(ctx context.Context, namespace string) ([]v1alpha1.PgStorageProfile, []v1alpha1.PgStorageCluster, []snapshot.Unread, error) {
	n := notes{}
	profiles, clusters := &v1alpha1.PgStorageProfileList{}, &v1alpha1.PgStorageClusterList{}
	if err := r.list(ctx, &n, "PgStorageProfiles", profiles); err != nil {
		return nil, nil, nil, err
	}
	err := r.list(ctx, &n, "PgStorageClusters in namespace "+namespace, clusters, client.InNamespace(namespace))
	return profiles.Items, clusters.Items, n, err
}
