package cephrbd

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/layout"
)

// report what was found, and what follows from the layout.
func report(p *v1alpha1.PgStorageProfile, facts observed.Profile) *v1alpha1.ProfileCeph {
	l := cephLayout(p, facts)
	out := &v1alpha1.ProfileCeph{ClusterUID: clusterUID(p, own(facts)), ProbedKey: probedKey(p, facts), Copies: copies(l, facts.Clusters), Layers: layers(p)}
	if c := own(facts).Cluster; c != nil {
		out.Health, out.Checks = c.Status.Ceph.Health, checks(p, c.Status.Ceph)
	}
	if n := len(own(facts).OSDs); n > 0 {
		running := up(own(facts).OSDs)
		out.OSDs, out.OSDsUp, out.OSDHosts = new(int32(n)), new(int32(len(running))), hosts(running) //nolint:gosec // a cluster has no 2^31 OSDs
	}
	if usable, formula := l.Usable(); usable > 0 {
		out.Usable, out.UsableFormula = resource.NewQuantity(usable>>20<<20, resource.BinarySI), formula
	}
	for _, w := range l.Writes() {
		out.WriteAmplification = append(out.WriteAmplification, v1alpha1.LayerAmplification{Layer: w.Name, Factor: layout.Number(w.Factor), Total: layout.Number(w.Total), Formula: w.Formula})
	}
	for _, loss := range l.Losses() {
		out.Losses = append(out.Losses, v1alpha1.CephLoss{Event: loss.Event, Data: loss.Data, Detail: loss.Detail})
	}
	return out
}

// clusterUID of the profile's own CephCluster, once it has an OSD that could hold data;
// until another has one, it stays.
func clusterUID(p *v1alpha1.PgStorageProfile, ceph *Facts) string {
	if c := ceph.Cluster; clusterOf(p) != nil && c != nil && c.Owner == string(p.UID) && len(ceph.OSDs) > 0 {
		return c.UID
	}
	if p.Status.Ceph == nil {
		return ""
	}
	return p.Status.Ceph.ClusterUID
}

// mostCopies is how many databases the schema of the status allows. Users of any
// namespace create them.
const mostCopies = 256

// copies of the databases on the profile, of the first by name where there are more than
// the status can list. Without a database they are those of three instances, so that
// users see them before they pay for them.
func copies(l layout.Ceph, clusters []v1alpha1.PgStorageCluster) []v1alpha1.CephCopies {
	var out []v1alpha1.CephCopies
	for i := range clusters {
		out = append(out, copiesOf(l, clusters[i].Namespace+"/"+clusters[i].Name, ptr.Deref(clusters[i].Spec.Instances, 1)))
	}
	slices.SortFunc(out, func(a, b v1alpha1.CephCopies) int { return cmp.Compare(a.Cluster, b.Cluster) })
	if len(out) == 0 {
		out = append(out, copiesOf(l, "", 3))
	}
	return out[:min(len(out), mostCopies)]
}

func copiesOf(l layout.Ceph, cluster string, instances int32) v1alpha1.CephCopies {
	factor, formula := l.Copies(int(instances))
	return v1alpha1.CephCopies{Cluster: cluster, Instances: instances, RawPerByte: layout.Number(factor), Formula: formula}
}

// cephLayout of the pool that holds the data.
func cephLayout(p *v1alpha1.PgStorageProfile, facts observed.Profile) layout.Ceph {
	r := p.Spec.CephRBD
	out := layout.Ceph{
		Size: int(poolSize(p)), MinSize: int(minSize(p)), Domain: r.FailureDomain,
		Domains: len(domains(p, up(own(facts).OSDs))), OSDs: wantedOSDs(p, own(facts)), OSDBytes: osdBytes(p, own(facts)),
		AllocBytes: 4096, ZFS: zfsLayout(p), Pinned: len(r.Pool.PinnedHosts) > 0,
	}
	if d := r.DataPool; d != nil {
		out.DataChunks, out.CodingChunks = int(ptr.Deref(d.DataChunks, 2)), int(ptr.Deref(d.CodingChunks, 2))
	}
	if c := clusterOf(p); c != nil {
		out.AllocBytes = int(zfsvolumes.Bytes(c.OSDs.MinAllocSize))
	} else {
		out.OSDs = len(own(facts).OSDs)
	}
	return out
}

// osdBytes of each OSD: its claim's size, or what Ceph counts, shared out evenly.
func osdBytes(p *v1alpha1.PgStorageProfile, ceph *Facts) int64 {
	if c := clusterOf(p); c != nil && c.OSDs.Size != nil {
		return c.OSDs.Size.Value()
	}
	if ceph.Cluster == nil || len(ceph.OSDs) == 0 {
		return 0
	}
	return ceph.Cluster.Status.Ceph.Capacity.TotalBytes / int64(len(ceph.OSDs))
}

// zfsLayout below the OSDs; nil where there is none.
func zfsLayout(p *v1alpha1.PgStorageProfile) *layout.ZFS {
	z := zfsOf(p)
	if z == nil {
		return nil
	}
	out := &layout.ZFS{Sector: 4096, Volblock: int(zfsvolumes.Bytes(volblocksize(p))), Indirect: z.Logbias == "throughput"}
	if create := z.Pool.Create; create != nil {
		out.Sector = 1 << ptr.Deref(create.Ashift, 12)
		for _, v := range create.Vdevs {
			out.Vdevs = append(out.Vdevs, layout.Vdev{Type: string(v.Type), Devices: len(v.Devices)})
		}
	}
	return out
}

// failuresOutcome says whether one node has both instances and OSDs. It takes no part
// in Ready: with few nodes there is no other way.
func failuresOutcome(p *v1alpha1.PgStorageProfile, facts observed.Profile) outcome.Outcome {
	const c = v1alpha1.ConditionFailuresIndependent
	instances := map[string][]string{}
	for _, i := range facts.Instances {
		instances[i.Node] = append(instances[i.Node], i.Cluster+" "+i.Instance)
	}
	o := outcome.DoneWith(c, v1alpha1.ReasonIndependent, "no node has both an instance and an OSD")
	if text := cephLayout(p, facts).Shared(instances, hosts(up(own(facts).OSDs))); text != "" {
		o = outcome.WaitFor(c, v1alpha1.ReasonSharedNodes, text)
	}
	o.Informative = true
	return o
}
