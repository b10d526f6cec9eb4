package cephrbd

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Volumes are images of the profile's own class, for data and WAL alike: both are on
// the same OSDs. Settings for copy-on-write file systems (wal_recycle, wal_init_zero)
// are left at their defaults, because ext4 writes in place.
func (Type) Volumes(p *v1alpha1.PgStorageProfile) profile.Volumes {
	const stall = "a write waits until a lost OSD is noticed (osd_heartbeat_grace, 20 s) and its placement groups find each other: longer than the 5s of CloudNativePG"
	v := profile.Volumes{
		StorageClass: naming.DataClass(p.Name), WALStorageClass: naming.DataClass(p.Name), SnapshotClass: naming.DataClass(p.Name), Medium: postgres.SAN,
		Parameters: map[string]postgres.Recommendation{
			"wal_sender_timeout":   {Value: "60s", Reason: stall},
			"wal_receiver_timeout": {Value: "60s", Reason: stall},
		},
	}
	if p.Spec.CephRBD == nil {
		return v
	}
	v.Parameters["checkpoint_timeout"] = postgres.Recommendation{
		Value:  "15min",
		Reason: fmt.Sprintf("the first change of a page after a checkpoint writes all of it to WAL, which becomes %s", written(p)),
	}
	v.Flush = flush(p)
	return v
}

// written says what Ceph makes of a write.
func written(p *v1alpha1.PgStorageProfile) string {
	if d := p.Spec.CephRBD.DataPool; d != nil {
		return fmt.Sprintf("%d chunks on as many OSDs", ptr.Deref(d.DataChunks, 2)+ptr.Deref(d.CodingChunks, 2))
	}
	return fmt.Sprintf("%d copies on as many OSDs", poolSize(p))
}

// flush of this storage in words, for the statement of durability.
func flush(p *v1alpha1.PgStorageProfile) durability.Flush {
	f := durability.Flush{
		To:   fmt.Sprintf("to the pool, as %s, of which at least %d must be up", written(p), answering(p)),
		Node: "kept in the pool: the instance's volume goes to another node with it",
		Site: durability.Loss{Event: "SiteLoss", AcknowledgedCommits: "Lost", Detail: "every copy is in one Ceph cluster; keep a WAL archive elsewhere"},
		Store: &durability.Loss{
			Event: "StoreLoss", AcknowledgedCommits: "Lost",
			Detail: "every instance's data is in the same pool; keep a WAL archive elsewhere",
		},
	}
	if len(p.Spec.CephRBD.Pool.PinnedHosts) > 0 {
		f.Node = "the instance's only copy is on its node"
		f.Store = nil
	}
	return f
}

// answering is how many copies or chunks must be up for a write to be answered.
func answering(p *v1alpha1.PgStorageProfile) int32 {
	if d := p.Spec.CephRBD.DataPool; d != nil {
		return ptr.Deref(d.DataChunks, 2) + 1
	}
	return minSize(p)
}
