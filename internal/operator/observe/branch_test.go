package observe

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// A branch that is deleted takes its database with it. Labels of users do not have
// it take another one.
func TestDatabaseOfABranch(t *testing.T) {
	snapshots := &v1alpha1.OriginSpec{VolumeSnapshots: &v1alpha1.OriginVolumeSnapshots{Data: "d", WAL: "w"}}
	for name, tc := range map[string]struct {
		origin *v1alpha1.OriginSpec
		change func(*v1alpha1.PgStorageBranch)
		labels map[string]string
		want   bool
	}{
		"made of its snapshots":   {origin: snapshots, want: true},
		"independent":             {origin: snapshots, change: func(b *v1alpha1.PgStorageBranch) { b.Status = v1alpha1.PgStorageBranchStatus{Independent: true} }, want: true},
		"made of backups":         {origin: &v1alpha1.OriginSpec{ObjectStore: "lake"}, change: func(b *v1alpha1.PgStorageBranch) { b.Spec.Source.Backup = &v1alpha1.BranchBackup{} }, want: true},
		"labelled by a user":      {},
		"made of other snapshots": {origin: &v1alpha1.OriginSpec{VolumeSnapshots: &v1alpha1.OriginVolumeSnapshots{Data: "d"}}},
		"before its snapshots":    {origin: snapshots, change: func(b *v1alpha1.PgStorageBranch) { b.Status.Snapshots = nil }},
		"of an older branch":      {origin: snapshots, labels: naming.BranchLabels("pr-1", "older")},
	} {
		b := &v1alpha1.PgStorageBranch{ObjectMeta: metav1.ObjectMeta{Name: "pr-1", UID: "uid"}}
		b.Status.Snapshots = &v1alpha1.BranchSnapshots{Data: "d", WAL: "w"}
		if tc.change != nil {
			tc.change(b)
		}
		cr := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Name: "pr-1", Labels: naming.BranchLabels("pr-1", "uid")}}
		cr.Spec.Origin = tc.origin
		if tc.labels != nil {
			cr.Labels = tc.labels
		}
		if got := madeFor(b, cr); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
