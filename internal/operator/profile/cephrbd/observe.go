package cephrbd

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

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
	facts.Instances = placements(objects, bound, facts.Clusters)
	if f.Installed {
		if err := f.readRook(p, objects); err != nil {
			return err
		}
		f.OSDs = osds(p, objects)
		f.readJobs(p.Spec.CephRBD.Rook.Namespace, string(p.UID), objects)
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

// readVolumes of the profile's class, and those of its OSDs and mons. It returns the claims
// of the former.
func (f *Facts) readVolumes(p *v1alpha1.PgStorageProfile, objects profile.Objects) map[types.NamespacedName]bool {
	bound := map[types.NamespacedName]bool{}
	for _, v := range profile.List[*corev1.PersistentVolume](objects, volumes) {
		claim := v.Spec.ClaimRef
		switch v.Spec.StorageClassName {
		case naming.DataClass(p.Name):
			f.Volumes = append(f.Volumes, v.Name)
			if claim != nil {
				bound[types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}] = true
			}
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

// placements of instances: a pod is on its node with the image of its data, however the
// image got there. Not every driver attaches volumes, and nothing attaches static ones.
func placements(objects profile.Objects, bound map[types.NamespacedName]bool, clusters []v1alpha1.PgStorageCluster) []observed.Placement {
	var out []observed.Placement
	for _, pod := range profile.List[*corev1.Pod](objects, pods) {
		if pod.Labels[naming.LabelCNPGCluster] == "" || !runs(pod) {
			continue
		}
		for _, v := range pod.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			claim := types.NamespacedName{Namespace: pod.Namespace, Name: v.PersistentVolumeClaim.ClaimName}
			if cluster, instance, found := instanceOf(claim, clusters); found && bound[claim] {
				out = append(out, observed.Placement{Cluster: cluster, Instance: instance, Node: pod.Spec.NodeName})
			}
		}
	}
	slices.SortFunc(out, func(a, b observed.Placement) int {
		return strings.Compare(a.Cluster+" "+a.Instance+" "+a.Node, b.Cluster+" "+b.Instance+" "+b.Node)
	})
	return slices.Compact(out)
}

var serial = regexp.MustCompile(`^-[0-9]+$`)

// instanceOf returns the instance that a claim holds the data of. CloudNativePG names the
// claim of a data volume after its instance, <cluster>-<serial>.
func instanceOf(claim types.NamespacedName, clusters []v1alpha1.PgStorageCluster) (cluster, instance string, found bool) {
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
		pool := ObservedPool{UID: string(o.GetUID()), Owner: o.GetLabels()[naming.LabelOwnerUID], Generation: o.GetGeneration(), Deleting: o.GetDeletionTimestamp() != nil}
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
