package cephrbd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// cephOutcome says whether the Ceph cluster can have new volumes. It must exist as
// declared, be healthy enough, and have OSDs on as many failure domains as a block
// needs. Rook accepts a pool that no OSDs can satisfy, and its I/O hangs.
func cephOutcome(p *v1alpha1.PgStorageProfile, facts observed.Profile) outcome.Outcome {
	const c = v1alpha1.ConditionCephReady
	if !own(facts).Installed {
		return outcome.WaitFor(c, v1alpha1.ReasonRookNotInstalled, "Rook is not installed: the CRDs of ceph.rook.io are not there; install its Helm chart (https://rook.io/docs/rook/latest/Helm-Charts/operator-chart/)")
	}
	for _, judge := range []func(*v1alpha1.PgStorageProfile, *Facts) *outcome.Outcome{found, prepareOutcome, progressing, servingOutcome} {
		if o := judge(p, own(facts)); o != nil {
			return *o
		}
	}
	if p.Spec.CephRBD.VolumeClass.FSType == "xfs" && len(own(facts).OSDs) > 0 {
		return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, "spec.cephRBD.volumeClass.fsType: xfs is refused because OSDs of this Ceph run on nodes of this Kubernetes cluster. There a mount on an OSD's node can deadlock (Rook, storageclass.yaml). Create a profile with ext4")
	}
	return readyOutcome(p, own(facts).Cluster.Status.Ceph)
}

// readyOutcome of a Ceph that can have new volumes. It names a failed module that does not
// handle data.
func readyOutcome(p *v1alpha1.PgStorageProfile, status rook.CephStatus) outcome.Outcome {
	const c = v1alpha1.ConditionCephReady
	text := fmt.Sprintf("CephCluster %s is ready: %s", clusterName(p), status.Health)
	if raised, found := status.Details[rook.CheckModuleError]; found {
		return outcome.DoneWith(c, v1alpha1.ReasonCephModuleFailed, text+", because "+moduleText(raised.Message)+". Data does not depend on it, and new volumes are created; see ceph health detail")
	}
	return outcome.DoneWith(c, v1alpha1.ReasonCephReady, text)
}

// servingOutcome is nil where Ceph is healthy enough and has the OSDs that it needs. Too few
// failure domains explain warnings about placement groups, and come before them.
func servingOutcome(p *v1alpha1.PgStorageProfile, ceph *Facts) *outcome.Outcome {
	health, osds := healthOutcome(p, ceph.Cluster.Status.Ceph), osdsOutcome(p, ceph)
	switch {
	case health == nil:
		return osds
	case osds != nil && health.Kind == outcome.Wait && osds.Reason == v1alpha1.ReasonTooFewDomains:
		return osds
	}
	return health
}

func clusterName(p *v1alpha1.PgStorageProfile) string {
	return p.Spec.CephRBD.Rook.Namespace + "/" + p.Spec.CephRBD.Rook.Cluster
}

// found says what keeps the CephCluster itself from being used; nil: nothing.
func found(p *v1alpha1.PgStorageProfile, ceph *Facts) *outcome.Outcome {
	cluster := ceph.Cluster
	if cluster == nil {
		return new(notFound(p))
	}
	const c = v1alpha1.ConditionCephReady
	name := "CephCluster " + clusterName(p)
	var o outcome.Outcome
	switch {
	case clusterOf(p) != nil && cluster.Owner != string(p.UID):
		o = outcome.InvalidBecause(c, v1alpha1.ReasonCephNotOwned, name+" exists and is not this profile's; it is left as it is. To use it, create a profile with spec.cephRBD.external: true; for another, set spec.cephRBD.rook.namespace to a namespace without one")
	case cluster.Deleting:
		o = outcome.WaitFor(c, v1alpha1.ReasonDeleting, name+" is being deleted")
	default:
		return nil
	}
	return &o
}

// progressing says what Rook works on; nil: it is done.
func progressing(p *v1alpha1.PgStorageProfile, ceph *Facts) *outcome.Outcome {
	status := ceph.Cluster.Status
	if status.ObservedGeneration >= ceph.Cluster.Generation && servingPhase(status.Phase, clusterOf(p) == nil) {
		return nil
	}
	return new(outcome.WaitFor(v1alpha1.ConditionCephReady, v1alpha1.ReasonCephProgressing, fmt.Sprintf("CephCluster %s is in phase %q: %s%s", clusterName(p), status.Phase, status.Message, failures(p, ceph.OSDs))))
}

// failures names the OSDs that start and fail, which Rook does not. It is empty if none does.
func failures(p *v1alpha1.PgStorageProfile, osds []OSD) string {
	var failed []string
	first := 0
	for _, o := range osds {
		if o.Failure == "" {
			continue
		}
		if failed == nil {
			first = o.ID
		}
		failed = append(failed, fmt.Sprintf("osd.%d on node %s fails: %s", o.ID, o.Host, o.Failure))
	}
	if failed == nil {
		return ""
	}
	return fmt.Sprintf("; %s; see kubectl -n %s logs -l ceph-osd-id=%d -c osd --previous", firstFailures(failed), p.Spec.CephRBD.Rook.Namespace, first)
}

// notFound says why there is no CephCluster.
func notFound(p *v1alpha1.PgStorageProfile) outcome.Outcome {
	const c = v1alpha1.ConditionCephReady
	name := "CephCluster " + clusterName(p)
	switch {
	case clusterOf(p) == nil:
		return outcome.WaitFor(c, v1alpha1.ReasonCephClusterNotFound, "spec.cephRBD.rook: "+name+" does not exist; correct namespace and cluster, or create it")
	case deletedByHand(p):
		uid := p.Status.Ceph.ClusterUID
		return outcome.InvalidBecause(c, v1alpha1.ReasonCephDeleted, fmt.Sprintf("%s (uid %s) was deleted by hand after it had OSDs, and is not created again automatically, because a new one would be empty. To accept that: kubectl annotate pgsp %s %s=%s", name, uid, p.Name, naming.AnnotationRecreateCeph, uid))
	}
	return outcome.WaitFor(c, v1alpha1.ReasonCephClusterNotFound, name+" is made once what its OSDs run on is ready; the namespace must exist")
}

// deletedByHand: a CephCluster of the profile with OSDs existed before, and no user has
// agreed to another one.
func deletedByHand(p *v1alpha1.PgStorageProfile) bool {
	known := p.Status.Ceph
	return known != nil && known.ClusterUID != "" && p.Annotations[naming.AnnotationRecreateCeph] != known.ClusterUID
}

// servingPhase: Connected is that of a Ceph outside of Kubernetes.
func servingPhase(phase string, external bool) bool {
	return phase == rook.PhaseReady || external && phase == rook.PhaseConnected
}

// osdsOutcome says what OSDs lack; nil: nothing. Those of a Ceph outside of Kubernetes
// are not seen.
func osdsOutcome(p *v1alpha1.PgStorageProfile, ceph *Facts) *outcome.Outcome {
	if clusterOf(p) == nil && len(ceph.OSDs) == 0 {
		return nil
	}
	const c = v1alpha1.ConditionCephReady
	up, want := up(ceph.OSDs), wantedOSDs(p, ceph)
	domains, needed := domains(p, up), cephLayout(p, observed.Profile{Own: ceph}).Needed()
	missing, strange := missingHosts(p, up), otherClass(p, ceph.OSDs)
	var o outcome.Outcome
	switch {
	case len(strange) > 0:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonOSDsDiffer, fmt.Sprintf("spec.cephRBD.cluster.osds.deviceClass is %s, and Rook reports %s; see ceph osd tree", clusterOf(p).OSDs.DeviceClass, strings.Join(strange, ", ")))
	case len(up) < want:
		o = outcome.WaitFor(c, v1alpha1.ReasonOSDsMissing, fmt.Sprintf("%d of %d OSDs run; see kubectl -n %s get pod -l app=rook-ceph-osd, and of those that were never made the jobs rook-ceph-osd-prepare%s", len(up), want, p.Spec.CephRBD.Rook.Namespace, failures(p, ceph.OSDs)))
	case len(domains) < needed:
		o = outcome.WaitFor(c, v1alpha1.ReasonTooFewDomains, fmt.Sprintf("OSDs run on %d failure domains (%s: %s) and a block needs %d. A pool would take no writes; add nodes, or create a profile with fewer copies", len(domains), p.Spec.CephRBD.FailureDomain, some(domains), needed))
	case len(missing) > 0:
		o = outcome.WaitFor(c, v1alpha1.ReasonTooFewDomains, "spec.cephRBD.pool.pinnedHosts: no OSD runs on "+strings.Join(missing, ", "))
	default:
		return nil
	}
	return &o
}

func up(osds []OSD) []OSD {
	var out []OSD
	for _, o := range osds {
		if o.Up {
			out = append(out, o)
		}
	}
	return out
}

// wantedOSDs that the profile declares, or that a cluster of others has.
func wantedOSDs(p *v1alpha1.PgStorageProfile, ceph *Facts) int {
	c := clusterOf(p)
	switch {
	case c == nil:
		return 1
	case c.Backing.Devices == nil:
		return max(int(ptr.Deref(c.OSDs.Count, 1)), len(ceph.OSDs))
	}
	n := 0
	for _, node := range c.Backing.Devices {
		n += len(node.Paths)
	}
	return max(n, len(ceph.OSDs))
}

// domains of the profile's failure domain that have an OSD.
func domains(p *v1alpha1.PgStorageProfile, osds []OSD) []string {
	var out []string
	for _, o := range osds {
		switch p.Spec.CephRBD.FailureDomain {
		case "osd":
			out = append(out, fmt.Sprintf("osd.%d", o.ID))
		case "host":
			out = append(out, o.Host)
		default:
			out = append(out, o.Domain)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func hosts(osds []OSD) []string {
	var out []string
	for _, o := range osds {
		out = append(out, o.Host)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// otherClass are the OSDs whose device class is not as declared, where Rook says it.
func otherClass(p *v1alpha1.PgStorageProfile, osds []OSD) []string {
	c := clusterOf(p)
	if c == nil {
		return nil
	}
	var out []string
	for _, o := range osds {
		if o.DeviceClass != "" && o.DeviceClass != c.OSDs.DeviceClass {
			out = append(out, fmt.Sprintf("%s of osd.%d", o.DeviceClass, o.ID))
		}
	}
	return out
}

// missingHosts are those of pinnedHosts without an OSD that runs.
func missingHosts(p *v1alpha1.PgStorageProfile, osds []OSD) []string {
	var have, out []string
	for _, o := range osds {
		have = append(have, cmp.Or(o.Hostname, o.Host))
	}
	for _, host := range slices.Sorted(slices.Values(p.Spec.CephRBD.Pool.PinnedHosts)) {
		if !slices.Contains(have, host) {
			out = append(out, host)
		}
	}
	return out
}
