package statemetrics

import (
	"context"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

var (
	branchInfo      = branchMetric("info", "Always 1: the source of a PgStorageBranch, and whether it is independent of it.", "source", "independent")
	branchCondition = branchMetric("condition", "Always 1: the current status and reason of a condition of a PgStorageBranch.", "condition", "status", "reason")
	branchSpace     = branchMetric("space_bytes", "Space that the volumes of the branch take beyond what they share with its source, as agents read it back.")
	branchExpires   = branchMetric("expiration_timestamp_seconds", "When the operator deletes the branch.")
	branchGarbage   = prometheus.NewDesc("pgstorage_branch_orphaned_snapshots", "VolumeSnapshots that the operator made and whose PgStorageBranch does not exist any more.", []string{"namespace"}, nil)

	branchMetrics = []*prometheus.Desc{branchInfo, branchCondition, branchSpace, branchExpires, branchGarbage}
)

func branchMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("pgstorage_branch_"+name, help, append([]string{"namespace", "branch"}, labels...), nil)
}

func (s sink) branch(b *v1alpha1.PgStorageBranch) {
	independent := "false"
	if b.Status.Independent {
		independent = "true"
	}
	s.gauge(branchInfo, 1, b.Namespace, b.Name, b.Spec.Source.Cluster, independent)
	s.conditions(branchCondition, b.Status.Conditions, b.Namespace, b.Name)
	if space := b.Status.Space; space != nil {
		s.gauge(branchSpace, space.AsApproximateFloat64(), b.Namespace, b.Name)
	}
	if at := b.Status.ExpirationTime; at != nil {
		s.gauge(branchExpires, float64(at.Unix()), b.Namespace, b.Name)
	}
}

// orphans counts the snapshots of branches that were deleted without their finalizer. There is
// no series before the first branch, because the CRD of VolumeSnapshots may not exist.
func (s sink) orphans(ctx context.Context, reader client.Reader, branches []v1alpha1.PgStorageBranch) {
	if len(branches) == 0 {
		return
	}
	list := &snapshotv1.VolumeSnapshotList{}
	if reader.List(ctx, list, client.HasLabels{naming.LabelBranch}, client.UnsafeDisableDeepCopy) != nil {
		return
	}
	known, garbage := map[string]bool{}, map[string]int{}
	for i := range branches {
		known[string(branches[i].UID)] = true
		garbage[branches[i].Namespace] += 0
	}
	for i := range list.Items {
		if v := &list.Items[i]; !known[v.Labels[naming.LabelOwnerUID]] {
			garbage[v.Namespace]++
		}
	}
	for namespace, n := range garbage {
		s.gauge(branchGarbage, float64(n), namespace)
	}
}
