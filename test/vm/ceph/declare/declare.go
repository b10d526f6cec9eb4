//go:build linux

// Package declare renders on the host what the manager would. It renders a node's storage of
// the profile CephRBD, the objects for Rook, and the parameters of a small cluster.
package declare

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
	postgresdeclare "github.com/pgstorage/pgstorage/test/vm/postgres/declare"
)

// node that the guest is, and its kernel as Kubernetes would report it.
const node, kernel = "guest", "6.1.0"

// Stack is what differs between uses.
type Stack struct {
	// Pool, made of one disk with this serial; without a serial it exists.
	Pool, Serial string
	// ARCMax as backing.zfs.arcMax.
	ARCMax string
	// OSDs of OSDSize each, and how many of them have a copy.
	OSDs    int64
	OSDSize string
	Copies  int64
	// MemoryBytes that Postgres may use, and the sizes of its volumes.
	MemoryBytes, DataBytes, WALBytes int64
}

// Job renders the job of a guest. Everything that Stack does not set has the API's default.
func (s Stack) Job(root string) (job.Job, error) {
	p, err := postgresdeclare.Profile(root, s.profile())
	if err != nil {
		return job.Job{}, err
	}
	built, err := cephrbd.Type{}.Build(p, observed.Profile{
		Nodes: []observed.Node{{Name: node, Selected: true}},
		Own:   &cephrbd.Facts{Kernels: map[string]string{node: kernel}},
	})
	if err != nil {
		return job.Job{}, err
	}
	o, err := objectsOf(p, built.Plan.Objects)
	if err != nil {
		return job.Job{}, err
	}
	out, err := o.job()
	if err != nil {
		return out, err
	}
	ours := &out.Sides[0]
	ours.Images.DataBytes, ours.Images.WALBytes = s.DataBytes, s.WALBytes
	ours.Parameters, err = s.parameters(p)
	return out, err
}

func (s Stack) profile() map[string]any {
	pool := map[string]any{"name": s.Pool}
	if s.Serial != "" {
		pool["create"] = map[string]any{"vdevs": []any{map[string]any{"devices": []any{map[string]any{"path": "/dev/disk/by-id/virtio-" + s.Serial}}}}}
	}
	return map[string]any{
		"type": string(v1alpha1.ProfileTypeCephRBD), "nodeSelector": map[string]any{"pool": s.Pool},
		"cephRBD": map[string]any{
			"failureDomain": "osd", "pool": map[string]any{"size": s.Copies},
			"cluster": map[string]any{
				"image":   "quay.io/ceph/ceph:v20.2.4",
				"backing": map[string]any{"zfs": map[string]any{"pool": pool, "arcMax": s.ARCMax}},
				"mons":    map[string]any{"count": int64(1), "size": "1Gi"},
				"mgr":     map[string]any{"count": int64(1)},
				"osds":    map[string]any{"count": s.OSDs, "size": s.OSDSize, "memoryTarget": "2Gi"},
			},
		},
	}
}

func (s Stack) parameters(p *v1alpha1.PgStorageProfile) (map[string]string, error) {
	volumes := cephrbd.Type{}.Volumes(p)
	return postgresdeclare.Parameters(postgres.Inputs{
		Major: 15, Workload: postgres.OLTP, Medium: volumes.Medium, Tier: durability.Local, Instances: 1, CPUs: 2,
		MemoryBytes: s.MemoryBytes, DataBytes: s.DataBytes, WALBytes: s.WALBytes, Profile: volumes.Parameters,
	})
}

// objects that the profile plans.
type objects struct {
	storage       v1alpha1.PgNodeStorage
	block, images storagev1.StorageClass
	cluster       rook.CephCluster
	pool, manager rook.CephBlockPool
}

func objectsOf(p *v1alpha1.PgStorageProfile, planned []plan.Object) (*objects, error) {
	o := &objects{}
	err := errors.Join(
		only(planned, "PgNodeStorage", naming.NodeStorage(p.Name, node), &o.storage),
		only(planned, "StorageClass", naming.BlockClass(p.Name), &o.block),
		only(planned, "StorageClass", naming.DataClass(p.Name), &o.images),
		only(planned, "CephCluster", p.Spec.CephRBD.Rook.Cluster, &o.cluster),
		only(planned, "CephBlockPool", naming.ImagePool(p.Name), &o.pool),
		only(planned, "CephBlockPool", naming.ManagerPool, &o.manager),
	)
	o.storage.Generation = 1
	return o, err
}

// only object of a kind and name.
func only(planned []plan.Object, kind, name string, to any) error {
	for _, object := range planned {
		if object.Content.GetKind() != kind || object.Content.GetName() != name {
			continue
		}
		raw, err := json.Marshal(object.Content.Object)
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, to)
	}
	return fmt.Errorf("the profile plans no %s %s", kind, name)
}

// job has what Rook and the CSI drivers read of the objects.
func (o *objects) job() (job.Job, error) {
	sets, mon := o.cluster.Spec.Storage.DeviceSets, o.cluster.Spec.Mon.VolumeClaimTemplate
	if len(sets) != 1 || len(sets[0].Claims) != 1 || mon == nil {
		return job.Job{}, fmt.Errorf("the profile plans %d sets of OSDs", len(sets))
	}
	claim := sets[0].Claims[0]
	side := job.Side{
		Name: job.Ours,
		Zvols: job.Zvols{
			Parent: o.block.Parameters["poolname"], Volblocksize: zfsvolumes.Bytes(o.block.Parameters["volblocksize"]),
			Thick: o.block.Parameters["thinprovision"] == "no", Count: int(*sets[0].Count),
			Bytes: requested(claim), DeviceClass: claim.Metadata.Annotations["crushDeviceClass"],
		},
		Config: o.cluster.Spec.CephConfig["osd"],
		Pool: job.Pool{
			Name: o.pool.Name(), Copies: *o.pool.Spec.Replicated.Size, FailureDomain: o.pool.Spec.FailureDomain, Parameters: o.pool.Spec.Parameters,
		},
		Images: job.Images{
			Features: strings.Split(o.images.Parameters["imageFeatures"], ","),
			FSType:   o.images.Parameters["csi.storage.k8s.io/fstype"], MountOptions: o.images.MountOptions,
		},
	}
	return job.Job{
		Storage: &o.storage, MonBytes: requested(*mon), ManagerCopies: *o.manager.Spec.Replicated.Size, Sides: []job.Side{side},
	}, nil
}

// requested bytes of a claim.
func requested(c rook.VolumeClaim) int64 {
	storage := (*c.Spec.Resources.Requests)[corev1.ResourceStorage]
	return storage.Value()
}
