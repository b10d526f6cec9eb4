package observe

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/naming"
	"github.com/pgstorage/pgstorage/internal/seen"
	"github.com/pgstorage/pgstorage/internal/state"
)

// Labels of CloudNativePG's claims (its pkg/utils/labels_annotations.go).
const (
	labelCluster  = "cnpg.io/cluster"
	labelInstance = "cnpg.io/instanceName"
	labelPVCRole  = "cnpg.io/pvcRole"
	roleData      = "PG_DATA"
	roleWAL       = "PG_WAL"
)

// annotationSelectedNode is written by the scheduler when a claim waits for its first
// consumer (k8s.io/component-helpers storage/volume). It stays when a pool is away.
const annotationSelectedNode = "volume.kubernetes.io/selected-node"

// claims of a database whose profile has its volumes read back. They are
// CloudNativePG's, so they are not in our cache; a pass lists those of one cluster.
func (r Readers) claims(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *seen.Cluster) error {
	if facts.Cluster == nil || facts.Profile == nil || facts.Profile.Spec.Type == v1alpha1.ProfileTypeExternal {
		return nil
	}
	list := &corev1.PersistentVolumeClaimList{}
	if err := r.Live.List(ctx, list, client.InNamespace(cr.Namespace), client.MatchingLabels{labelCluster: cr.Name}); err != nil {
		return fmt.Errorf("list claims of %s: %w", cr.Name, err)
	}
	storages := &v1alpha1.PgNodeStorageList{}
	if err := r.Cache.List(ctx, storages, client.MatchingLabels{naming.LabelProfile: facts.Profile.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list PgNodeStorages of profile %s: %w", facts.Profile.Name, err)
	}
	volumes := observedVolumes(storages.Items)
	facts.Devices = devicesByNode(storages.Items)
	for i := range list.Items {
		if c, ok := claim(facts.Cluster, &list.Items[i], volumes); ok {
			facts.Claims = append(facts.Claims, c)
		}
	}
	slices.SortFunc(facts.Claims, func(a, b state.Claim) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// claim of an instance, with its volume as it was read back. A role that is not known
// here stays in the list: what it holds may be data.
func claim(cluster *cnpgv1.Cluster, c *corev1.PersistentVolumeClaim, volumes map[string]located) (state.Claim, bool) {
	if !current(cluster, c) {
		return state.Claim{}, false
	}
	role := c.Labels[labelPVCRole]
	out := state.Claim{Name: c.Name, Instance: c.Labels[labelInstance], WAL: role == roleWAL, Volume: c.Spec.VolumeName}
	switch role {
	case roleData, roleWAL:
	case "":
		out.Role = "none"
	default:
		out.Role = role
	}
	out.Home = c.Annotations[annotationSelectedNode]
	if v, found := volumes[c.Spec.VolumeName]; found {
		out.Node, out.Observed, out.Detached, out.Unreachable = v.node, v.volume, v.detached, v.unreachable
	}
	return out, true
}

// current: the claim belongs to an instance that CloudNativePG counts. Those that
// dangle are left for a person.
func current(cluster *cnpgv1.Cluster, c *corev1.PersistentVolumeClaim) bool {
	return c.DeletionTimestamp.IsZero() && !slices.Contains(cluster.Status.DanglingPVC, c.Name)
}

type located struct {
	node, unreachable string
	volume            *v1alpha1.ObservedVolume
	// detached says which network devices beneath it are not attached.
	detached string
}

// observedVolumes that the agents of a profile's nodes have read back, by the name
// of the PersistentVolume, which is the dataset's own.
func observedVolumes(storages []v1alpha1.PgNodeStorage) map[string]located {
	out := map[string]located{}
	for i := range storages {
		s := &storages[i]
		if !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionPoolReady) {
			continue // what was read before the pool was lost proves nothing now
		}
		for j := range s.Status.Volumes {
			v := s.Status.Volumes[j]
			out[path.Base(v.Name)] = located{node: s.Spec.NodeName, unreachable: unreachable(s), volume: &v, detached: detached(s)}
		}
	}
	return out
}

// unreachable is what a PgNodeStorage says of a node that is not Ready.
func unreachable(s *v1alpha1.PgNodeStorage) string {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNodeReachable)
	if c == nil || c.Status == metav1.ConditionTrue {
		return ""
	}
	return c.Message
}
