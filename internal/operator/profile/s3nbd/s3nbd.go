// Package s3nbd is ZFS on network block devices whose data is in S3 buckets. It has
// ZeroFS servers on each selected node, and a PgNodeStorage from which the node's agent
// attaches their devices and creates the pool. Classes and datasets are those of any
// pool.
package s3nbd

import (
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/nbdserver"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Type is S3NBD.
type Type struct{}

// Name is S3NBD.
func (Type) Name() v1alpha1.ProfileType { return v1alpha1.ProfileTypeS3NBD }

func storage(p *v1alpha1.PgStorageProfile) zfsvolumes.Storage {
	s := zfsvolumes.Storage{Profile: p, Field: "spec.s3NBD"}
	n := p.Spec.S3NBD
	if n == nil {
		return s
	}
	s.Pool, s.Abandoned = n.Pool.Name, n.Pool.AbandonedGUIDs
	s.ServerMemory = int64(len(n.Stores)) * n.ZeroFS.Resources.Memory.Value()
	if n.L2ARC != nil {
		s.Cache = &zfsvolumes.Cache{Device: n.L2ARC.Device.Path, Recordsize: zfsvolumes.Bytes(n.Data.Recordsize)}
	}
	return s
}

// Classes that the profile makes.
func (Type) Classes(p *v1alpha1.PgStorageProfile) []string { return storage(p).ClassNames() }

// Verify holds each volume against the profile; see [zfsvolumes.Storage.Verify].
func (Type) Verify(p *v1alpha1.PgStorageProfile, instances int, claims []observed.Claim) (*outcome.Outcome, postgres.Proof) {
	return storage(p).Verify(instances, claims)
}

// Build the servers, PgNodeStorages and classes, and judge what was seen.
func (Type) Build(p *v1alpha1.PgStorageProfile, facts observed.Profile) (profile.Built, error) {
	var b profile.Built
	servers, err := addServers(&b.Plan, p, facts)
	if err != nil {
		return b, err
	}
	s := storage(p)
	for _, node := range facts.Nodes {
		object, err := plan.FromApply(plan.StageNodes, nodeStorage(s, facts, node.Name))
		if err != nil {
			return b, err
		}
		b.Plan.Add(object)
	}
	nodes := s.Judge(facts)
	b.Outcomes = append(b.Outcomes, serversOutcome(servers, nodes, facts))
	if o, collides := collision(p, facts); collides {
		b.Outcomes[0] = o
		b.Plan.AddGate(plan.StageAccess, o.Reason, o.Message)
	}
	b.Status.FlushLatency, b.Status.EstimatedMonthlyStorage = flushLatency(p, facts), monthlyStorage(facts)
	return b, s.Complete(&b, facts, nodes)
}

// addServers to the plan: a ConfigMap and a DaemonSet for each store.
func addServers(into *plan.Plan, p *v1alpha1.PgStorageProfile, facts observed.Profile) ([]server, error) {
	var out []server
	for _, store := range p.Spec.S3NBD.Stores {
		s := nbdserver.Server{Profile: p, Store: store, Nodes: homes(facts), Operator: facts.Operator}
		config, err := s.ConfigMap()
		if err != nil {
			return nil, err
		}
		set, err := s.DaemonSet()
		if err != nil {
			return nil, err
		}
		for _, object := range []any{config, set} {
			o, err := plan.FromApply(plan.StageServers, object)
			if err != nil {
				return nil, err
			}
			into.Add(o)
		}
		revision, err := s.Revision()
		if err != nil {
			return nil, err
		}
		out = append(out, serversOf(store.Name, revision, s.Nodes, facts)...)
	}
	return out, nil
}

// homes are the nodes that have servers. These are the nodes that the profile selects
// now, and nodes whose agent has not yet released a pool on such a server.
func homes(facts observed.Profile) []string {
	var out []string
	for _, n := range facts.Nodes {
		out = append(out, n.Name)
	}
	for _, s := range facts.Storages {
		out = append(out, s.Spec.NodeName)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// exports of each server: the same names on each, since a server has a prefix of
// its own.
func exports(n *v1alpha1.S3NBDProfile) []string {
	var out []string
	for i := range int(count(n)) {
		out = append(out, naming.Export(n.Pool.Name, i))
	}
	return out
}

func count(n *v1alpha1.S3NBDProfile) int32 {
	if n.Devices.Count == nil {
		return 1
	}
	return *n.Devices.Count
}

func storeNames(p *v1alpha1.PgStorageProfile) []string {
	var out []string
	for _, s := range p.Spec.S3NBD.Stores {
		out = append(out, fmt.Sprintf("%s (bucket %s)", s.Name, s.Bucket))
	}
	return out
}
