package observe

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Labels of the Deployments and claims of OSDs (Rook, pkg/operator/ceph/cluster/osd).
const (
	// OSDSelector selects the Deployments of OSDs, OSDClaimSelector the claims.
	OSDSelector      = "app=rook-ceph-osd"
	OSDClaimSelector = labelDeviceSet

	labelDeviceSet   = "ceph.rook.io/DeviceSet"
	labelOSD         = "ceph-osd-id"
	labelDeviceClass = "device-class"
	labelLocation    = "topology-location-"
)

// ZFSVolumeKind is zfs-localpv's record of a volume, and ZFSVolumeFields what is read
// of its spec.
var (
	ZFSVolumeKind   = schema.GroupVersionKind{Group: "zfs.openebs.io", Version: "v1", Kind: "ZFSVolume"}
	ZFSVolumeFields = []string{"volumeType", "volblocksize", "thinProvision"}
)

// osds by their Deployments. Rook pins one that is not portable to its node by the
// node's label kubernetes.io/hostname.
func (r Readers) osds(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, _ plan.Live) error {
	if !facts.Rook {
		return nil
	}
	list := &appsv1.DeploymentList{}
	if err := r.Ceph.List(ctx, list, client.InNamespace(p.Spec.CephRBD.Rook.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list Deployments of OSDs: %w", err)
	}
	nodes := &corev1.NodeList{}
	if err := r.Cache.List(ctx, nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list Nodes: %w", err)
	}
	byHostname := map[string]string{}
	for i := range nodes.Items {
		if hostname := nodes.Items[i].Labels[corev1.LabelHostname]; hostname != "" {
			byHostname[hostname] = nodes.Items[i].Name
		}
	}
	for i := range list.Items {
		if osd, ok := osdOf(&list.Items[i], p.Spec.CephRBD.FailureDomain, byHostname); ok {
			facts.Ceph.OSDs = append(facts.Ceph.OSDs, osd)
		}
	}
	slices.SortFunc(facts.Ceph.OSDs, func(a, b observed.CephOSD) int { return a.ID - b.ID })
	return nil
}

func osdOf(d *appsv1.Deployment, failureDomain string, byHostname map[string]string) (observed.CephOSD, bool) {
	id, err := strconv.Atoi(d.Labels[labelOSD])
	if err != nil || d.DeletionTimestamp != nil {
		return observed.CephOSD{}, false
	}
	osd := observed.CephOSD{
		ID: id, Hostname: d.Spec.Template.Spec.NodeSelector[corev1.LabelHostname], Domain: d.Labels[labelLocation+failureDomain],
		DeviceClass: d.Labels[labelDeviceClass], Up: d.Status.ReadyReplicas > 0,
	}
	if osd.Hostname == "" {
		osd.Hostname = d.Labels[labelLocation+"host"]
	}
	osd.Host = osd.Hostname
	if node := byHostname[osd.Hostname]; node != "" {
		osd.Host = node
	}
	return osd, true
}

// osdClaims of the profile's own set, with their volumes as the agents of its nodes
// have read them back, and as zfs-localpv has recorded them.
func (r Readers) osdClaims(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, _ plan.Live) error {
	if c := p.Spec.CephRBD.Cluster; c == nil || c.Backing.ZFS == nil {
		return nil
	}
	list := &corev1.PersistentVolumeClaimList{}
	err := r.Ceph.List(ctx, list, client.InNamespace(p.Spec.CephRBD.Rook.Namespace), client.MatchingLabels{labelDeviceSet: naming.DeviceSet}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("list claims of OSDs: %w", err)
	}
	storages := make([]v1alpha1.PgNodeStorage, 0, len(facts.Storages))
	for _, s := range facts.Storages {
		storages = append(storages, *s)
	}
	nodes, volumes, err := r.backing(ctx)
	if err != nil {
		return err
	}
	found := nodevolumes.Read(p.Name, storages, nodes)
	for i := range list.Items {
		c := &list.Items[i]
		if c.DeletionTimestamp != nil {
			continue
		}
		claim := observed.Claim{Name: c.Name, Volume: c.Spec.VolumeName}
		found.Locate(&claim, c, volumes[c.Spec.VolumeName])
		claim.Home, claim.Detached = "", ""
		facts.Ceph.Claims = append(facts.Ceph.Claims, claim)
	}
	slices.SortFunc(facts.Ceph.Claims, func(a, b observed.Claim) int { return strings.Compare(a.Name, b.Name) })
	return r.zvols(ctx, facts)
}

// backing reads the Nodes, and the PersistentVolumes by name.
func (r Readers) backing(ctx context.Context) ([]corev1.Node, map[string]*corev1.PersistentVolume, error) {
	nodes := &corev1.NodeList{}
	if err := r.Cache.List(ctx, nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, fmt.Errorf("list Nodes: %w", err)
	}
	list := &corev1.PersistentVolumeList{}
	if err := r.Ceph.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, fmt.Errorf("list PersistentVolumes: %w", err)
	}
	volumes := map[string]*corev1.PersistentVolume{}
	for i := range list.Items {
		volumes[list.Items[i].Name] = &list.Items[i]
	}
	return nodes.Items, volumes, nil
}

// zvols as zfs-localpv has recorded them. Its objects are called after the
// PersistentVolumes, and live in its namespace, whichever that is.
func (r Readers) zvols(ctx context.Context, facts *observed.Profile) error {
	if !facts.ZFSLocalPV || len(facts.Ceph.Claims) == 0 {
		return nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(ZFSVolumeKind.GroupVersion().WithKind("ZFSVolumeList"))
	if err := r.Ceph.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list ZFSVolumes: %w", err)
	}
	wanted := map[string]bool{}
	for _, c := range facts.Ceph.Claims {
		wanted[c.Volume] = true
	}
	facts.Ceph.Zvols = map[string]observed.Zvol{}
	for i := range list.Items {
		if name := list.Items[i].GetName(); wanted[name] {
			spec, _, err := unstructured.NestedStringMap(list.Items[i].Object, "spec")
			if err != nil {
				return fmt.Errorf("read ZFSVolume %s: %w", name, err)
			}
			facts.Ceph.Zvols[name] = observed.Zvol{Type: spec["volumeType"], Volblocksize: spec["volblocksize"], Thin: spec["thinProvision"]}
		}
	}
	return nil
}
