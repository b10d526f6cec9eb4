package gather

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
)

// Branch reads a PgStorageBranch, its PgStorageCluster and the other branches of the
// namespace. It returns an error if the PgStorageBranch does not exist.
func (r Reader) Branch(ctx context.Context, key client.ObjectKey) (snapshot.Branch, error) {
	out, n := snapshot.Branch{}, notes{}
	var err error
	if out.Branch, err = r.OneBranch(ctx, key); err != nil {
		return out, err
	}
	if name := out.Branch.Status.Cluster; name != "" {
		cr := &v1alpha1.PgStorageCluster{}
		found, err := r.get(ctx, &n, snapshot.NamedCluster+name, client.ObjectKey{Namespace: key.Namespace, Name: name}, cr)
		if err != nil {
			return out, err
		}
		if found {
			out.Cluster = cr
		}
	}
	out.Branches, err = r.branchesIn(ctx, &n, key.Namespace)
	out.Unread = n
	return out, err
}

// OneBranch reads a PgStorageBranch alone. It returns an error if it does not exist.
func (r Reader) OneBranch(ctx context.Context, key client.ObjectKey) (*v1alpha1.PgStorageBranch, error) {
	out := &v1alpha1.PgStorageBranch{}
	if err := r.Get(ctx, key, out); err != nil {
		return nil, readError(err, "PgStorageBranch", key, "pgbr")
	}
	return out, nil
}

func (r Reader) branches(ctx context.Context, n *notes, out *snapshot.Cluster) (err error) {
	out.Branches, err = r.branchesIn(ctx, n, out.Cluster.Namespace)
	return err
}

func (r Reader) branchesIn(ctx context.Context, n *notes, namespace string) ([]v1alpha1.PgStorageBranch, error) {
	list := &v1alpha1.PgStorageBranchList{}
	err := r.list(ctx, n, "PgStorageBranches in namespace "+namespace, list, client.InNamespace(namespace))
	return list.Items, err
}
