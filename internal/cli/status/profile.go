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

// Profile is the tree of a PgStorageProfile.
func (b Builder) Profile(p snapshot.Profile) Item {
	const kind = "PgStorageProfile"
	if p.Profile == nil {
		i := missing(kind, "", p.Name, "it does not exist; see kubectl get pgsp for those that do")
		if len(p.Unread) > 0 {
			i.State, i.Reason, i.Message = view.Unknown, "NotRead", p.Unread[0].Why
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
	for n := range p.Storages {
		i.Children = append(i.Children, b.NodeStorage(&p.Storages[n]))
	}
	for n := range p.Objects {
		i.Children = append(i.Children, foreign(&p.Objects[n]))
	}
	for n := range p.Classes {
		i.Children = append(i.Children, class(&p.Classes[n]))
	}
	for _, name := range p.Missing {
		i.Children = append(i.Children, missing("StorageClass", "", name, "it does not exist"))
	}
	i.Children = append(i.Children, unread(p.Unread)...)
	return i
}

func class(c *storagev1.StorageClass) Item {
	return Item{Kind: "StorageClass", Name: c.Name, State: view.Exists, Details: []string{c.Provisioner}}
}

// NodeStorage is the line of a PgNodeStorage. What its agent has read is as old as
// the Node, so a node that is away shows before what the agent said last.
func (b Builder) NodeStorage(s *v1alpha1.PgNodeStorage) Item {
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
	return i
}

func device(d v1alpha1.ObservedNetworkDevice) Item {
	i := Item{Kind: "device", Name: d.Path, State: view.Waits, Details: []string{"export " + d.Export + " of " + d.Server}}
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
