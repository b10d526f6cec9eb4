package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Roles of CloudNativePG's claims (its pkg/utils/labels_annotations.go).
const (
	roleData = "PG_DATA"
	roleWAL  = "PG_WAL"
)

// maxClaims of a Cluster that are read: two of each instance, and as many that dangle.
// Labels are anyone's to give.
const maxClaims = 64

// listClaims lists at most maxClaims claims of CloudNativePG by their labels. Continue is
// set where there are more.
func (r Readers) listClaims(ctx context.Context, namespace string, labels client.MatchingLabels) (*corev1.PersistentVolumeClaimList, error) {
	list := &corev1.PersistentVolumeClaimList{}
	if err := r.Live.List(ctx, list, client.InNamespace(namespace), labels, client.Limit(maxClaims)); err != nil {
		return nil, fmt.Errorf("list claims of %s: %w", labels[naming.LabelCNPGCluster], err)
	}
	return list, nil
}

// claims of a database whose instances are not all ready, or whose profile has its volumes
// read back. They are CloudNativePG's, so they are not in our cache; a pass lists those of
// one cluster.
func (r Readers) claims(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster) error {
	if facts.Cluster == nil || facts.Profile == nil {
		return nil
	}
	onNodes := r.onNodes(facts.Profile)
	if !onNodes && facts.Cluster.Status.ReadyInstances >= facts.Cluster.Spec.Instances {
		return nil
	}
	list, err := r.listClaims(ctx, cr.Namespace, client.MatchingLabels{naming.LabelCNPGCluster: cr.Name})
	if err != nil {
		return err
	}
	facts.PendingClaims = pending(facts.Cluster, list.Items)
	if !onNodes {
		return nil
	}
	return r.claimVolumes(ctx, facts, list)
}

// pending are the names of the claims that have no volume yet.
func pending(cluster *cnpgv1.Cluster, claims []corev1.PersistentVolumeClaim) (names []string) {
	for i := range claims {
		if c := &claims[i]; c.Spec.VolumeName == "" && current(cluster, c) {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

// claimVolumes are those of the claims, as the agents of their nodes have read them back.
func (r Readers) claimVolumes(ctx context.Context, facts *observed.Cluster, list *corev1.PersistentVolumeClaimList) error {
	volumes, err := r.readBack(ctx, facts)
	if err != nil {
		return err
	}
	for i := range list.Items {
		c := &list.Items[i]
		if !current(facts.Cluster, c) {
			continue
		}
		v, err := r.volume(ctx, c)
		if err != nil {
			return err
		}
		facts.Claims = append(facts.Claims, claim(c, v, volumes))
	}
	if list.Continue != "" {
		facts.Claims = append(facts.Claims, observed.Claim{Name: fmt.Sprintf("beyond the first %d", maxClaims), Role: "not listed"})
	}
	slices.SortFunc(facts.Claims, func(a, b observed.Claim) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// onNodes reports whether the operator creates the profile's storage on nodes, whose agents
// read its volumes back.
func (r Readers) onNodes(p *v1alpha1.PgStorageProfile) bool {
	kind, err := r.Kinds.For(p.Spec.Type)
	return err == nil && kind.Hooks().Nodes
}

// readBack lists what the agents of a cluster's profile have read back.
func (r Readers) readBack(ctx context.Context, facts *observed.Cluster) (nodevolumes.ByNode, error) {
	profile := facts.Profile.Name
	storages := &v1alpha1.PgNodeStorageList{}
	if err := r.Cache.List(ctx, storages, client.MatchingLabels{naming.LabelProfile: profile}, client.UnsafeDisableDeepCopy); err != nil {
		return nodevolumes.ByNode{}, fmt.Errorf("list PgNodeStorages of profile %s: %w", profile, err)
	}
	nodes := &corev1.NodeList{}
	if err := r.Cache.List(ctx, nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nodevolumes.ByNode{}, fmt.Errorf("list Nodes: %w", err)
	}
	facts.Devices = nodevolumes.Devices(profile, storages.Items)
	return nodevolumes.Read(profile, storages.Items, nodes.Items), nil
}

// volume of a claim; nil while the claim is not bound, or where it does not exist.
func (r Readers) volume(ctx context.Context, c *corev1.PersistentVolumeClaim) (*corev1.PersistentVolume, error) {
	if c.Spec.VolumeName == "" {
		return nil, nil //nolint:nilnil // an unbound claim has no volume, which is not an error
	}
	return find(ctx, r.Live, client.ObjectKey{Name: c.Spec.VolumeName}, &corev1.PersistentVolume{})
}

// claim of an instance, with its volume as the agent of the volume's own node read it
// back. A role that is not known here stays in the list: what it holds may be data.
func claim(c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume, volumes nodevolumes.ByNode) observed.Claim {
	out := observed.Claim{
		Name: c.Name, Instance: c.Labels[naming.LabelCNPGInstance], WAL: c.Labels[naming.LabelCNPGPVCRole] == roleWAL, Volume: c.Spec.VolumeName,
		Home: c.Annotations[naming.AnnotationSelectedNode],
	}
	switch role := c.Labels[naming.LabelCNPGPVCRole]; role {
	case roleData, roleWAL:
	case "":
		out.Role = "none"
	default:
		out.Role = role
	}
	volumes.Locate(&out, c, v)
	return out
}

// current: the claim belongs to an instance that CloudNativePG counts. It counts the claims
// that the Cluster controls, and makes itself the controller of those that it adopts
// (its pkg/utils/ownership.go). Those that dangle are left to an administrator.
func current(cluster *cnpgv1.Cluster, c *corev1.PersistentVolumeClaim) bool {
	return metav1.IsControlledBy(c, cluster) && c.DeletionTimestamp.IsZero() && !slices.Contains(cluster.Status.DanglingPVC, c.Name)
}
