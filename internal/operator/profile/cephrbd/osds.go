package cephrbd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Labels of the Deployments and claims of OSDs (Rook, pkg/operator/ceph/cluster/osd).
const (
	labelDeviceSet   = "ceph.rook.io/DeviceSet"
	labelOSD         = "ceph-osd-id"
	labelDeviceClass = "device-class"
	labelLocation    = "topology-location-"
)

// osds by their Deployments, each on the node of its pod. While it has no pod, Rook pins
// one that is not portable to its node by the node's label kubernetes.io/hostname.
func osds(p *v1alpha1.PgStorageProfile, objects profile.Objects) []OSD {
	byHostname := map[string]string{}
	for i := range objects.Nodes {
		if hostname := objects.Nodes[i].Labels[corev1.LabelHostname]; hostname != "" {
			byHostname[hostname] = objects.Nodes[i].Name
		}
	}
	pods := osdPods(objects, p.Spec.CephRBD.Rook.Namespace)
	var out []OSD
	for _, d := range profile.List[*appsv1.Deployment](objects, deployments) {
		if osd, ok := osdOf(d, p.Spec.CephRBD.FailureDomain, byHostname); ok {
			if pod := pods[osd.ID]; pod != nil {
				osd.Host = pod.Spec.NodeName
				if !osd.Up {
					osd.Failure = failure(pod)
				}
			}
			out = append(out, osd)
		}
	}
	slices.SortFunc(out, func(a, b OSD) int { return a.ID - b.ID })
	return out
}

func osdOf(d *appsv1.Deployment, failureDomain string, byHostname map[string]string) (OSD, bool) {
	id, err := strconv.Atoi(d.Labels[labelOSD])
	if err != nil || d.DeletionTimestamp != nil {
		return OSD{}, false
	}
	osd := OSD{
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
// report them.
func osdClaims(p *v1alpha1.PgStorageProfile, objects profile.Objects, answers []*v1alpha1.PgNodeStorage) []observed.Claim {
	storages := make([]v1alpha1.PgNodeStorage, 0, len(answers))
	for _, s := range answers {
		storages = append(storages, *s)
	}
	byName := map[string]*corev1.PersistentVolume{}
	for _, v := range profile.List[*corev1.PersistentVolume](objects, volumes) {
		byName[v.Name] = v
	}
	reports := nodevolumes.Read(p.Name, storages, objects.Nodes)
	var out []observed.Claim
	for _, c := range profile.List[*corev1.PersistentVolumeClaim](objects, claims) {
		if c.DeletionTimestamp != nil || c.Labels[labelDeviceSet] != naming.DeviceSet {
			continue
		}
		claim := observed.Claim{Name: c.Name, Volume: c.Spec.VolumeName}
		reports.Locate(&claim, c, byName[c.Spec.VolumeName])
		claim.Home, claim.Detached = "", ""
		out = append(out, claim)
	}
	slices.SortFunc(out, func(a, b observed.Claim) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// readZvols as zfs-localpv has recorded them. Its objects have the names of the
// PersistentVolumes, and are in its own namespace.
func (f *Facts) readZvols(objects profile.Objects) error {
	wanted := map[string]bool{}
	for _, c := range f.Claims {
		wanted[c.Volume] = true
	}
	f.Zvols = map[string]Zvol{}
	for _, o := range profile.List[*unstructured.Unstructured](objects, recordedZvol) {
		if !wanted[o.GetName()] {
			continue
		}
		spec, _, err := unstructured.NestedStringMap(o.Object, "spec")
		if err != nil {
			return fmt.Errorf("read ZFSVolume %s: %w", o.GetName(), err)
		}
		f.Zvols[o.GetName()] = Zvol{Type: spec["volumeType"], Volblocksize: spec["volblocksize"], Thin: spec["thinProvision"]}
	}
	return nil
}
