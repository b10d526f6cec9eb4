package cephrbd

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// read the objects of the sources into the profile's own facts.
func read(p *v1alpha1.PgStorageProfile, objects profile.Objects, facts *observed.Profile) error {
	if p.Spec.CephRBD == nil {
		return nil
	}
	f := &Facts{Installed: facts.Has(rookCRDs...), Kernels: map[string]string{}, Drivers: driversOf(p, objects)}
	facts.Own = f
	for i := range objects.Nodes {
		f.Kernels[objects.Nodes[i].Name] = objects.Nodes[i].Status.NodeInfo.KernelVersion
	}
	bound := f.readVolumes(p, objects)
	facts.Instances = placements(p, objects, bound, facts.Clusters)
	if f.Installed {
		if err := f.readRook(p, objects); err != nil {
			return err
		}
		f.OSDs = osds(p, objects)
	}
	if zfsOf(p) == nil {
		return nil
	}
	f.Claims = osdClaims(p, objects, facts.Storages)
	return f.readZvols(objects)
}

func driversOf(p *v1alpha1.PgStorageProfile, objects profile.Objects) []string {
	var out []string
	for _, o := range profile.List[*metav1.PartialObjectMetadata](objects, drivers) {
		if strings.HasSuffix(o.Name, naming.RBDDriverSuffix) || o.Name == naming.RBDDriver(p) {
			out = append(out, o.Name)
		}
	}
	slices.Sort(out)
	return out
}

// readVolumes of the profile's class, by which instances are found on their nodes, and
// those of its OSDs and mons. It returns the claims of the former by volume.
func (f *Facts) readVolumes(p *v1alpha1.PgStorageProfile, objects profile.Objects) map[string]*corev1.ObjectReference {
	bound := map[string]*corev1.ObjectReference{}
	for _, v := range profile.List[*corev1.PersistentVolume](objects, volumes) {
		claim := v.Spec.ClaimRef
		switch v.Spec.StorageClassName {
		case naming.DataClass(p.Name):
			f.Volumes = append(f.Volumes, v.Name)
			bound[v.Name] = claim
		case naming.BlockClass(p.Name):
			if claim != nil && claim.Namespace == p.Spec.CephRBD.Rook.Namespace {
				f.Backing = append(f.Backing, v.Name)
			}
		}
	}
	slices.Sort(f.Volumes)
	slices.Sort(f.Backing)
	return bound
}

// placements of instances: an image is attached to the node that its pod runs on.
func placements(p *v1alpha1.PgStorageProfile, objects profile.Objects, bound map[string]*corev1.ObjectReference, clusters []v1alpha1.PgStorageCluster) []observed.Placement {
	var out []observed.Placement
	for _, o := range profile.List[*storagev1.VolumeAttachment](objects, attachments) {
		a := o.Spec
		if a.Attacher != naming.RBDDriver(p) || a.Source.PersistentVolumeName == nil {
			continue
		}
		claim := bound[*a.Source.PersistentVolumeName]
		if claim == nil {
			continue
		}
		if cluster, instance, found := instanceOf(*claim, clusters); found {
			out = append(out, observed.Placement{Cluster: cluster, Instance: instance, Node: a.NodeName})
		}
	}
	slices.SortFunc(out, func(a, b observed.Placement) int {
		return strings.Compare(a.Cluster+" "+a.Instance+" "+a.Node, b.Cluster+" "+b.Instance+" "+b.Node)
	})
	return out
}

var serial = regexp.MustCompile(`^-[0-9]+$`)

// instanceOf returns the instance that a claim holds the data of. CloudNativePG names the
// claim of a data volume after its instance, <cluster>-<serial>.
func instanceOf(claim corev1.ObjectReference, clusters []v1alpha1.PgStorageCluster) (cluster, instance string, found bool) {
	for i := range clusters {
		rest, ok := strings.CutPrefix(claim.Name, clusters[i].Name)
		if ok && claim.Namespace == clusters[i].Namespace && serial.MatchString(rest) {
			return clusters[i].Namespace + "/" + clusters[i].Name, claim.Name, true
		}
	}
	return "", "", false
}

// readRook reads the CephCluster that the profile names and the pools in its namespace.
func (f *Facts) readRook(p *v1alpha1.PgStorageProfile, objects profile.Objects) error {
	for _, o := range profile.List[*unstructured.Unstructured](objects, rook.CephClusterKind) {
		if o.GetName() != p.Spec.CephRBD.Rook.Cluster {
			continue
		}
		f.Cluster = &ObservedCluster{UID: string(o.GetUID()), Owner: o.GetLabels()[naming.LabelOwnerUID], Generation: o.GetGeneration(), Deleting: o.GetDeletionTimestamp() != nil}
		if err := rook.Read(o.Object, "status", &f.Cluster.Status); err != nil {
			return err
		}
	}
	f.Pools = map[string]ObservedPool{}
	for _, o := range profile.List[*unstructured.Unstructured](objects, rook.CephBlockPoolKind) {
		pool := ObservedPool{Owner: o.GetLabels()[naming.LabelOwnerUID], Generation: o.GetGeneration(), Deleting: o.GetDeletionTimestamp() != nil}
		if err := rook.Read(o.Object, "status", &pool.Status); err != nil {
			return err
		}
		if pool.Owner == string(p.UID) {
			if err := rook.Read(o.Object, "spec", &pool.Spec); err != nil {
				return err
			}
		}
		f.Pools[o.GetName()] = pool
	}
	return nil
}
