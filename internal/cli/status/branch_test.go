package status

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/snapshots"
)

func branches(t *testing.T) []v1alpha1.PgStorageBranch {
	t.Helper()
	var out []v1alpha1.PgStorageBranch
	for _, o := range snapshots.Objects(t, "../branch/testdata/branches.yaml") {
		b := v1alpha1.PgStorageBranch{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &b, true); err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func TestBranchesAreBelowTheirSource(t *testing.T) {
	all := branches(t)
	source := snapshot.Cluster{Cluster: snapshots.Cluster(t, "testdata/ready.yaml").Cluster, Profile: snapshot.Profile{Name: "zfs-nvme"}, Branches: all}
	of := func(namespace, name string) *v1alpha1.PgStorageBranch {
		return &all[slices.IndexFunc(all, func(b v1alpha1.PgStorageBranch) bool { return b.Namespace == namespace && b.Name == name })]
	}
	database := source.Cluster.DeepCopy()
	database.Name, database.Status.ReadPools = "pr-123", nil
	for name, tree := range map[string]Tree{
		"source":   builder(t).Cluster(source),
		"database": builder(t).Cluster(snapshot.Cluster{Cluster: database, Profile: source.Profile, Branches: all[:2]}),
		"branch":   builder(t).Branch(snapshot.Branch{Branch: of("prod", "pr-123"), Cluster: database, Branches: all}),
		"lost":     builder(t).Branch(snapshot.Branch{Branch: of("prod", "pr-123-b")}),
		"backup":   builder(t).Branch(snapshot.Branch{Branch: of("test", "pr-123"), Unread: []snapshot.Unread{{What: "something", Why: "forbidden"}}}),
		"cycle":    builder(t).Branch(snapshot.Branch{Branch: of("test", "hen"), Branches: all}),
	} {
		t.Run(name, func(t *testing.T) { golden.Text(t, "testdata/branch-"+name+".golden.txt", tree.Text(view.Style{})) })
	}
}
