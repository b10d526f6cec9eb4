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
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/long"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// The snapshot of the WAL is taken after that of the data. The database is made of both, and
// the snapshots are deleted after the volumes.
func TestBranchFromSnapshotsToDeleted(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchable(t, c, "branch-made")
	w.within = "/namespaces/" + s.ns + "/"
	b := s.branch(t, "pr-1")
	key := client.ObjectKeyFromObject(b)
	data := s.taken(t, "shop-1")[0]
	if data.Labels[naming.LabelBranch] != "pr-1" || data.Labels[naming.LabelOwnerUID] != string(b.UID) || *data.Spec.VolumeSnapshotClassName != "branch-made" || len(data.OwnerReferences) != 0 {
		t.Errorf("%+v", data)
	}
	settled(t, w)
	s.taken(t, "shop-1") // still no WAL: the data is not copied yet
	if err := s.take(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	wal := s.taken(t, "shop-1", "shop-1-wal")[1]
	settled(t, w)
	absent(t, c, key, &v1alpha1.PgStorageCluster{})
	if err := s.take(t.Context(), &wal); err != nil {
		t.Fatal(err)
	}
	cr := get(t, c, key, &v1alpha1.PgStorageCluster{})
	if o := cr.Spec.Origin.VolumeSnapshots; o.Data != data.Name || o.WAL != wal.Name || *cr.Spec.Instances != 1 || cr.Spec.DeletionPolicy != v1alpha1.DeletionDelete || cr.Labels[naming.LabelBranch] != "pr-1" || len(cr.OwnerReferences) != 0 {
		t.Errorf("%+v %+v", cr.ObjectMeta, cr.Spec)
	}
	pg := get(t, c, key, &cnpgv1.Cluster{})
	if r := pg.Spec.Bootstrap.Recovery; r == nil || r.Source != "" || r.VolumeSnapshots == nil || r.VolumeSnapshots.Storage.Name != data.Name || r.VolumeSnapshots.WalStorage.Name != wal.Name {
		t.Errorf("%+v", pg.Spec.Bootstrap)
	}
	settled(t, w)
	if b := get(t, c, key, &v1alpha1.PgStorageBranch{}); b.Status.Endpoint != "" || b.Status.Secret != "" {
		t.Errorf("a branch that is not Ready has %+v", b.Status)
	}
	s.ready(t, b)
	if st := b.Status; st.Endpoint != "pr-1-rw."+s.ns+".svc" || st.Secret != "pr-1-app" || st.Snapshots.Instance != "shop-1" || st.Cluster != "pr-1" {
		t.Errorf("%+v", st)
	}
	s.until(t, b, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	branchIsDeletedInOrder(t, s, b)
}

// branchIsDeletedInOrder deletes a branch whose driver takes its time.
func branchIsDeletedInOrder(t *testing.T, s *simulatedBranches, b *v1alpha1.PgStorageBranch) {
	t.Helper()
	key := client.ObjectKeyFromObject(b)
	eventually(t, "the volumes in the status", func(ctx context.Context) error {
		if err := s.c.Get(ctx, key, b); err != nil {
			return err
		}
		if !slices.Equal(b.Status.Volumes, []string{s.volume("pr-1-1"), s.volume("pr-1-1-wal")}) {
			return fmt.Errorf("%v", b.Status.Volumes)
		}
		return nil
	})
	s.keepVolumes = true
	if err := s.c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the wait for the volumes", func(ctx context.Context) error {
		if err := errors.Join(s.advance(ctx), s.c.Get(ctx, key, b)); err != nil {
			return err
		}
		if now := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionDatabaseReady); !strings.Contains(now.Message, "Waiting for the CSI driver to delete the volumes") {
			return fmt.Errorf("%s", now.Message)
		}
		return nil
	})
	absent(t, s.c, key, &v1alpha1.PgStorageCluster{})
	absent(t, s.c, key, &cnpgv1.Cluster{})
	for _, v := range s.taken(t, "shop-1", "shop-1-wal") {
		if v.DeletionTimestamp != nil {
			t.Errorf("VolumeSnapshot %s is deleted before the volume that is made of it", v.Name)
		}
	}
	if !controllerutil.ContainsFinalizer(b, naming.BranchFinalizer) || len(b.Status.Volumes) != 2 {
		t.Errorf("%+v", b)
	}
	s.keepVolumes = false
	s.deleted(t, b)
}

// WAL of another primary does not fit the data: both are taken again.
func TestBranchIsNeverMadeOfTwoPrimaries(t *testing.T) {
	for _, primary := range []string{"shop-2", "shop-1"} { // shop-1 was another's standby meanwhile
		t.Run(primary, func(t *testing.T) {
			c := apiserver.Client(t, config)
			manager.Start(t, config)
			s := branchable(t, c, "branch-mixed-"+primary)
			b := s.branch(t, "pr-1")
			data := s.taken(t, "shop-1")[0]
			if err := s.take(t.Context(), &data); err != nil {
				t.Fatal(err)
			}
			wal := s.taken(t, "shop-1", "shop-1-wal")[1]
			s.failsOver(t, primary)
			// The driver completes the snapshot of the former primary's WAL all the same.
			if err := s.take(t.Context(), &wal); err != nil {
				t.Fatal(err)
			}
			s.ready(t, b)
			again := s.taken(t, primary, primary+"-wal")
			if again[0].UID == data.UID || again[1].UID == wal.UID {
				t.Error("a snapshot was not taken again")
			}
			if got := b.Status.Snapshots; got.Instance != primary || got.Data != again[0].Name || got.WAL != again[1].Name || !got.Time.Equal(again[0].Status.CreationTime) {
				t.Errorf("%+v", got)
			}
			if o := get(t, c, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{}).Spec.Origin.VolumeSnapshots; o.WAL != again[1].Name {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestBranchNeedsConsent(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchable(t, c, "branch-consent", func(_ *v1alpha1.PgStorageProfile, cr *v1alpha1.PgStorageCluster) {
		cr.Spec.BranchPolicy = v1alpha1.BranchNone
	})
	w.within = "/namespaces/" + s.ns + "/"
	b := s.branch(t, "pr-1")
	s.until(t, b, v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonConsentRequired)
	settled(t, w)
	s.taken(t)
	absent(t, c, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{})

	changed(t, c, s.source, func() { s.source.Spec.BranchPolicy = v1alpha1.BranchAny })
	s.ready(t, b)
	// Withdrawn consent keeps what exists, and no other branch is made.
	changed(t, c, s.source, func() { s.source.Spec.BranchPolicy = v1alpha1.BranchNone })
	other := s.branch(t, "pr-2")
	s.until(t, other, v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonConsentRequired)

	// Neither labels nor the name of a branch are a consent to its snapshots or another's.
	from := &v1alpha1.OriginSpec{VolumeSnapshots: &v1alpha1.OriginVolumeSnapshots{Data: b.Status.Snapshots.Data, WAL: b.Status.Snapshots.WAL}}
	for name, labels := range map[string]map[string]string{"thief": nil, "forged": naming.BranchLabels(b.Name, string(b.UID)), "pr-2": naming.BranchLabels(other.Name, string(other.UID))} {
		thief := cluster(s.ns, name, "branch-consent")
		thief.Labels, thief.Spec.Origin, thief.Spec.Storage.WALSize = labels, from, new(resource.MustParse("1Gi"))
		create(t, c, thief)
		hasCondition(t, c, thief, v1alpha1.ConditionParametersAccepted, metav1.ConditionFalse, v1alpha1.ReasonOverrideRefused)
		absent(t, c, client.ObjectKeyFromObject(thief), &cnpgv1.Cluster{})
	}
	s.ready(t, b)
}

func TestBranchesBeyondTheQuotaWait(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchable(t, c, "branch-quota", func(p *v1alpha1.PgStorageProfile, _ *v1alpha1.PgStorageCluster) {
		p.Spec.Branches = &v1alpha1.BranchLimits{MaxPerNamespace: new(int32(1))}
	})
	w.within = "/namespaces/" + s.ns + "/"
	both := []*v1alpha1.PgStorageBranch{s.branch(t, "pr-2"), s.branch(t, "pr-1")}
	made := -1
	eventually(t, "one branch, and one that waits", func(ctx context.Context) error {
		err := s.advance(ctx)
		for i, b := range both {
			if now := errors.Join(s.says(ctx, b, v1alpha1.ConditionReady, v1alpha1.ReasonReady), s.says(ctx, both[1-i], v1alpha1.ConditionReady, v1alpha1.ReasonQuotaExceeded)); now == nil {
				made = i
				return err
			}
		}
		return fmt.Errorf("%+v and %+v", both[0].Status.Conditions, both[1].Status.Conditions)
	})
	settled(t, w)
	list := &v1alpha1.PgStorageClusterList{}
	if err := c.List(t.Context(), list, client.InNamespace(s.ns)); err != nil || len(list.Items) != 2 {
		t.Errorf("%d PgStorageClusters: %v", len(list.Items), err)
	}
	if err := c.Delete(t.Context(), both[made]); err != nil {
		t.Fatal(err)
	}
	s.deleted(t, both[made])
	s.ready(t, both[1-made])
}

// A branch counts after its source is deleted, and after another database has the name of the
// source, on another profile.
func TestBranchOfADeletedSourceCounts(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	s := branchable(t, c, "branch-quota-source", func(p *v1alpha1.PgStorageProfile, _ *v1alpha1.PgStorageCluster) {
		p.Spec.Branches = &v1alpha1.BranchLimits{MaxPerNamespace: new(int32(1))}
	})
	tiny := cluster(s.ns, "tiny", "branch-quota-source")
	tiny.Spec.BranchPolicy = v1alpha1.BranchAny
	create(t, c, tiny)
	first := s.branch(t, "pr-1", func(spec *v1alpha1.PgStorageBranchSpec) { spec.Source.Cluster = "tiny" })
	s.ready(t, first)
	if err := c.Delete(t.Context(), tiny); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(tiny), &v1alpha1.PgStorageCluster{})
	second := s.branch(t, "pr-2")
	s.until(t, second, v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonQuotaExceeded)
	storage(t, c, "branch-quota-other")
	create(t, c, cluster(s.ns, "tiny", "branch-quota-other"))
	third := s.branch(t, "pr-3")
	s.until(t, third, v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonQuotaExceeded)
	if err := c.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	s.deleted(t, first)
	s.ready(t, second)
}

// A team has a CloudNativePG Cluster with the name of a branch. The branch neither uses nor awaits
// its claims.
func TestBranchLeavesAForeignDatabaseAlone(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	s := branchable(t, c, "branch-namesake")
	foreign := func(name string) *cnpgv1.Cluster {
		return &cnpgv1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name},
			Spec:       cnpgv1.ClusterSpec{Instances: 1, StorageConfiguration: cnpgv1.StorageConfiguration{Size: "1Gi"}},
		}
	}
	create(t, c, foreign("pr-1"))
	b := s.branch(t, "pr-1")
	s.until(t, b, v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonClusterNotOwned)
	s.taken(t)
	absent(t, c, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{})
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageBranch{})

	// The other Cluster comes after the PgStorageCluster.
	b = s.branch(t, "pr-2")
	key := client.ObjectKeyFromObject(b)
	s.ready(t, b)
	s.stopped = true
	if err := c.Delete(t.Context(), get(t, c, key, &cnpgv1.Cluster{})); err != nil {
		t.Fatal(err)
	}
	pg := foreign(key.Name)
	eventually(t, "the other Cluster", func(ctx context.Context) error { return c.Create(ctx, pg) })
	if err := errors.Join(s.removeClaim(t.Context(), "pr-2-1"), s.removeClaim(t.Context(), "pr-2-1-wal"), s.claim(t.Context(), pg, "pr-2-7", "pr-2-7", nil)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no volume in the status", func(ctx context.Context) error {
		if err := errors.Join(s.advance(ctx), c.Get(ctx, key, b)); err != nil || len(b.Status.Volumes) > 0 {
			return errors.Join(err, fmt.Errorf("%v", b.Status.Volumes))
		}
		return nil
	})
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the branch", func(ctx context.Context) error {
		if err := s.advance(ctx); err != nil {
			return err
		}
		err := c.Get(ctx, key, b)
		if err == nil {
			return fmt.Errorf("%+v", b.Status)
		}
		return client.IgnoreNotFound(err)
	})
	s.taken(t)
	claim := get(t, c, client.ObjectKey{Namespace: s.ns, Name: "pr-2-7"}, &corev1.PersistentVolumeClaim{})
	if now := get(t, c, key, &cnpgv1.Cluster{}); now.UID != pg.UID || now.DeletionTimestamp != nil || claim.DeletionTimestamp != nil {
		t.Errorf("the database of the team is %+v, its claim %+v", now.ObjectMeta, claim.ObjectMeta)
	}
}

// A database that its user retained needs the snapshots. The deletion of the branch waits for it,
// and names it.
func TestBranchWaitsForARetainedDatabase(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	s := branchable(t, c, "branch-retained")
	b := s.branch(t, "pr-1")
	key := client.ObjectKeyFromObject(b)
	s.ready(t, b)
	cr := get(t, c, key, &v1alpha1.PgStorageCluster{})
	changed(t, c, cr, func() { cr.Spec.DeletionPolicy = v1alpha1.DeletionRetain })
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	gone(t, c, key, &v1alpha1.PgStorageCluster{})
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the database in the status", func(ctx context.Context) error {
		if err := errors.Join(s.advance(ctx), c.Get(ctx, key, b)); err != nil {
			return err
		}
		now := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionDatabaseReady)
		if want := "kubectl -n " + s.ns + " delete clusters.postgresql.cnpg.io pr-1"; !strings.Contains(now.Message, want) {
			return fmt.Errorf("%s", now.Message)
		}
		return nil
	})
	for _, v := range s.taken(t, "shop-1", "shop-1-wal") {
		if v.DeletionTimestamp != nil {
			t.Errorf("VolumeSnapshot %s is deleted before the volume that is made of it", v.Name)
		}
	}
	if err := c.Delete(t.Context(), get(t, c, key, &cnpgv1.Cluster{})); err != nil {
		t.Fatal(err)
	}
	s.deleted(t, b)
}

// maskedBy is the SQL of a ConfigMap.
func maskedBy(spec *v1alpha1.PgStorageBranchSpec) {
	spec.Masking = &v1alpha1.BranchMasking{ConfigMap: v1alpha1.MaskingConfigMap{Name: "mask", Key: "mask.sql"}}
}

func maskingSQL(ns, sql string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "mask"}, Data: map[string]string{"mask.sql": sql}}
}

// maskingJob waits for a Job of a branch beside those known, while CloudNativePG continues.
func (s *simulatedBranches) maskingJob(t *testing.T, b *v1alpha1.PgStorageBranch, known ...string) *batchv1.Job {
	t.Helper()
	list := &batchv1.JobList{}
	found := -1
	eventually(t, "the Job that masks "+b.Name, func(ctx context.Context) error {
		if err := errors.Join(s.advance(ctx), s.c.List(ctx, list, client.InNamespace(s.ns), client.MatchingLabels(naming.BranchLabels(b.Name, string(b.UID))))); err != nil {
			return err
		}
		found = slices.IndexFunc(list.Items, func(j batchv1.Job) bool { return !slices.Contains(known, j.Name) })
		if found < 0 || len(list.Items) != len(known)+1 {
			return fmt.Errorf("%d Jobs", len(list.Items))
		}
		return nil
	})
	return &list.Items[found]
}

// simulatedMasking ends a Job.
func simulatedMasking(t *testing.T, c client.Client, job *batchv1.Job, met, end batchv1.JobConditionType) {
	t.Helper()
	now := metav1.Now()
	job.Status.StartTime = &now
	if end == batchv1.JobComplete {
		job.Status.CompletionTime = &now
	}
	for _, kind := range []batchv1.JobConditionType{met, end} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: "Simulated", LastTransitionTime: now})
	}
	if err := c.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
}

// closed says that only the owner of the database of a branch can connect.
func (s *simulatedBranches) closed(t *testing.T, b *v1alpha1.PgStorageBranch) bool {
	t.Helper()
	hba := get(t, s.c, client.ObjectKeyFromObject(b), &cnpgv1.Cluster{}).Spec.PostgresConfiguration.PgHBA
	return slices.Equal(hba, []string{"hostssl app app all scram-sha-256", cnpg.Reject})
}

func TestBranchIsClosedUntilItIsMasked(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchable(t, c, "branch-masked")
	w.within = "/namespaces/" + s.ns + "/"
	s.stopped = true // the Cluster is looked at before it runs
	b := s.branch(t, "pr-1", maskedBy)
	s.until(t, b, v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonClusterNotHealthy)
	if pg := get(t, c, client.ObjectKeyFromObject(b), &cnpgv1.Cluster{}); pg.Generation != 1 || !s.closed(t, b) {
		t.Errorf("generation %d: %v", pg.Generation, pg.Spec.PostgresConfiguration.PgHBA)
	}
	s.stopped = false
	s.until(t, b, v1alpha1.ConditionMasked, v1alpha1.ReasonMaskingNotFound)
	sql := maskingSQL(s.ns, "UPDATE user SET name = 'x'")
	create(t, c, sql)
	first := s.maskingJob(t, b)
	simulatedMasking(t, c, first, batchv1.JobFailureTarget, batchv1.JobFailed)
	s.until(t, b, v1alpha1.ConditionMasked, v1alpha1.ReasonMaskingFailed)
	settled(t, w)
	if s.maskingJob(t, b); !s.closed(t, b) || b.Status.Endpoint != "" || b.Status.Secret != "" {
		t.Errorf("the branch whose masking failed is %+v", b.Status)
	}
	changed(t, c, sql, func() { sql.Data["mask.sql"] = "UPDATE users SET name = 'x'" })
	second := s.maskingJob(t, b, first.Name)
	settled(t, w)
	if !s.closed(t, b) {
		t.Error("it is open while the SQL runs")
	}
	simulatedMasking(t, c, second, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	s.ready(t, b)
	if s.closed(t, b) || b.Status.Endpoint == "" || b.Status.Secret == "" || b.Status.Masked == "" {
		t.Errorf("the masked branch is %+v", b.Status)
	}
	// It is masked once.
	changed(t, c, sql, func() { sql.Data["mask.sql"] = "DELETE FROM users" })
	changed(t, c, b, func() { metav1.SetMetaDataAnnotation(&b.ObjectMeta, "example.com/note", "wake up") })
	settled(t, w)
	s.maskingJob(t, b, first.Name)
	s.ready(t, b)
}

// spec.promote is set from the start: the snapshots stay until another instance has the data.
func TestBranchIsPromotedFromTheStart(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchable(t, c, "branch-promoted-first")
	w.within = "/namespaces/" + s.ns + "/"
	s.stopped = true // the Cluster has no claims yet
	b := s.branch(t, "pr-1", func(spec *v1alpha1.PgStorageBranchSpec) { spec.Promote = true })
	eventually(t, "the PgStorageCluster of the branch", func(ctx context.Context) error {
		return errors.Join(s.advance(ctx), c.Get(ctx, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{}))
	})
	settled(t, w)
	list, err := s.list(t.Context())
	if err != nil || len(list) != 2 || list[0].DeletionTimestamp != nil || list[1].DeletionTimestamp != nil {
		t.Fatalf("the VolumeSnapshots before the database is made of them (%v): %+v", err, list)
	}
	s.stopped = false
	s.until(t, b, v1alpha1.ConditionIndependent, v1alpha1.ReasonIndependent)
	s.ready(t, b)
}

// The reason why the API server rejects a VolumeSnapshot is in the status.
func TestBranchReportsARejectedSnapshot(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchable(t, c, "branch-rejected")
	w.within = "/namespaces/" + s.ns + "/volumesnapshots"
	admitsNone(t, c, s.ns, "volumesnapshots.snapshot.storage.k8s.io")
	b := s.branch(t, "pr-1")
	eventually(t, "the attempt", func(context.Context) error {
		if w.count.Load() == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	w.within = "/namespaces/" + s.ns + "/"
	settled(t, w)
	s.taken(t)
	get(t, c, client.ObjectKeyFromObject(b), b)
	if got := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady); got.Reason != v1alpha1.ReasonRejected || !strings.Contains(got.Message, "exceeded quota") || strings.Contains(got.Message, "PgStorageCluster") {
		t.Errorf("%s: %s", got.Reason, got.Message)
	}
}

// A VolumeSnapshot that has the name of the branch's WAL is reported, and not used.
func TestBranchReportsAForeignSnapshot(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	s := branchable(t, c, "branch-foreign")
	b := s.branch(t, "pr-1")
	data := s.taken(t, "shop-1")[0]
	foreign := &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: naming.BranchWALSnapshot(data.Name, string(data.UID))},
		Spec:       snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: new("shop-1-wal")}},
	}
	create(t, c, foreign)
	if err := s.take(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the foreign one in the status", func(ctx context.Context) error {
		return s.says(ctx, b, v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonBranchRefused)
	})
	if got := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady); !strings.Contains(got.Message, foreign.Name) {
		t.Errorf("%+v", got)
	}
	absent(t, c, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{})
	if err := c.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	s.ready(t, b)
}

// A ConfigMap that changes while its SQL runs has no second Job run beside the first.
func TestBranchRunsOneMaskingAtATime(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchable(t, c, "branch-masks-once")
	w.within = "/namespaces/" + s.ns + "/"
	sql := maskingSQL(s.ns, "SELECT 1")
	create(t, c, sql)
	b := s.branch(t, "pr-1", maskedBy)
	job := s.maskingJob(t, b)
	changed(t, c, sql, func() { sql.Data["mask.sql"] = "SELECT 2" })
	changed(t, c, b, func() { metav1.SetMetaDataAnnotation(&b.ObjectMeta, "example.com/note", "wake up") })
	settled(t, w)
	list := &batchv1.JobList{}
	if err := c.List(t.Context(), list, client.InNamespace(s.ns)); err != nil || len(list.Items) != 1 || list.Items[0].UID != job.UID {
		t.Errorf("%d Jobs run: %v", len(list.Items), err)
	}
}

// spec.promote is set before the branch is masked: nothing is copied or opened until then.
func TestBranchIsMaskedBeforeItIsPromoted(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchable(t, c, "branch-masked-first")
	w.within = "/namespaces/" + s.ns + "/"
	create(t, c, maskingSQL(s.ns, "SELECT 1"))
	b := s.branch(t, "pr-1", maskedBy)
	key := client.ObjectKeyFromObject(b)
	s.stopped = true
	s.until(t, b, v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonClusterNotHealthy)
	settled(t, w)
	// The claims exist, which CloudNativePG reports, and the instance does not run yet.
	eventually(t, "the claims", func(ctx context.Context) error {
		pg := &cnpgv1.Cluster{}
		if err := errors.Join(s.all(ctx), s.c.Get(ctx, key, pg)); err != nil {
			return err
		}
		if err := passing(s.instance(ctx, pg, "pr-1-1")); err != nil {
			return err
		}
		if claims, err := s.claimsOf(ctx, pg.Name); err != nil || len(claims) != 2 {
			return errors.Join(err, fmt.Errorf("%d of 2", len(claims)))
		}
		return nil
	})
	simulatedStatus(t, c, key, func(status *cnpgv1.ClusterStatus) { status.Phase, status.Instances = cnpgv1.PhaseFirstPrimary, 1 })
	eventually(t, "the claims in the status", func(ctx context.Context) error {
		if err := errors.Join(s.all(ctx), s.c.Get(ctx, key, b)); err != nil || len(b.Status.Volumes) == 0 {
			return errors.Join(err, errors.New("none"))
		}
		return nil
	})
	changed(t, c, b, func() { b.Spec.Promote = true })
	s.stopped = false
	settled(t, w)
	if cr := get(t, c, key, &v1alpha1.PgStorageCluster{}); *cr.Spec.Instances != 1 || !s.closed(t, b) {
		t.Errorf("the branch that is not masked has %d instances, and is closed: %v", *cr.Spec.Instances, s.closed(t, b))
	}
	simulatedMasking(t, c, s.maskingJob(t, b), batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	s.until(t, b, v1alpha1.ConditionIndependent, v1alpha1.ReasonIndependent)
	s.ready(t, b)
}

// A branch that is restored from backups is masked like any other.
func TestBranchOfBackupsIsClosedUntilItIsMasked(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	s := branchable(t, c, "branch-backup", func(p *v1alpha1.PgStorageProfile, cr *v1alpha1.PgStorageCluster) {
		p.Spec.AllowedOverrides = []string{"bootstrap.recovery", "externalClusters"}
		create(t, c, lake(cr.Namespace))
		cr.Spec.Backup = backedUp(cr.Namespace, p.Name).Spec.Backup
	})
	simulatedWindow(t, c, s.ns, "shop", metav1.Now().Time)
	create(t, c, maskingSQL(s.ns, "SELECT 1"))
	b := s.branch(t, "pr-1", maskedBy, func(spec *v1alpha1.PgStorageBranchSpec) { spec.Source.Backup = &v1alpha1.BranchBackup{} })
	s.until(t, b, v1alpha1.ConditionMasked, v1alpha1.ReasonMasking)
	if !s.closed(t, b) {
		t.Fatal("everybody can connect to the data that is not masked")
	}
	simulatedMasking(t, c, s.maskingJob(t, b), batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	s.ready(t, b)
	s.taken(t)
}

// A promoted branch gets an instance with its own volumes, and loses the one of the snapshots.
func TestBranchIsPromoted(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchable(t, c, "branch-promoted")
	w.within = "/namespaces/" + s.ns + "/"
	b := s.branch(t, "pr-1")
	key := client.ObjectKeyFromObject(b)
	s.ready(t, b)
	changed(t, c, b, func() { b.Spec.Promote = true })
	eventually(t, "two instances", func(ctx context.Context) error {
		cr := &v1alpha1.PgStorageCluster{}
		if err := c.Get(ctx, key, cr); err != nil || *cr.Spec.Instances != 2 {
			return errors.Join(err, errors.New("one instance"))
		}
		return nil
	})
	settled(t, w) // no switch before the copy is complete
	if pg := get(t, c, key, &cnpgv1.Cluster{}); pg.Status.TargetPrimary != "pr-1-1" {
		t.Errorf("%+v", pg.Status)
	}
	s.until(t, b, v1alpha1.ConditionIndependent, v1alpha1.ReasonIndependent)
	s.ready(t, b)
	s.taken(t)
	cr, pg := get(t, c, key, &v1alpha1.PgStorageCluster{}), get(t, c, key, &cnpgv1.Cluster{})
	if cr.Spec.DeletionPolicy != v1alpha1.DeletionRetain {
		t.Errorf("deletionPolicy is %s", cr.Spec.DeletionPolicy)
	}
	if *cr.Spec.Instances != 1 || pg.Status.CurrentPrimary != "pr-1-2" || !b.Status.Independent || b.Status.Snapshots != nil {
		t.Errorf("%d instances, primary %s, %+v", *cr.Spec.Instances, pg.Status.CurrentPrimary, b.Status)
	}
	rest := settled(t, w)
	for _, o := range []client.Object{b, cr} {
		changed(t, c, o, func() { o.SetAnnotations(map[string]string{"example.com/note": "wake up"}) })
	}
	if n := settled(t, w) - rest; n != 0 {
		t.Errorf("%d writes at rest, the last one %v", n, w.last.Load())
	}
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	gone(t, c, key, &v1alpha1.PgStorageBranch{})
	settled(t, w)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	if now := get(t, c, key, &cnpgv1.Cluster{}); now.UID != pg.UID || now.DeletionTimestamp != nil {
		t.Errorf("the promoted database is %+v", now.ObjectMeta)
	}
}

func TestBranchAtRestIsNotWritten(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchable(t, c, "branch-rests")
	w.within = "/namespaces/" + s.ns + "/"
	b := s.branch(t, "pr-1", func(spec *v1alpha1.PgStorageBranchSpec) { spec.TTL = "24h" })
	s.ready(t, b)
	rest := settled(t, w)
	cr := get(t, c, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{})
	for _, o := range []client.Object{b, cr, s.source} {
		changed(t, c, o, func() { o.SetAnnotations(map[string]string{"example.com/note": "wake up"}) })
	}
	// The volumes can come into the status after Ready.
	if n := settled(t, w) - rest; n > 1 || n == 1 && !strings.HasSuffix(w.last.Load().(string), "/pgstoragebranches/pr-1/status") {
		t.Errorf("%d writes at rest, the last one %v", n, w.last.Load())
	}
	rest = settled(t, w)
	changed(t, c, b, func() { b.Annotations = map[string]string{"example.com/note": "again"} })
	if n := settled(t, w) - rest; n != 0 {
		t.Errorf("%d writes at rest, the last one %v", n, w.last.Load())
	}
}

// The space of a branch follows what the agent of its node reads back, without a change of any
// other object.
func TestSpaceOfABranchFollowsItsVolumes(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	s := branchableOnZFS(t, c, "branch-space")
	w.within = "/namespaces/" + s.ns + "/"
	takes := func(used, snapshots string) v1alpha1.ObservedVolume {
		return v1alpha1.ObservedVolume{
			Name: "tank/pgdata/" + s.volume("pr-1-1"), Type: "Filesystem", Recordsize: 8192,
			Used: new(resource.MustParse(used)), UsedBySnapshots: new(resource.MustParse(snapshots)),
		}
	}
	simulatedVolume(t, c, "branch-space", takes("64Mi", "0"))
	b := s.branch(t, "pr-1")
	s.ready(t, b)
	has := func(want string) {
		t.Helper()
		eventually(t, "status.space "+want, func(ctx context.Context) error {
			if err := s.c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
				return err
			}
			if got := b.Status.Space; got == nil || got.String() != want {
				return fmt.Errorf("%v", got)
			}
			return nil
		})
	}
	has("64Mi")
	rest := settled(t, w)
	simulatedVolume(t, c, "branch-space", takes("512Mi", "128Mi"))
	has("384Mi")
	if n := settled(t, w) - rest; n != 1 {
		t.Errorf("%d writes for one change, the last one %v", n, w.last.Load())
	}
}

// lives is the life of a branch, from its creation until nothing of it is left, or until a
// write was cut.
func (s *simulatedBranches) lives(t *testing.T, b *v1alpha1.PgStorageBranch, w *writes) {
	t.Helper()
	eventually(t, "the end of "+b.Name, func(ctx context.Context) error {
		if w != nil && w.count.Load() > w.failAfter {
			return nil
		}
		if err := s.advance(ctx); err != nil {
			return err
		}
		now := &v1alpha1.PgStorageBranch{}
		if err := s.c.Get(ctx, client.ObjectKeyFromObject(b), now); err != nil {
			return client.IgnoreNotFound(err)
		}
		if now.DeletionTimestamp == nil && meta.IsStatusConditionTrue(now.Status.Conditions, v1alpha1.ConditionReady) {
			return errors.Join(errors.New("it is Ready"), s.c.Delete(ctx, now))
		}
		// The manager polls what no watch covers. A change of the branch wakes it, once a second.
		before := now.DeepCopy()
		metav1.SetMetaDataAnnotation(&now.ObjectMeta, "example.com/note", time.Now().Format(time.TimeOnly))
		return errors.Join(fmt.Errorf("%+v", now.Status), passing(s.c.Patch(ctx, now, client.MergeFrom(before))))
	})
}

// A manager is killed after any write of a branch, from its creation to its deletion. The next
// one ends up in the same place.
func TestBranchSurvivesACrashAfterAnyWrite(t *testing.T) {
	long.Skip(t, "make test-integration")
	c := apiserver.Client(t, config)
	stop := manager.Start(t, config)
	s := branchable(t, c, "branch-crash")
	hasCondition(t, c, s.source, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	stop()
	cuts := int64(0)
	for whole := false; !whole && !t.Failed(); cuts++ {
		t.Run(fmt.Sprintf("write %d", cuts+1), func(t *testing.T) {
			s.t = t
			cut := &writes{failAfter: cuts + 1, within: "/namespaces/" + s.ns + "/"}
			stop := manager.Start(t, cut.into(config))
			b := s.branch(t, fmt.Sprintf("cut-%d", cuts+1))
			s.lives(t, b, cut)
			whole = cut.count.Load() <= cut.failAfter
			stop()
			stop = manager.Start(t, config)
			s.lives(t, b, nil)
			s.deleted(t, b)
			stop()
		})
	}
	if cuts < 15 {
		t.Errorf("it took %d writes, too few to be all of them", cuts-1)
	}
	t.Logf("cut after each of %d writes", cuts-1)
}
