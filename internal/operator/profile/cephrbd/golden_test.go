package cephrbd

import (
	"strings"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/crdschema"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/zfsnodes"
)

const uid = "11111111-2222-3333-4444-555555555555"

func quantity(s string) *resource.Quantity { return new(resource.MustParse(s)) }

func profileOf(c *v1alpha1.CephRBDProfile, selector map[string]string) *v1alpha1.PgStorageProfile {
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "ceph", UID: uid, Generation: 1},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeCephRBD, NodeSelector: selector, CephRBD: c},
	}
}

// common is what the API server completes of any profile of the type.
func common() *v1alpha1.CephRBDProfile {
	return &v1alpha1.CephRBDProfile{
		Rook:           v1alpha1.RookNames{OperatorNamespace: "rook-ceph", Namespace: "rook-ceph", Cluster: "rook-ceph"},
		FailureDomain:  "host",
		Pool:           v1alpha1.CephPool{Size: new(int32(3)), Checksum: "crc32c", Compression: v1alpha1.CephCompression{Mode: "none"}},
		VolumeClass:    v1alpha1.RBDVolumeClass{FSType: "ext4", Discard: new(true)},
		DeletionPolicy: v1alpha1.DeletionRetain,
	}
}

func clusterOn(backing v1alpha1.CephBacking) *v1alpha1.CephCluster {
	return &v1alpha1.CephCluster{
		Image: "quay.io/ceph/ceph:v20.2.4", Backing: backing, DataDirHostPath: "/var/lib/rook", Dashboard: new(false), Monitoring: new(false),
		Mons: v1alpha1.CephMons{Count: new(int32(3))}, Mgr: v1alpha1.CephMgr{Count: new(int32(2))},
		OSDs: v1alpha1.CephOSDs{
			MemoryTarget: resource.MustParse("4Gi"), CPU: resource.MustParse("1"), DeviceClass: "ssd", MinAllocSize: "4k", Encrypted: new(false),
		},
	}
}

func onZFS(change func(*v1alpha1.CephRBDProfile)) *v1alpha1.PgStorageProfile {
	c := common()
	c.Cluster = clusterOn(v1alpha1.CephBacking{ZFS: &v1alpha1.CephZFSBacking{
		Pool:         v1alpha1.CephZFSPool{Name: "tank", Autotrim: "off", Failmode: "wait", HeadroomPercent: new(int32(20))},
		Primarycache: "metadata", Logbias: "latency", DriftPolicy: v1alpha1.DriftRepair,
	}})
	c.Cluster.OSDs.Count, c.Cluster.OSDs.Size = new(int32(3)), quantity("25Gi")
	if change != nil {
		change(c)
	}
	return profileOf(c, map[string]string{"pgstorage.dev/pool": "tank"})
}

// asWritten is the layout of the write-up, as close as the API allows. It has 3 mons on
// 10Gi, 1 mgr with pg_autoscaler, 3 OSDs of 25Gi with 4Gi and 500m each, and two
// copies.
func asWritten(c *v1alpha1.CephRBDProfile) {
	c.Cluster.Mons.Size = quantity("10Gi")
	c.Cluster.Mgr = v1alpha1.CephMgr{Count: new(int32(1)), Modules: []string{"pg_autoscaler"}}
	c.Cluster.OSDs.CPU = resource.MustParse("500m")
	c.Cluster.Backing.ZFS.Volblocksize = "4k"
	c.Pool.Size, c.Pool.MinSize, c.Pool.AcceptLoss = new(int32(2)), new(int32(1)), new(true)
}

// corrected keeps three copies, of which two answer.
func corrected(c *v1alpha1.CephRBDProfile) {
	asWritten(c)
	c.Cluster.Mgr.Count = new(int32(2))
	c.Cluster.Backing.ZFS.Volblocksize = ""
	c.Pool.Size, c.Pool.MinSize, c.Pool.AcceptLoss = new(int32(3)), nil, nil
}

func onDevices(change func(*v1alpha1.CephRBDProfile)) *v1alpha1.PgStorageProfile {
	c := common()
	c.Cluster = clusterOn(v1alpha1.CephBacking{Devices: []v1alpha1.CephNodeDevices{
		{Node: "n1", Paths: []string{"/dev/disk/by-id/nvme-a"}},
		{Node: "n2", Paths: []string{"/dev/disk/by-id/nvme-b"}},
		{Node: "n3", Paths: []string{"/dev/disk/by-id/nvme-c", "/dev/disk/by-id/nvme-d"}},
	}})
	if change != nil {
		change(c)
	}
	return profileOf(c, nil)
}

func onClass(change func(*v1alpha1.CephRBDProfile)) *v1alpha1.PgStorageProfile {
	c := common()
	c.Cluster = clusterOn(v1alpha1.CephBacking{StorageClassName: "fast-block"})
	c.Cluster.OSDs.Count, c.Cluster.OSDs.Size = new(int32(3)), quantity("100Gi")
	if change != nil {
		change(c)
	}
	return profileOf(c, nil)
}

func external(change func(*v1alpha1.CephRBDProfile)) *v1alpha1.PgStorageProfile {
	c := common()
	c.External = new(true)
	if change != nil {
		change(c)
	}
	return profileOf(c, nil)
}

func erasureCoded(c *v1alpha1.CephRBDProfile) {
	c.Cluster.OSDs.Count = new(int32(4))
	c.DataPool = &v1alpha1.CephDataPool{DataChunks: new(int32(2)), CodingChunks: new(int32(2)), Compression: v1alpha1.CephCompression{Mode: "aggressive", Algorithm: "lz4"}}
}

func pinned(c *v1alpha1.CephRBDProfile) {
	c.Cluster.OSDs.Count = new(int32(2))
	c.Pool.Size, c.Pool.AcceptLoss, c.Pool.PinnedHosts = new(int32(1)), new(true), []string{"n2", "n1.example"}
}

func node(name string) observed.Node {
	n := zfsnodes.Node(name, "tank")
	n.Memory = 64 << 30
	return n
}

func answered(node string) *v1alpha1.PgNodeStorage {
	s := zfsnodes.Answered("ceph", node)
	s.Status.ARC = &v1alpha1.ObservedARC{Max: quantity("8Gi")}
	return s
}

// healthy facts: everything is made and well, on nodes of these names.
func healthy(p *v1alpha1.PgStorageProfile, nodes ...string) observed.Profile {
	f := observed.Profile{
		ForeignAPIs: observed.ForeignAPIs{ZFSLocalPV: true, VolumeSnapshots: true},
		Classes: map[string]*storagev1.StorageClass{
			"ceph-block": {ObjectMeta: metav1.ObjectMeta{Name: "ceph-block", Labels: naming.ProfileLabels("ceph", uid)}},
			"fast-block": {ObjectMeta: metav1.ObjectMeta{Name: "fast-block"}, Provisioner: "disk.csi.example"},
		},
		Reachable: map[string]observed.Reachability{},
		Own: &Facts{
			Installed: true, Drivers: []string{"rook-ceph.rbd.csi.ceph.com"}, Kernels: map[string]string{}, Pools: map[string]ObservedPool{}, Zvols: map[string]Zvol{},
			Cluster: &ObservedCluster{UID: "ceph-uid", Owner: uid, Generation: 2, Status: rook.ClusterStatus{
				Phase: rook.PhaseReady, ObservedGeneration: 2,
				Ceph: rook.CephStatus{Health: rook.HealthOK, Capacity: rook.Capacity{TotalBytes: int64(len(nodes)) * 25 << 30}},
			}},
		},
	}
	for i, n := range nodes {
		if zfsOf(p) != nil {
			f.Nodes, f.Storages = append(f.Nodes, node(n)), append(f.Storages, answered(n))
			own(f).Claims = append(own(f).Claims, osdClaim(p, n))
			own(f).Zvols["pvc-"+n] = Zvol{Type: "ZVOL", Thin: "no", Volblocksize: volblocksize(p)}
		}
		f.Reachable[n] = observed.Reachability{Status: metav1.ConditionTrue}
		own(f).Kernels[n] = "6.1.0-18-amd64"
		own(f).OSDs = append(own(f).OSDs, OSD{ID: i, Host: n, Domain: n, Up: true})
	}
	wanted := pools(p)
	if clusterOf(p) != nil {
		wanted = append(wanted, managerPool(p, f))
	}
	for _, pool := range wanted {
		own(f).Pools[pool.Name()] = ObservedPool{UID: "uid-of-" + pool.Name(), Owner: uid, Generation: 1, Spec: pool.Spec, Status: rook.PoolStatus{Phase: rook.PhaseReady, ObservedGeneration: 1}}
	}
	if clusterOf(p) != nil {
		own(f).Probes = map[string]Probe{probeName(p, f): {Complete: true}}
	}
	return f
}

// probeName is the Job that the plan has for these facts.
func probeName(p *v1alpha1.PgStorageProfile, facts observed.Profile) string {
	return *probeJob(p, facts).Name
}

func osdClaim(p *v1alpha1.PgStorageProfile, node string) observed.Claim {
	return observed.Claim{
		Name: "pgstorage-data-" + node, Volume: "pvc-" + node, Node: node,
		Observed: &v1alpha1.ObservedVolume{Name: "tank/pgblock/pvc-" + node, Type: "Volume", Volblocksize: zfsvolumes.Bytes(volblocksize(p)), Provisioning: "Thick"},
	}
}

// olderRook are the last versions of the older releases that judgeRelease calls tested.
var olderRook = []string{"v1.18.8", "v1.19.6"}

// rookSchemas has the CRDs of each release of Rook that is tested; "" is the newest.
func rookSchemas(t *testing.T) map[string]crdschema.Schemas {
	t.Helper()
	out := map[string]crdschema.Schemas{}
	for _, v := range append([]string{""}, olderRook...) {
		files, err := apiserver.Foreign(apiserver.CRDs{Rook: true, RookVersion: v})
		if err != nil {
			t.Fatal(err)
		}
		out[v] = crdschema.Load(t, files[0])
	}
	return out
}

// Every form of the profile satisfies the CRDs of each release of Rook that is tested.
func TestPlans(t *testing.T) {
	releases := rookSchemas(t)
	for _, tc := range []struct {
		name    string
		profile *v1alpha1.PgStorageProfile
		nodes   []string
		facts   func(*observed.Profile)
	}{
		{name: "as-written", profile: onZFS(asWritten), nodes: []string{"n1", "n2", "n3"}},
		{name: "corrected", profile: onZFS(corrected), nodes: []string{"n1", "n2", "n3"}},
		{name: "external", profile: external(nil), nodes: []string{"n1", "n2", "n3"}},
		{name: "external-of-names", profile: external(func(c *v1alpha1.CephRBDProfile) {
			c.Rook = v1alpha1.RookNames{OperatorNamespace: "rook", Namespace: "ceph-a", Cluster: "a", Driver: "rook.rbd.csi.ceph.com"}
			c.Pool.DeviceClass, c.Pool.TargetSizePercent = "nvme", new(int32(30))
			c.VolumeClass.FSType, c.VolumeClass.ImageFeatures, c.VolumeClass.Discard = "xfs", []string{"layering"}, new(false)
		})},
		{name: "devices", profile: onDevices(func(c *v1alpha1.CephRBDProfile) { c.Cluster.OSDs.Encrypted = new(true) }), nodes: []string{"n1", "n2", "n3", "n3"}},
		{name: "erasure-coded", profile: onZFS(erasureCoded), nodes: []string{"n1", "n2", "n3", "n4"}},
		{name: "storage-class", profile: onClass(func(c *v1alpha1.CephRBDProfile) {
			c.FailureDomain, c.Cluster.OSDs.Spread, c.Cluster.OSDs.Tune = "zone", "Preferred", "Slow"
			c.Cluster.Dashboard, c.Cluster.Monitoring, c.Cluster.OSDs.Encrypted = new(true), new(true), new(true)
			c.Cluster.Mons = v1alpha1.CephMons{Count: new(int32(5)), StorageClassName: "mon-disks"}
		}), nodes: []string{"n1", "n2", "n3"}},
		{name: "pinned-hosts", profile: onZFS(pinned), nodes: []string{"n1.example", "n2"}},
		{name: "pool-is-created", profile: onZFS(func(c *v1alpha1.CephRBDProfile) {
			z := c.Cluster.Backing.ZFS
			z.Pool.Create = &v1alpha1.CephZFSPoolCreate{
				Ashift: new(int32(12)),
				Vdevs:  []v1alpha1.CephZFSVdev{{Type: v1alpha1.VdevMirror, Devices: []v1alpha1.ZFSDevice{{Path: "/dev/disk/by-id/nvme-a"}, {Path: "/dev/disk/by-id/nvme-b"}}}},
				Logs:   []v1alpha1.CephZFSVdev{{Type: v1alpha1.VdevStripe, Devices: []v1alpha1.ZFSDevice{{Path: "/dev/disk/by-id/nvme-log", Wipe: new(true)}}}},
			}
			z.ARCMax, z.Compression, z.Logbias, z.Primarycache, z.DriftPolicy = quantity("8Gi"), "zstd", "throughput", "all", v1alpha1.DriftReport
			c.Cluster.OSDs.MinAllocSize = "16k"
		}), nodes: []string{"n1", "n2", "n3"}},
		{name: "nothing-yet", profile: onZFS(nil), facts: func(f *observed.Profile) {
			f.Classes, f.Own = map[string]*storagev1.StorageClass{}, &Facts{}
			f.ZFSLocalPV = false
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := healthy(tc.profile, tc.nodes...)
			if tc.facts != nil {
				tc.facts(&facts)
			}
			built, err := Type{}.Build(tc.profile, facts)
			if err != nil {
				t.Fatal(err)
			}
			golden.Plan(t, tc.name, &built.Plan)
			for release, schemas := range releases {
				checked := 0
				for _, o := range built.Plan.Objects {
					if schemas.Check(t, o.Content) {
						checked++
					}
				}
				if checked == 0 {
					t.Errorf("Rook %s: no object was checked", release)
				}
			}
			text, err := built.Plan.YAML()
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(text, "cleanupPolicy") {
				t.Error("a cleanup policy is set")
			}
		})
	}
}

// keys of a plan, with what each claims.
func keys(p plan.Plan) map[string]string {
	out := map[string]string{}
	for _, o := range p.Objects {
		out[o.Key().String()] = o.Intent()
	}
	return out
}
