package observe

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// CephCluster reads what there is of the Ceph cluster of a profile of type CephRBD into facts
// that Profile has read, all of it from the cache.
func (r Readers) CephCluster(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, live plan.Live) error {
	facts.Ceph.Installed = facts.Rook
	for _, read := range []func(context.Context, *v1alpha1.PgStorageProfile, *observed.Profile, plan.Live) error{
		r.kernels, r.drivers, r.cephVolumes, r.rookObjects, r.osds, r.osdClaims,
	} {
		if err := read(ctx, p, facts, live); err != nil {
			return err
		}
	}
	return nil
}

func (r Readers) kernels(ctx context.Context, _ *v1alpha1.PgStorageProfile, facts *observed.Profile, _ plan.Live) error {
	list := &corev1.NodeList{}
	if err := r.Cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list Nodes: %w", err)
	}
	facts.Ceph.Kernels = map[string]string{}
	for i := range list.Items {
		facts.Ceph.Kernels[list.Items[i].Name] = list.Items[i].Status.NodeInfo.KernelVersion
	}
	return nil
}

func (r Readers) drivers(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, _ plan.Live) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(storagev1.SchemeGroupVersion.WithKind("CSIDriverList"))
	if err := r.Ceph.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list CSIDrivers: %w", err)
	}
	for i := range list.Items {
		if name := list.Items[i].Name; strings.HasSuffix(name, naming.RBDDriverSuffix) || name == naming.RBDDriver(p) {
			facts.Ceph.Drivers = append(facts.Ceph.Drivers, name)
		}
	}
	slices.Sort(facts.Ceph.Drivers)
	return nil
}

// cephVolumes are the PersistentVolumes of the profile's class, by which instances are
// found on their nodes, and those that its OSDs and mons stand on.
func (r Readers) cephVolumes(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, _ plan.Live) error {
	list := &corev1.PersistentVolumeList{}
	if err := r.Ceph.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list PersistentVolumes: %w", err)
	}
	claims := map[string]*corev1.ObjectReference{}
	for i := range list.Items {
		v := &list.Items[i]
		claim := v.Spec.ClaimRef
		switch v.Spec.StorageClassName {
		case naming.DataClass(p.Name):
			facts.Ceph.Volumes = append(facts.Ceph.Volumes, v.Name)
			claims[v.Name] = claim
		case naming.BlockClass(p.Name):
			if claim != nil && claim.Namespace == p.Spec.CephRBD.Rook.Namespace {
				facts.Ceph.Backing = append(facts.Ceph.Backing, v.Name)
			}
		}
	}
	slices.Sort(facts.Ceph.Volumes)
	slices.Sort(facts.Ceph.Backing)
	return r.placements(ctx, p, facts, claims)
}

// placements of instances: an image is attached to the node that its pod runs on.
func (r Readers) placements(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, claims map[string]*corev1.ObjectReference) error {
	list := &storagev1.VolumeAttachmentList{}
	if err := r.Ceph.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list VolumeAttachments: %w", err)
	}
	for i := range list.Items {
		a := list.Items[i].Spec
		if a.Attacher != naming.RBDDriver(p) || a.Source.PersistentVolumeName == nil {
			continue
		}
		claim := claims[*a.Source.PersistentVolumeName]
		if claim == nil {
			continue
		}
		if cluster, instance, found := instanceOf(*claim, facts.Clusters); found {
			facts.Ceph.Instances = append(facts.Ceph.Instances, observed.Placement{Cluster: cluster, Instance: instance, Node: a.NodeName})
		}
	}
	slices.SortFunc(facts.Ceph.Instances, func(a, b observed.Placement) int {
		return strings.Compare(a.Cluster+" "+a.Instance+" "+a.Node, b.Cluster+" "+b.Instance+" "+b.Node)
	})
	return nil
}

var serial = regexp.MustCompile(`^-[0-9]+$`)

// instanceOf the claim of a data volume, which CloudNativePG calls after its instance,
// <cluster>-<serial>.
func instanceOf(claim corev1.ObjectReference, clusters []v1alpha1.PgStorageCluster) (cluster, instance string, found bool) {
	for i := range clusters {
		rest, ok := strings.CutPrefix(claim.Name, clusters[i].Name)
		if ok && claim.Namespace == clusters[i].Namespace && serial.MatchString(rest) {
			return clusters[i].Namespace + "/" + clusters[i].Name, claim.Name, true
		}
	}
	return "", "", false
}

// rookObjects are the CephCluster that the profile names and the pools beside it. Those
// that carry the profile's UID are its own.
func (r Readers) rookObjects(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, live plan.Live) error {
	if !facts.Rook {
		return nil
	}
	names := p.Spec.CephRBD.Rook
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(rook.CephClusterKind)
	cluster, err := find(ctx, r.Ceph, client.ObjectKey{Namespace: names.Namespace, Name: names.Cluster}, cluster)
	if err != nil {
		return err
	}
	if cluster != nil {
		seen := &observed.CephCluster{UID: string(cluster.GetUID()), Owner: cluster.GetLabels()[naming.LabelOwnerUID], Generation: cluster.GetGeneration(), Deleting: cluster.GetDeletionTimestamp() != nil}
		if err := rook.Read(cluster.Object, "status", &seen.Status); err != nil {
			return err
		}
		facts.Ceph.Cluster = seen
		mine(live, p, rook.CephClusterKind, cluster)
	}
	return r.pools(ctx, p, facts, live)
}

func (r Readers) pools(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, live plan.Live) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(rook.CephBlockPoolKind.GroupVersion().WithKind("CephBlockPoolList"))
	if err := r.Ceph.List(ctx, list, client.InNamespace(p.Spec.CephRBD.Rook.Namespace)); err != nil {
		return fmt.Errorf("list CephBlockPools: %w", err)
	}
	facts.Ceph.Pools = map[string]observed.CephPool{}
	for i := range list.Items {
		pool := &list.Items[i]
		seen := observed.CephPool{Owner: pool.GetLabels()[naming.LabelOwnerUID], Generation: pool.GetGeneration(), Deleting: pool.GetDeletionTimestamp() != nil}
		if err := rook.Read(pool.Object, "status", &seen.Status); err != nil {
			return err
		}
		if seen.Owner == string(p.UID) {
			if err := rook.Read(pool.Object, "spec", &seen.Spec); err != nil {
				return err
			}
		}
		facts.Ceph.Pools[pool.GetName()] = seen
		mine(live, p, rook.CephBlockPoolKind, pool)
	}
	return nil
}

// mine notes an object that the profile has made.
func mine(live plan.Live, p *v1alpha1.PgStorageProfile, kind schema.GroupVersionKind, o *unstructured.Unstructured) {
	if o.GetLabels()[naming.LabelOwnerUID] == string(p.UID) {
		live[keyOf(kind, o)] = o
	}
}
