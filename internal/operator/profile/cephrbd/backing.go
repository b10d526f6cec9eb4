package cephrbd

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// backingClass of the OSDs' claims; empty where they have none.
func backingClass(p *v1alpha1.PgStorageProfile) string {
	c := clusterOf(p)
	switch {
	case c == nil:
		return ""
	case c.Backing.ZFS != nil:
		return naming.BlockClass(p.Name)
	}
	return c.Backing.StorageClassName
}

// addBacking adds what OSDs are created on: pools, parent datasets and a class of
// zvols, or an existing class. It adds nothing for devices of nodes and for an existing
// cluster.
func addBacking(b *profile.Built, p *v1alpha1.PgStorageProfile, facts observed.Profile) error {
	switch {
	case zfsOf(p) != nil:
		return addZFS(b, p, facts)
	case backingClass(p) != "":
		o := foundClass(backingClass(p), facts)
		b.Outcomes = append(b.Outcomes, o)
		hold(b, plan.StageCeph, o)
	}
	return nil
}

func addZFS(b *profile.Built, p *v1alpha1.PgStorageProfile, facts observed.Profile) error {
	s := storage(p)
	for _, node := range facts.Nodes {
		z := zfsOf(p)
		spec := s.BlockStorage(node.Name, z.DriftPolicy, z.ARCMax).WithPool(s.Known(zfsvolumes.NodePool(pool(z.Pool)), facts, node.Name))
		if err := add(b, plan.StageNodes, s.Object(node.Name, spec)); err != nil {
			return err
		}
	}
	if err := s.CompleteBacking(b, facts, s.Judge(facts)); err != nil {
		return err
	}
	s.OSDMemory = osdMemory(p, facts)
	if o := s.Budget(facts); o != nil {
		b.Outcomes = append(b.Outcomes, *o)
	}
	o := zvolsOutcome(p, facts)
	b.Outcomes = append(b.Outcomes, o)
	hold(b, plan.StagePool, o)
	return nil
}

// pool as the agent takes it.
func pool(p v1alpha1.CephZFSPool) v1alpha1.ZFSPool {
	out := v1alpha1.ZFSPool{Name: p.Name, Autotrim: p.Autotrim, Failmode: p.Failmode, HeadroomPercent: p.HeadroomPercent}
	if p.Create != nil {
		out.Create = &v1alpha1.ZFSPoolCreate{Ashift: p.Create.Ashift, Vdevs: vdevs(p.Create.Vdevs), Logs: vdevs(p.Create.Logs)}
	}
	return out
}

func vdevs(in []v1alpha1.CephZFSVdev) []v1alpha1.ZFSVdev {
	var out []v1alpha1.ZFSVdev
	for _, v := range in {
		out = append(out, v1alpha1.ZFSVdev{Type: v.Type, Devices: v.Devices})
	}
	return out
}

// zvols below the OSDs, and the properties of their parent. They are thick: a thin one
// on a full pool returns errors to its OSD (zfsprops, volsize).
func zvols(p *v1alpha1.PgStorageProfile) *v1alpha1.ZFSBlock {
	z := zfsOf(p)
	return &v1alpha1.ZFSBlock{
		ZFSDatasetProperties: v1alpha1.ZFSDatasetProperties{
			Compression: zvolCompression(p), Logbias: z.Logbias, Primarycache: z.Primarycache,
			Atime: "off", Relatime: "off", Xattr: "sa", Dnodesize: "legacy", RedundantMetadata: "all",
			Checksum: "on", Sync: "standard", SpecialSmallBlocks: "0", Dedup: "off",
		},
		Secondarycache: z.Primarycache,
		Volblocksize:   volblocksize(p),
		Provisioning:   "Thick",
	}
}

// volblocksize of zvols: BlueStore's unit of allocation. A smaller one has ZFS keep
// more about the same data, a larger one has it read what it then changes.
func volblocksize(p *v1alpha1.PgStorageProfile) string {
	if z := zfsOf(p); z.Volblocksize != "" {
		return z.Volblocksize
	}
	return clusterOf(p).OSDs.MinAllocSize
}

// foundClass judges a class that is not the profile's.
func foundClass(name string, facts observed.Profile) outcome.Outcome {
	const c = v1alpha1.ConditionBackingReady
	class := facts.Classes[name]
	switch {
	case class == nil:
		return outcome.WaitFor(c, v1alpha1.ReasonStorageClassNotFound, fmt.Sprintf("spec.cephRBD.cluster.backing.storageClassName: StorageClass %s does not exist; create it, or name one of kubectl get storageclass", name))
	case class.Provisioner == zfsvolumes.Driver && class.Parameters["fstype"] == "zfs":
		return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.cephRBD.cluster.backing.storageClassName: StorageClass %s has fstype: zfs, so zfs-localpv makes datasets of it, which no OSD can use (zfs-localpv issue 538). Name a class without fstype, or use backing.zfs in another profile", name))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonStorageClassFound, fmt.Sprintf("StorageClass %s exists", name))
}

// osdMemory in bytes that OSDs are limited to, by node.
func osdMemory(p *v1alpha1.PgStorageProfile, facts observed.Profile) map[string]int64 {
	limit := memoryLimit(clusterOf(p).OSDs.MemoryTarget)
	out := map[string]int64{}
	for _, osd := range own(facts).OSDs {
		out[osd.Host] += limit.Value()
	}
	return out
}
