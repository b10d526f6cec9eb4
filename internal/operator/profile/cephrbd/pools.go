package cephrbd

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

func poolSize(p *v1alpha1.PgStorageProfile) int32 { return ptr.Deref(p.Spec.CephRBD.Pool.Size, 3) }

// minSize is how many copies answer a write: two, so that the loss of one OSD loses
// nothing that was acknowledged. Ceph's own for two copies is one.
func minSize(p *v1alpha1.PgStorageProfile) int32 {
	return ptr.Deref(p.Spec.CephRBD.Pool.MinSize, min(poolSize(p), 2))
}

// addPools in Rook's namespace, and what is said of them. Ceph's own pool comes with the
// CephCluster. Ceph creates it with its default number of copies. Where that is more than
// there are hosts, Ceph is not healthy before the pool is corrected.
func addPools(b *profile.Built, p *v1alpha1.PgStorageProfile, facts observed.Profile) error {
	wanted := pools(p)
	for _, pool := range wanted {
		if err := add(b, plan.StagePool, pool); err != nil {
			return err
		}
	}
	if clusterOf(p) != nil {
		mgr := managerPool(p, facts)
		if err := add(b, plan.StageCephPool, mgr); err != nil {
			return err
		}
		wanted = append(wanted, mgr)
	}
	o := poolsOutcome(p, wanted, facts)
	b.Outcomes = append(b.Outcomes, o)
	hold(b, plan.StageProbe, o)
	if o.Reason == v1alpha1.ReasonCephNotOwned {
		hold(b, plan.StagePool, o)
	}
	if foreign(p, own(facts).Pools, naming.ManagerPool) {
		hold(b, plan.StageCephPool, o)
	}
	return nil
}

// foreign reports whether a CephBlockPool exists and is not the profile's.
func foreign(p *v1alpha1.PgStorageProfile, seen map[string]ObservedPool, name string) bool {
	pool, found := seen[name]
	return found && pool.Owner != string(p.UID)
}

// pools of the profile: those of images and that of erasure coded data.
func pools(p *v1alpha1.PgStorageProfile) []*rook.CephBlockPool {
	out := imagePools(p)
	if d := p.Spec.CephRBD.DataPool; d != nil {
		out = append(out, dataPool(p, d))
	}
	return out
}

func imagePools(p *v1alpha1.PgStorageProfile) []*rook.CephBlockPool {
	hosts := p.Spec.CephRBD.Pool.PinnedHosts
	if len(hosts) == 0 {
		return []*rook.CephBlockPool{imagePool(p, naming.ImagePool(p.Name))}
	}
	var out []*rook.CephBlockPool
	for _, host := range slices.Sorted(slices.Values(hosts)) {
		pool := imagePool(p, naming.PinnedPool(p.Name, host))
		// The host in the CRUSH map is the root of its pool, and copies are apart by OSD
		// within it.
		pool.Spec.CrushRoot, pool.Spec.FailureDomain = naming.CrushName(host), "osd"
		out = append(out, pool)
	}
	return out
}

func imagePool(p *v1alpha1.PgStorageProfile, name string) *rook.CephBlockPool {
	s := p.Spec.CephRBD.Pool
	pool := newPool(p, name)
	pool.Spec.Replicated = replicated(poolSize(p))
	pool.Spec.Parameters = parameters(p, s.Compression)
	pool.Spec.Parameters["min_size"] = strconv.Itoa(int(minSize(p)))
	// Rook ignores 0 in spec.replicated.targetSizeRatio. As a parameter it unsets the ratio.
	pool.Spec.Parameters["target_size_ratio"] = strconv.FormatFloat(float64(ptr.Deref(s.TargetSizePercent, 0))/100, 'f', -1, 64)
	return pool
}

func dataPool(p *v1alpha1.PgStorageProfile, d *v1alpha1.CephDataPool) *rook.CephBlockPool {
	pool := newPool(p, naming.ImageDataPool(p.Name))
	pool.Spec.ErasureCoded = &rook.ErasureCoded{DataChunks: new(ptr.Deref(d.DataChunks, 2)), CodingChunks: new(ptr.Deref(d.CodingChunks, 2))}
	pool.Spec.Parameters = parameters(p, d.Compression)
	return pool
}

func newPool(p *v1alpha1.PgStorageProfile, name string) *rook.CephBlockPool {
	pool := rook.NewCephBlockPool(p.Spec.CephRBD.Rook.Namespace, name, labels(p))
	pool.Spec = rook.PoolSpec{FailureDomain: p.Spec.CephRBD.FailureDomain, DeviceClass: p.Spec.CephRBD.Pool.DeviceClass, EnableStats: new(true)}
	return pool
}

func replicated(size int32) *rook.Replicated {
	return &rook.Replicated{Size: new(size), RequireSafeReplicaSize: new(size > 1)}
}

// defaultAlgorithm is Ceph's default (bluestore_compression_algorithm).
const defaultAlgorithm = "snappy"

// parameters of a pool by ceph osd pool set, also those at Ceph's default. Rook sets what
// is in the list and unsets nothing, so only this sets a field back that the profile no
// longer has.
func parameters(p *v1alpha1.PgStorageProfile, c v1alpha1.CephCompression) map[string]string {
	return map[string]string{
		"compression_mode":      c.Mode,
		"compression_algorithm": cmp.Or(c.Algorithm, defaultAlgorithm),
		"csum_type":             p.Spec.CephRBD.Pool.Checksum,
	}
}

// pendingPool says when a pool is created.
func pendingPool(name string) string {
	if name == naming.ManagerPool {
		return "is created with the CephCluster"
	}
	return "is made once Ceph is ready"
}

func poolsOutcome(p *v1alpha1.PgStorageProfile, wanted []*rook.CephBlockPool, facts observed.Profile) outcome.Outcome {
	const c = v1alpha1.ConditionBlockPoolReady
	var waits, differs []string
	for _, want := range wanted {
		pool, found := own(facts).Pools[want.Name()]
		where := fmt.Sprintf("CephBlockPool %s/%s", p.Spec.CephRBD.Rook.Namespace, want.Name())
		odd := poolDiffers(want.Spec, pool)
		switch {
		case !found:
			waits = append(waits, where+" "+pendingPool(want.Name()))
		case foreign(p, own(facts).Pools, want.Name()):
			return outcome.InvalidBecause(c, v1alpha1.ReasonCephNotOwned, where+" exists and is not this profile's; it is left as it is. Create the profile under another name, or, where nothing needs the pool, delete it")
		case pool.Deleting:
			waits = append(waits, where+" is being deleted")
		case len(odd) > 0:
			differs = append(differs, where+" has "+strings.Join(odd, ", "))
		case pool.Status.Phase != rook.PhaseReady || pool.Status.ObservedGeneration < pool.Generation:
			waits = append(waits, fmt.Sprintf("%s is in phase %q; see kubectl describe", where, pool.Status.Phase))
		}
	}
	switch {
	case len(differs) > 0:
		return outcome.WaitFor(c, v1alpha1.ReasonBlockPoolDiffers, strings.Join(differs, "; ")+". It is written as declared once CephReady is True")
	case len(waits) > 0:
		return outcome.WaitFor(c, v1alpha1.ReasonBlockPoolNotReady, strings.Join(waits, "; "))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonBlockPoolReady, fmt.Sprintf("%d CephBlockPools are ready, with the copies and failure domains that are declared", len(wanted)))
}
