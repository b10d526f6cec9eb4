package observe

import (
	"context"
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

var (
	snapshotGVK = snapshotv1.SchemeGroupVersion.WithKind("VolumeSnapshot")
	jobGVK      = batchv1.SchemeGroupVersion.WithKind("Job")
)

// branchOf reads the PgStorageBranch that a database is of. It consents to the snapshots that its
// status has, which only the operator writes. Labels consent to nothing.
func (r Readers) branchOf(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster) error {
	o := cr.Spec.Origin
	if o == nil {
		return nil
	}
	b, err := find(ctx, r.Cache, client.ObjectKeyFromObject(cr), &v1alpha1.PgStorageBranch{})
	if err != nil || b == nil {
		return err
	}
	facts.BranchConsents = snapshotsOf(b, o)
	if facts.BranchConsents || cr.Labels[naming.LabelOwnerUID] == string(b.UID) {
		facts.Branch = b
	}
	return nil
}

// Branch reads the facts about a PgStorageBranch, and its children.
func (r Readers) Branch(ctx context.Context, b *v1alpha1.PgStorageBranch, apis observed.ForeignAPIs) (observed.Branch, plan.Live, error) {
	facts, live := observed.Branch{ForeignAPIs: apis}, plan.Live{}
	for _, read := range []func(context.Context, *v1alpha1.PgStorageBranch, *observed.Branch, plan.Live) error{
		// The source comes after the snapshots, so that a failover after them is seen.
		r.snapshots, r.branchSource, r.branches, r.branchCluster, r.branchVolumes, r.masking,
	} {
		if err := read(ctx, b, &facts, live); err != nil {
			return facts, nil, err
		}
	}
	return facts, live, nil
}

// branchSource reads what is copied, and the storage that it is on.
func (r Readers) branchSource(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch, _ plan.Live) (err error) {
	key := client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.Source.Cluster}
	if facts.Source, err = find(ctx, r.Cache, key, &v1alpha1.PgStorageCluster{}); err != nil || facts.Source == nil {
		return err
	}
	if err := r.sourceCluster(ctx, b, facts); err != nil {
		return err
	}
	if facts.Profile, err = find(ctx, r.Cache, client.ObjectKey{Name: facts.Source.Spec.Profile}, &v1alpha1.PgStorageProfile{}); err != nil || facts.Profile == nil {
		return err
	}
	return r.admission(ctx, b, facts)
}

// admission reads what admits the next step of a branch: its snapshots, or its promotion.
func (r Readers) admission(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch) (err error) {
	if b.Status.Snapshots == nil || b.Spec.Promote {
		if facts.NoRoom, err = r.noRoom(ctx, facts.Profile.Name); err != nil {
			return err
		}
	}
	if b.Status.Snapshots != nil {
		return nil
	}
	if err := r.tight(ctx, facts); err != nil || !facts.VolumeSnapshots {
		return err
	}
	facts.SnapshotDriver, err = snapshotDriver(ctx, r.Live, r.Kinds, facts.Profile)
	return err
}

// sourceCluster reads the CloudNativePG Cluster of the source. An older copy could hide that the
// primary changed between two snapshots.
func (r Readers) sourceCluster(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch) error {
	if !facts.CNPGInstalled {
		return nil
	}
	reader := r.Cache
	if b.Status.Snapshots == nil {
		reader = r.Live
	}
	cluster, err := find(ctx, reader, client.ObjectKeyFromObject(facts.Source), &cnpgv1.Cluster{})
	if err == nil && cluster != nil && cluster.Labels[naming.LabelOwnerUID] == string(facts.Source.UID) {
		facts.SourceCluster = cluster
	}
	return err
}

// snapshotDriver is the CSI driver of a profile's VolumeSnapshotClass; empty where that does not
// exist.
func snapshotDriver(ctx context.Context, live client.Reader, kinds profile.Catalog, p *v1alpha1.PgStorageProfile) (string, error) {
	kind, err := kinds.For(p.Spec.Type)
	if err != nil {
		return "", nil //nolint:nilerr // another version's type takes no snapshots, which the decision reports
	}
	name := kind.Volumes(p).SnapshotClass
	if name == "" {
		return "", nil
	}
	class, err := find(ctx, live, client.ObjectKey{Name: name}, &snapshotv1.VolumeSnapshotClass{})
	if err != nil || class == nil {
		return "", err
	}
	return class.Driver, nil
}

// branches reads the others of the namespace, and the profile of each.
func (r Readers) branches(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch, _ plan.Live) (err error) {
	list := &v1alpha1.PgStorageBranchList{}
	if err := r.Cache.List(ctx, list, client.InNamespace(b.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list PgStorageBranches: %w", err)
	}
	facts.ProfileOf = map[string]string{}
	for i := range list.Items {
		o := &list.Items[i]
		if o.Name == b.Name {
			continue
		}
		facts.Branches = append(facts.Branches, *o)
		if facts.ProfileOf[o.Name], err = r.profileOf(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// profileOf a branch is that of its database, because users can delete the source of a branch,
// and create another one of the same name. A branch without a database has the profile of its
// source. It is empty where neither shows it.
func (r Readers) profileOf(ctx context.Context, b *v1alpha1.PgStorageBranch) (string, error) {
	own, err := find(ctx, r.Cache, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{})
	if err != nil {
		return "", err
	}
	if own != nil && madeFor(b, own) {
		return own.Spec.Profile, nil
	}
	source, err := find(ctx, r.Cache, client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.Source.Cluster}, &v1alpha1.PgStorageCluster{})
	if err != nil || source == nil {
		return "", err
	}
	if b.Status.Cluster != "" && b.CreationTimestamp.Before(&source.CreationTimestamp) {
		return "", nil
	}
	return source.Spec.Profile, nil
}

// snapshots of the branch, wanted or not.
func (r Readers) snapshots(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch, live plan.Live) error {
	facts.Snapshots = map[string]*snapshotv1.VolumeSnapshot{}
	if !facts.VolumeSnapshots {
		return nil
	}
	list := &snapshotv1.VolumeSnapshotList{}
	if err := r.Cache.List(ctx, list, client.InNamespace(b.Namespace), client.MatchingLabels(naming.BranchLabels(b.Name, string(b.UID)))); err != nil {
		return fmt.Errorf("list VolumeSnapshots of %s: %w", b.Name, err)
	}
	for i := range list.Items {
		facts.Snapshots[list.Items[i].Name] = &list.Items[i]
		live[keyOf(snapshotGVK, &list.Items[i])] = &list.Items[i]
	}
	if b.Status.Snapshots != nil {
		return nil
	}
	name := naming.BranchSnapshot(b.Name, string(b.UID))
	if err := r.snapshot(ctx, b, name, facts, live); err != nil {
		return err
	}
	if data := facts.Snapshots[name]; data != nil {
		return r.snapshot(ctx, b, naming.BranchWALSnapshot(name, string(data.UID)), facts, live)
	}
	return nil
}

// snapshot reads one that the cache does not have. The cache may be older than one of ours, and
// has none of others.
func (r Readers) snapshot(ctx context.Context, b *v1alpha1.PgStorageBranch, name string, facts *observed.Branch, live plan.Live) error {
	if facts.Snapshots[name] != nil {
		return nil
	}
	found, err := find(ctx, r.Live, client.ObjectKey{Namespace: b.Namespace, Name: name}, &snapshotv1.VolumeSnapshot{})
	if err != nil || found == nil {
		return err
	}
	if found.Labels[naming.LabelOwnerUID] != string(b.UID) {
		facts.ForeignSnapshot = name
		return nil
	}
	facts.Snapshots[name] = found
	live[keyOf(snapshotGVK, found)] = found
	return nil
}

// branchCluster reads the database of the branch.
func (r Readers) branchCluster(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch, _ plan.Live) error {
	found, err := findEither(ctx, r, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{}, &v1alpha1.PgStorageCluster{})
	if err != nil {
		return err
	}
	if found != nil && madeFor(b, found) {
		facts.Cluster = found
	}
	facts.ForeignCluster = found != nil && facts.Cluster == nil
	return r.branchDatabase(ctx, b, facts)
}

// branchDatabase reads the CloudNativePG Cluster that has the name of the branch. The cache has
// none of other owners, and may still have one that was deleted.
func (r Readers) branchDatabase(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch) (err error) {
	if !facts.CNPGInstalled {
		return nil
	}
	key := client.ObjectKeyFromObject(b)
	var found *cnpgv1.Cluster
	if facts.Cluster == nil {
		found, err = find(ctx, r.Live, key, &cnpgv1.Cluster{})
	} else {
		found, err = findEither(ctx, r, key, &cnpgv1.Cluster{}, &cnpgv1.Cluster{})
	}
	switch {
	case err != nil || found == nil:
		return err
	case facts.Cluster != nil && found.Labels[naming.LabelOwnerUID] == string(facts.Cluster.UID):
		facts.Database = found
	default:
		facts.ForeignDatabase = string(found.UID)
	}
	return nil
}

// madeFor says that a database was made for a branch, and goes with it. Labels are anyone's to
// give, and spec.origin is immutable: no database that was there before can be given to a branch.
func madeFor(b *v1alpha1.PgStorageBranch, cr *v1alpha1.PgStorageCluster) bool {
	o := cr.Spec.Origin
	if o == nil || cr.Labels[naming.LabelBranch] != b.Name || cr.Labels[naming.LabelOwnerUID] != string(b.UID) {
		return false
	}
	if b.Spec.Source.Backup != nil || b.Status.Independent {
		return true
	}
	return snapshotsOf(b, o)
}

// snapshotsOf says that an origin is the snapshots of a branch, as its status has them.
func snapshotsOf(b *v1alpha1.PgStorageBranch, o *v1alpha1.OriginSpec) bool {
	s := b.Status.Snapshots
	// With an ObjectStore, WAL of another database would follow them.
	return s != nil && o.ObjectStore == "" && o.VolumeSnapshots != nil && s.Data == o.VolumeSnapshots.Data && s.WAL == o.VolumeSnapshots.WAL
}
