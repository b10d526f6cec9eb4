package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// simulatedBranches is a CloudNativePG, a snapshot controller and a CSI driver for a namespace
// with a database shop and its branches. It has no Postgres.
type simulatedBranches struct {
	simulatedSnapshotter
	source *v1alpha1.PgStorageCluster
	// keepVolumes: the driver does not delete volumes yet.
	keepVolumes bool
	// stopped: CloudNativePG does nothing.
	stopped bool
	// node is the node of zfs-localpv with all volumes; empty for another driver.
	node string
}

// branchable is a database of a namespace of its own. Its WAL has a volume, and it admits branches.
func branchable(t *testing.T, c client.Client, name string, changes ...func(*v1alpha1.PgStorageProfile, *v1alpha1.PgStorageCluster)) *simulatedBranches {
	t.Helper()
	p := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: name, VolumeSnapshotClassName: name},
		},
	}
	cr := cluster(namespace(t, c), "shop", name)
	cr.Spec.Storage.WALSize = new(resource.MustParse("1Gi"))
	cr.Spec.BranchPolicy = v1alpha1.BranchAny
	for _, change := range changes {
		change(p, cr)
	}
	create(t, c, storageClass(name), p, cr, &snapshotv1.VolumeSnapshotClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Driver: "example.com/none", DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
	})
	return simulatedSource(t, c, cr)
}

// simulatedSource is a database that runs, and admits branches.
func simulatedSource(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster) *simulatedBranches {
	t.Helper()
	s := &simulatedBranches{simulatedSnapshotter: simulatedSnapshotter{t: t, c: c, ns: cr.Namespace}, source: cr}
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	s.failsOver(t, "shop-1")
	return s
}

// branchableOnZFS is a database on the only node of a profile of type ZFSLocalPV. Node and profile
// have the same name.
func branchableOnZFS(t *testing.T, c client.Client, name string) *simulatedBranches {
	t.Helper()
	p := zfsProfile(name, nil)
	create(t, c, p)
	simulatedZFSDriver(t, c, simulatedNode(t, c, name, map[string]string{"test": name}), "tank")
	simulatedAgent(t, c, name, name, agentReady())
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	cr := cluster(namespace(t, c), "shop", name)
	cr.Spec.BranchPolicy = v1alpha1.BranchAny
	create(t, c, cr)
	s := simulatedSource(t, c, cr)
	s.node = name
	return s
}

// failsOver makes another instance the primary, or the same one again.
func (s *simulatedBranches) failsOver(t *testing.T, primary string) {
	t.Helper()
	simulatedStatus(t, s.c, client.ObjectKeyFromObject(s.source), func(c *cnpgv1.ClusterStatus) {
		c.CurrentPrimary, c.TargetPrimary, c.CurrentPrimaryTimestamp = primary, primary, time.Now().UTC().Format(metav1.RFC3339Micro)
	})
}

// branch of the database, which is created.
func (s *simulatedBranches) branch(t *testing.T, name string, changes ...func(*v1alpha1.PgStorageBranchSpec)) *v1alpha1.PgStorageBranch {
	t.Helper()
	b := &v1alpha1.PgStorageBranch{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name},
		Spec:       v1alpha1.PgStorageBranchSpec{Source: v1alpha1.BranchSource{Cluster: s.source.Name}},
	}
	for _, change := range changes {
		change(&b.Spec)
	}
	create(t, s.c, b)
	return b
}

// advance does what is next of all branches.
func (s *simulatedBranches) advance(ctx context.Context) error {
	err := s.all(ctx)
	if !s.stopped {
		err = errors.Join(err, s.databases(ctx), s.claims(ctx))
	}
	return passing(errors.Join(err, s.volumes(ctx)))
}

// databases of the branches: instances start, roles change, and an instance too many goes.
func (s *simulatedBranches) databases(ctx context.Context) error {
	list := &cnpgv1.ClusterList{}
	err := s.c.List(ctx, list, client.InNamespace(s.ns))
	for i := range list.Items {
		if pg := &list.Items[i]; pg.Name != s.source.Name && pg.DeletionTimestamp == nil {
			err = errors.Join(err, s.database(ctx, pg))
		}
	}
	return passing(err)
}

func (s *simulatedBranches) database(ctx context.Context, pg *cnpgv1.Cluster) error {
	names, err := s.instances(ctx, pg)
	if err != nil {
		return err
	}
	before := pg.DeepCopy()
	status := &pg.Status
	switch {
	case len(names) < pg.Spec.Instances:
		return s.instance(ctx, pg, fmt.Sprintf("%s-%d", pg.Name, len(names)+1))
	case len(names) > pg.Spec.Instances:
		other := slices.DeleteFunc(names, func(n string) bool { return n == status.CurrentPrimary })[0]
		return errors.Join(s.removeClaim(ctx, other), s.removeClaim(ctx, naming.WALClaim(other)))
	case status.CurrentPrimary == "":
		status.CurrentPrimary, status.TargetPrimary = names[0], names[0]
	case status.TargetPrimary != status.CurrentPrimary:
		status.CurrentPrimary = status.TargetPrimary
	}
	status.Phase, status.PhaseReason = cnpgv1.PhaseHealthy, ""
	status.Instances, status.ReadyInstances, status.Image = len(names), len(names), pg.Spec.ImageName
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: string(cnpgv1.ConditionClusterReady), Status: metav1.ConditionTrue, Reason: "ClusterIsReady", Message: "simulated"})
	return s.c.Status().Patch(ctx, pg, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func (s *simulatedBranches) claimsOf(ctx context.Context, database string) ([]corev1.PersistentVolumeClaim, error) {
	list := &corev1.PersistentVolumeClaimList{}
	err := s.c.List(ctx, list, client.InNamespace(s.ns), client.MatchingLabels{naming.LabelCNPGCluster: database})
	return list.Items, err
}

func (s *simulatedBranches) instances(ctx context.Context, pg *cnpgv1.Cluster) ([]string, error) {
	claims, err := s.claimsOf(ctx, pg.Name)
	var names []string
	for i := range claims {
		names = append(names, claims[i].Labels[naming.LabelCNPGInstance])
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// instance with its claims and volumes. The first one is made of the snapshots.
func (s *simulatedBranches) instance(ctx context.Context, pg *cnpgv1.Cluster, name string) error {
	sources := map[string]*corev1.TypedLocalObjectReference{name: nil}
	if pg.Spec.WalStorage != nil {
		sources[naming.WALClaim(name)] = nil
	}
	if b := pg.Spec.Bootstrap; name == pg.Name+"-1" && b != nil && b.Recovery != nil && b.Recovery.VolumeSnapshots != nil {
		sources[name] = &b.Recovery.VolumeSnapshots.Storage
		if wal := b.Recovery.VolumeSnapshots.WalStorage; wal != nil {
			sources[naming.WALClaim(name)] = wal
		}
	}
	for claim, from := range sources {
		if err := passing(s.claim(ctx, pg, name, claim, from)); err != nil {
			return err
		}
	}
	return nil
}

func (s *simulatedBranches) claim(ctx context.Context, pg *cnpgv1.Cluster, instance, name string, from *corev1.TypedLocalObjectReference) error {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name, Labels: map[string]string{
			naming.LabelCNPGCluster: pg.Name, naming.LabelCNPGInstance: instance, naming.LabelCNPGPVCRole: "PG_DATA",
		}, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(pg, cnpgv1.SchemeGroupVersion.WithKind(cnpgv1.ClusterKind))}},
		Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName: s.volume(name), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, DataSource: from,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	if name != instance {
		claim.Labels[naming.LabelCNPGPVCRole] = "PG_WAL"
	}
	pv := simulatedPV(claim.Spec.VolumeName, s.source.Spec.Profile, "example.com", claim)
	if s.node != "" {
		pv.Spec.CSI.Driver, pv.Spec.NodeAffinity = "zfs.csi.openebs.io", onNode(s.node)
	}
	pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	if from != nil {
		if err := s.c.Get(ctx, client.ObjectKey{Namespace: s.ns, Name: from.Name}, &snapshotv1.VolumeSnapshot{}); err != nil {
			return fmt.Errorf("claim %s: %w", name, err)
		}
		pv.Annotations = map[string]string{madeOf: s.ns + "/" + from.Name}
	}
	return errors.Join(s.c.Create(ctx, pv), s.c.Create(ctx, claim))
}

func (s *simulatedBranches) volume(claim string) string { return "pvc-" + s.ns + "-" + claim }

// claims of deleted databases go, as garbage collection has it.
func (s *simulatedBranches) claims(ctx context.Context) error {
	list := &corev1.PersistentVolumeClaimList{}
	if err := s.c.List(ctx, list, client.InNamespace(s.ns)); err != nil {
		return err
	}
	var failed error
	for i := range list.Items {
		claim := &list.Items[i]
		err := s.c.Get(ctx, client.ObjectKey{Namespace: s.ns, Name: claim.Labels[naming.LabelCNPGCluster]}, &cnpgv1.Cluster{})
		if err != nil && client.IgnoreNotFound(err) == nil {
			failed = errors.Join(failed, s.removeClaim(ctx, claim.Name))
		}
	}
	return failed
}

func (s *simulatedBranches) removeClaim(ctx context.Context, name string) error {
	return removed(ctx, s.c, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name}})
}

// volumes without their claims go, unless the driver keeps them.
func (s *simulatedBranches) volumes(ctx context.Context) error {
	list := &corev1.PersistentVolumeList{}
	if err := s.c.List(ctx, list); err != nil || s.keepVolumes {
		return err
	}
	var failed error
	for i := range list.Items {
		v := &list.Items[i]
		claim, mine := strings.CutPrefix(v.Name, s.volume(""))
		if !mine {
			continue
		}
		err := s.c.Get(ctx, client.ObjectKey{Namespace: s.ns, Name: claim}, &corev1.PersistentVolumeClaim{})
		if err != nil && client.IgnoreNotFound(err) == nil {
			failed = errors.Join(failed, removed(ctx, s.c, v))
		}
	}
	return failed
}

// removed object, without the controllers that take its finalizers.
func removed(ctx context.Context, c client.Client, o client.Object) error {
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return passing(err)
	}
	if len(o.GetFinalizers()) > 0 {
		o.SetFinalizers(nil)
		if err := c.Update(ctx, o); err != nil {
			return passing(err)
		}
	}
	return passing(c.Delete(ctx, o))
}

// until a branch has a condition with a reason.
func (s *simulatedBranches) until(t *testing.T, b *v1alpha1.PgStorageBranch, kind, reason string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s (%s) of %s", kind, reason, b.Name), func(ctx context.Context) error {
		return errors.Join(s.advance(ctx), s.says(ctx, b, kind, reason))
	})
}

// says reads a branch, and says what its condition is instead.
func (s *simulatedBranches) says(ctx context.Context, b *v1alpha1.PgStorageBranch, kind, reason string) error {
	if err := s.c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
		return err
	}
	if got := meta.FindStatusCondition(b.Status.Conditions, kind); got == nil || got.Reason != reason || got.ObservedGeneration != b.Generation {
		return fmt.Errorf("%s: %+v", b.Name, b.Status.Conditions)
	}
	return nil
}

// ready waits until a branch is.
func (s *simulatedBranches) ready(t *testing.T, b *v1alpha1.PgStorageBranch) {
	t.Helper()
	s.until(t, b, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
}

// taken waits until these are the claims that VolumeSnapshots are of.
func (s *simulatedBranches) taken(t *testing.T, claims ...string) []snapshotv1.VolumeSnapshot {
	t.Helper()
	var list []snapshotv1.VolumeSnapshot
	eventually(t, fmt.Sprintf("VolumeSnapshots of %v", claims), func(ctx context.Context) (err error) {
		if list, err = s.list(ctx); err != nil {
			return err
		}
		slices.SortFunc(list, func(a, b snapshotv1.VolumeSnapshot) int { return len(a.Name) - len(b.Name) })
		var have []string
		for i := range list {
			have = append(have, *list[i].Spec.Source.PersistentVolumeClaimName)
		}
		if !slices.Equal(have, claims) {
			return fmt.Errorf("%v", have)
		}
		return nil
	})
	return list
}

// deleted waits until nothing of a branch is left.
func (s *simulatedBranches) deleted(t *testing.T, b *v1alpha1.PgStorageBranch) {
	t.Helper()
	eventually(t, "no trace of "+b.Name, func(ctx context.Context) error {
		if err := s.advance(ctx); err != nil {
			return err
		}
		err := s.c.Get(ctx, client.ObjectKeyFromObject(b), b)
		if err == nil {
			return fmt.Errorf("%+v", b.Status)
		}
		return client.IgnoreNotFound(err)
	})
	key := client.ObjectKeyFromObject(b)
	absent(t, s.c, key, &v1alpha1.PgStorageCluster{})
	absent(t, s.c, key, &cnpgv1.Cluster{})
	snapshots, err := s.list(t.Context())
	claims, failed := s.claimsOf(t.Context(), b.Name)
	if err := errors.Join(err, failed); err != nil || len(claims) > 0 {
		t.Errorf("claims %v are left: %v", claims, err)
	}
	for i := range snapshots {
		if snapshots[i].Labels[naming.LabelOwnerUID] == string(b.UID) {
			t.Errorf("VolumeSnapshot %s is left", snapshots[i].Name)
		}
	}
}
