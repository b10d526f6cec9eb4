package status

import (
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// Profile returns the tree of a PgStorageProfile.
func (b Builder) Profile(p snapshot.Profile) Tree {
	const kind = "PgStorageProfile"
	if p.Profile == nil {
		i := missing(kind, "", p.Name, "the PgStorageProfile does not exist; list the existing ones with kubectl get pgsp")
		if len(p.Unread) > 0 {
			i.State, i.Reason, i.Message = view.Unknown, notRead, p.Unread[0].Why
		}
		return i
	}
	i := b.own(kind, p.Profile, p.Profile.Status.ObservedGeneration, p.Profile.Status.Conditions)
	i.Details = append([]string{"type " + string(p.Profile.Spec.Type)}, i.Details...)
	if n := p.Profile.Status.Clusters; n != nil {
		i.Details = append(i.Details, fmt.Sprintf("clusters %d", *n))
	}
	if kind, err := catalog.For(p.Profile.Spec.Type); err == nil && kind.Hooks().Plugin.Summary != nil {
		i.Details = append(i.Details, kind.Hooks().Plugin.Summary(p.Profile)...)
	}
	i.Children = b.storage(p)
	return i
}

// storage returns what a profile provisions: node storages, other objects and classes.
func (b Builder) storage(p snapshot.Profile) []Tree {
	var out []Tree
	for n := range p.Storages {
		out = append(out, b.NodeStorage(&p.Storages[n]))
	}
	for n := range p.Objects {
		out = append(out, foreign(&p.Objects[n]))
	}
	for n := range p.Classes {
		out = append(out, class(&p.Classes[n]))
	}
	for _, name := range p.Missing {
		out = append(out, missing("StorageClass", "", name, "the StorageClass does not exist"))
	}
	return append(out, unread(p.Unread)...)
}

func class(c *storagev1.StorageClass) Tree {
	return Tree{Kind: "StorageClass", Name: c.Name, State: view.Exists, Details: []string{c.Provisioner}}
}

// NodeStorage returns the tree of a PgNodeStorage. While its node is unreachable, the
// status is the last one that the agent wrote, so the state is Unknown.
func (b Builder) NodeStorage(s *v1alpha1.PgNodeStorage) Tree {
	i := b.own("PgNodeStorage", s, s.Status.ObservedGeneration, s.Status.Conditions)
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNodeReachable); c != nil && c.Status != metav1.ConditionTrue && i.State == view.Ready {
		i.State, i.Reason, i.Message, i.Runbook = view.Unknown, c.Reason, c.Message, b.runbook(c.Reason)
	}
	details := []string{"node " + s.Spec.NodeName}
	if p := s.Status.Pool; p != nil {
		pool := fmt.Sprintf("pool %s %s", p.Name, p.Health)
		if p.UsedPercent != nil {
			pool += fmt.Sprintf(" %d%% used", *p.UsedPercent)
		}
		details = append(details, pool)
	}
	if v := s.Status.ZFSVersion; v != nil {
		details = append(details, v.Kernel)
	}
	if n := s.Status.VolumeCount; n != nil {
		details = append(details, fmt.Sprintf("volumes %d", *n))
	}
	i.Details = append(details, i.Details...)
	for _, d := range s.Status.NetworkDevices {
		i.Children = append(i.Children, device(d))
	}
	i.Children = append(i.Children, volumesInMemory(s.Status.Memory)...)
	return i
}

func volumesInMemory(m *v1alpha1.ObservedMemory) []Tree {
	if m == nil {
		return nil
	}
	var out []Tree
	for _, v := range m.Volumes {
		out = append(out, inMemory(v))
	}
	return out
}

// inMemory is a volume in the memory of a node.
func inMemory(v v1alpha1.ObservedMemoryVolume) Tree {
	i := Tree{Kind: "volume", Name: v.Name, State: view.Ready, Details: []string{"in memory"}}
	if v.Used != nil && v.Size != nil {
		i.Details = append(i.Details, fmt.Sprintf("%s of %s used", v.Used, v.Size))
	}
	if v.State == v1alpha1.MemoryVolumeLost {
		i.State, i.Reason = view.Stalled, v1alpha1.ReasonVolumeLost
	}
	return i
}

func device(d v1alpha1.ObservedNetworkDevice) Tree {
	i := Tree{Kind: "device", Name: d.Path, State: view.Waiting, Details: []string{"export " + d.Export + " of " + d.Server}}
	switch d.State {
	case "Attached":
		i.State = view.Ready
	case "Lost":
		i.State, i.Reason = view.Stalled, d.State
	case "Unknown":
		i.State, i.Reason = view.Unknown, d.State
	default:
		i.Reason = d.State
	}
	return i
}
