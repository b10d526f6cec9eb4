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
	volumes, err := r.observedVolumes(ctx, facts.Profile.Name)
	if err != nil {
		return err
	}
	for i := range list.Items {
		if c, ok := claim(facts.Cluster, &list.Items[i], volumes); ok {
			facts.Claims = append(facts.Claims, c)
		}
	}
	slices.SortFunc(facts.Claims, func(a, b state.Claim) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// claim of an instance's data or WAL, with its volume as it was read back.
func claim(cluster *cnpgv1.Cluster, c *corev1.PersistentVolumeClaim, volumes map[string]located) (state.Claim, bool) {
	role := c.Labels[labelPVCRole]
	if role != roleData && role != roleWAL || !current(cluster, c) {
		return state.Claim{}, false
	}
	out := state.Claim{Name: c.Name, Instance: c.Labels[labelInstance], WAL: role == roleWAL, Volume: c.Spec.VolumeName}
	if v, found := volumes[c.Spec.VolumeName]; found {
		out.Node, out.Observed, out.Unreachable = v.node, v.volume, v.unreachable
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
}

// observedVolumes that the agents of a profile's nodes have read back, by the name
// of the PersistentVolume, which is the dataset's own.
func (r Readers) observedVolumes(ctx context.Context, profile string) (map[string]located, error) {
	list := &v1alpha1.PgNodeStorageList{}
	if err := r.Cache.List(ctx, list, client.MatchingLabels{naming.LabelProfile: profile}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list PgNodeStorages of profile %s: %w", profile, err)
	}
	out := map[string]located{}
	for i := range list.Items {
		s := &list.Items[i]
		if !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionPoolReady) {
			continue // what was read before the pool was lost proves nothing now
		}
		for j := range s.Status.Volumes {
			v := s.Status.Volumes[j]
			out[path.Base(v.Name)] = located{node: s.Spec.NodeName, unreachable: unreachable(s), volume: &v}
		}
	}
	return out, nil
}

// unreachable is what a PgNodeStorage says of a node that is not Ready.
func unreachable(s *v1alpha1.PgNodeStorage) string {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNodeReachable)
	if c == nil || c.Status == metav1.ConditionTrue {
		return ""
	}
	return c.Message
}
