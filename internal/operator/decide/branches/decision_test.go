package branches

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/branch"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const since = "2026-03-01T10:00:00.000000Z"

// world is a branch of a healthy database on ZFS, whose WAL has a volume.
type world struct {
	b      *v1alpha1.PgStorageBranch
	facts  observed.Branch
	config clusters.Config
}

func newWorld() *world {
	source := &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "source"},
		Spec: v1alpha1.PgStorageClusterSpec{
			Profile: "zfs", Durability: v1alpha1.DurabilityQuorum, BranchPolicy: v1alpha1.BranchAny,
			Postgres:  v1alpha1.PostgresSpec{Version: "17", Database: "app", Owner: "app"},
			Storage:   v1alpha1.ClusterStorage{Size: resource.MustParse("5Gi"), WALSize: new(resource.MustParse("2Gi"))},
			Resources: v1alpha1.ClusterResources{Requests: map[corev1.ResourceName]resource.Quantity{"cpu": resource.MustParse("1")}},
		},
	}
	return &world{
		b: &v1alpha1.PgStorageBranch{
			ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "pr-1", UID: "uid", Generation: 3, CreationTimestamp: metav1.NewTime(now.Add(-time.Minute))},
			Spec:       v1alpha1.PgStorageBranchSpec{Source: v1alpha1.BranchSource{Cluster: "shop"}},
		},
		facts: observed.Branch{
			ForeignAPIs: observed.ForeignAPIs{CNPGInstalled: true, VolumeSnapshots: true},
			Source:      source,
			SourceCluster: &cnpgv1.Cluster{
				Spec:   cnpgv1.ClusterSpec{WalStorage: &cnpgv1.StorageConfiguration{}},
				Status: cnpgv1.ClusterStatus{CurrentPrimary: "shop-2", TargetPrimary: "shop-2", CurrentPrimaryTimestamp: since, ReadyInstances: 2},
			},
			Profile:        &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "zfs"}, Spec: v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeZFSLocalPV, ZFSLocalPV: &v1alpha1.ZFSLocalPVProfile{}}},
			SnapshotDriver: nodevolumes.Driver,
			Snapshots:      map[string]*snapshotv1.VolumeSnapshot{},
		},
		config: clusters.Config{Branches: true},
	}
}

func (w *world) decide(t *testing.T) Decision {
	t.Helper()
	d, err := Decide(w.b, w.facts, catalog.All(), w.config, now)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// take what a decision creates, as a driver does.
func (w *world) take(s *snapshotv1.VolumeSnapshot, uid string) {
	s.UID = types.UID(uid)
	s.Status = &snapshotv1.VolumeSnapshotStatus{ReadyToUse: new(true), CreationTime: new(metav1.NewTime(now))}
	w.facts.Snapshots[s.Name] = s
}

func reason(d Decision, condition string) (string, string) {
	for _, o := range d.Outcomes {
		if o.Condition == condition {
			return o.Reason, o.Message
		}
	}
	return "", ""
}

func wants(t *testing.T, d Decision, condition, want, message string) {
	t.Helper()
	if got, text := reason(d, condition); got != want || !strings.Contains(text, message) {
		t.Errorf("%s is %q: %s; want %q with %q", condition, got, text, want, message)
	}
}

// recorded has the snapshots in the status.
func recorded() *world {
	w := newWorld()
	w.b.Status.Snapshots = &v1alpha1.BranchSnapshots{Data: "d", WAL: "w", Instance: "shop-2"}
	return w
}

// running has a database, too.
func running() *world {
	w := recorded()
	w.b.Status.Cluster = "pr-1"
	w.facts.Cluster = branch.Cluster(w.b, w.facts.Source)
	w.facts.Cluster.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	w.facts.Database = &cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{
		Image: "postgres:17", Instances: 1, ReadyInstances: 1, CurrentPrimary: "pr-1-1", TargetPrimary: "pr-1-1",
		Conditions: []metav1.Condition{{Type: string(cnpgv1.ConditionClusterReady), Status: metav1.ConditionTrue}},
	}}
	w.facts.Claims = []observed.BranchClaim{
		{Name: "pr-1-1", Instance: "pr-1-1", Volume: "pvc-1", FromSnapshot: true},
		{Name: "pr-1-1-wal", Instance: "pr-1-1", Volume: "pvc-2", FromSnapshot: true},
	}
	return w
}

// A user gives the database of a branch more instances, and the namespace more claims. The
// schema of the status allows 64 volumes.
func TestVolumesFitTheStatus(t *testing.T) {
	for _, n := range []int{0, 32, 64, 70} {
		w := running()
		w.facts.Claims = nil
		for i := range n {
			w.facts.Claims = append(w.facts.Claims, observed.BranchClaim{Name: fmt.Sprintf("c-%d", i), Volume: fmt.Sprintf("pvc-%d", i)})
		}
		if got := w.decide(t).Status.Volumes; len(got) != min(n, 64) {
			t.Errorf("%d volumes are listed of %d", len(got), n)
		}
	}
}

// A volume without a claim is listed until it is gone, which no watch shows.
func TestHeldVolumeIsLookedAtAgain(t *testing.T) {
	w := running()
	w.facts.Cluster.Status.Conditions[0].Status = metav1.ConditionFalse
	if d := w.decide(t); d.After != 0 {
		t.Errorf("the branch is read again after %s", d.After)
	}
	w.facts.Held = []string{"pvc-9"}
	if d := w.decide(t); d.After != poll || !slices.Contains(d.Status.Volumes, "pvc-9") {
		t.Errorf("the branch is read again after %s, its volumes are %v", d.After, d.Status.Volumes)
	}
}

// What the database waits for is what its branch waits for.
func TestDatabaseThatIsNotReady(t *testing.T) {
	for _, reason := range []string{v1alpha1.ReasonClusterNotHealthy, v1alpha1.ReasonVolumesPending, v1alpha1.ReasonProfileNotReady, v1alpha1.ReasonVolumeLost} {
		t.Run(reason, func(t *testing.T) {
			w := running()
			w.facts.Cluster.Status.Conditions[0] = metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: "why"}
			wants(t, w.decide(t), v1alpha1.ConditionDatabaseReady, reason, "PgStorageCluster pr-1: why")
		})
	}
}

// The WAL is never older than the data, and of the same instance.
func TestSnapshotsInOrder(t *testing.T) {
	w := newWorld()
	d := w.decide(t)
	data := d.Snapshot
	if data == nil || *data.Spec.Source.PersistentVolumeClaimName != "shop-2" || *data.Spec.VolumeSnapshotClassName != "zfs" || data.Annotations[naming.AnnotationPrimarySince] != since {
		t.Fatalf("data: %+v", data)
	}
	w.facts.Snapshots[data.Name] = data
	if d = w.decide(t); d.Snapshot != nil || d.Status.Snapshots != nil {
		t.Errorf("it does not wait for the data: %+v", d.Snapshot)
	}
	w.take(data, "data")
	d = w.decide(t)
	wal := d.Snapshot
	if wal == nil || *wal.Spec.Source.PersistentVolumeClaimName != "shop-2-wal" || d.Status.Snapshots != nil {
		t.Fatalf("WAL: %+v", wal)
	}
	w.facts.Snapshots[wal.Name] = wal
	wal.Status = &snapshotv1.VolumeSnapshotStatus{Error: &snapshotv1.VolumeSnapshotError{Message: new("no space")}}
	wants(t, w.decide(t), v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonSnapshotPending, "no space")
	w.take(wal, "wal")
	d = w.decide(t)
	if s := d.Status.Snapshots; s == nil || s.Data != data.Name || s.WAL != wal.Name || s.Instance != "shop-2" || s.Time == nil {
		t.Errorf("recorded: %+v", s)
	}
	if d.Cluster != nil {
		t.Error("the PgStorageCluster is made before the status has its snapshots")
	}
}

// A driver may upload snapshots for longer than may lie between that of the data and that of the
// WAL. It has taken a snapshot when it reports its creation time, as CSI has it. Drivers that
// report the time of the request do not, and the WAL could be older than the data.
func TestWALIsTakenOnceTheDataIsCut(t *testing.T) {
	uploads := func() *snapshotv1.VolumeSnapshotStatus {
		return &snapshotv1.VolumeSnapshotStatus{ReadyToUse: new(false), CreationTime: new(metav1.NewTime(now))}
	}
	for name, tc := range map[string]struct {
		driver string
		change func(*snapshotv1.VolumeSnapshot)
		want   bool
	}{
		"uploaded":                {driver: "ebs.csi.aws.com", want: true},
		"without a time":          {driver: "ebs.csi.aws.com", change: func(s *snapshotv1.VolumeSnapshot) { s.Status.CreationTime = nil }},
		"failed":                  {driver: "ebs.csi.aws.com", change: func(s *snapshotv1.VolumeSnapshot) { s.Status.Error = &snapshotv1.VolumeSnapshotError{} }},
		"deleted":                 {driver: "ebs.csi.aws.com", change: func(s *snapshotv1.VolumeSnapshot) { s.DeletionTimestamp = new(metav1.NewTime(now)) }},
		"accepted by zfs-localpv": {driver: "zfs.csi.openebs.io"},
		"accepted by lvm-localpv": {driver: "local.csi.openebs.io"},
	} {
		w := newWorld()
		w.facts.SnapshotDriver = tc.driver
		data := w.decide(t).Snapshot
		w.take(data, "data")
		data.Status = uploads()
		if tc.change != nil {
			tc.change(data)
		}
		if d := w.decide(t); d.Snapshot != nil != tc.want || d.Status.Snapshots != nil {
			t.Errorf("%s: %+v, %+v", name, d.Snapshot, d.Status.Snapshots)
		}
	}
	w := newWorld()
	w.facts.SnapshotDriver = "ebs.csi.aws.com"
	data := w.decide(t).Snapshot
	w.take(data, "data")
	data.Status = uploads()
	w.take(w.decide(t).Snapshot, "wal")
	d := w.decide(t)
	wants(t, d, v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonSnapshotPending, "of the data")
	if d.Status.Snapshots != nil {
		t.Error("data that is not ready is recorded")
	}
	data.Status.ReadyToUse = new(true)
	if d = w.decide(t); d.Status.Snapshots == nil || d.Status.Snapshots.WAL == "" {
		t.Errorf("recorded: %+v", d.Status.Snapshots)
	}
}

func TestOneVolumeNeedsOneSnapshot(t *testing.T) {
	w := newWorld()
	w.facts.SourceCluster.Spec.WalStorage = nil
	d := w.decide(t)
	w.take(d.Snapshot, "data")
	if d = w.decide(t); d.Snapshot != nil || d.Status.Snapshots == nil || d.Status.Snapshots.WAL != "" {
		t.Errorf("%+v, %+v", d.Snapshot, d.Status.Snapshots)
	}
}

// WAL of another timeline does not fit the data.
func TestPrimaryChangedBetweenSnapshots(t *testing.T) {
	for name, change := range map[string]func(*cnpgv1.ClusterStatus){
		"to another instance":                    func(s *cnpgv1.ClusterStatus) { s.CurrentPrimary, s.TargetPrimary = "shop-1", "shop-1" },
		"and back":                               func(s *cnpgv1.ClusterStatus) { s.CurrentPrimaryTimestamp = "2026-03-01T11:59:00.000000Z" },
		"and is being changed":                   func(s *cnpgv1.ClusterStatus) { s.TargetPrimary = "shop-1" },
		"and is not known after a failed one":    func(s *cnpgv1.ClusterStatus) { s.CurrentPrimary = "" },
		"and no instance is ready at the moment": func(s *cnpgv1.ClusterStatus) { s.ReadyInstances = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.take(w.decide(t).Snapshot, "data")
			w.take(w.decide(t).Snapshot, "wal")
			change(&w.facts.SourceCluster.Status)
			if d := w.decide(t); d.Status.Snapshots != nil || d.Snapshot != nil {
				t.Errorf("%+v, %+v", d.Status.Snapshots, d.Snapshot)
			}
		})
	}
	w := newWorld()
	w.take(w.decide(t).Snapshot, "data")
	w.take(w.decide(t).Snapshot, "wal")
	w.facts.SourceCluster.Status.CurrentPrimaryTimestamp = "later"
	if d := w.decide(t); len(d.Delete) != 2 {
		t.Errorf("both are taken again, but %d are deleted", len(d.Delete))
	}
}

func TestAdmission(t *testing.T) {
	other := func(name string, change func(*v1alpha1.PgStorageBranch)) v1alpha1.PgStorageBranch {
		o := v1alpha1.PgStorageBranch{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(now)}, Spec: v1alpha1.PgStorageBranchSpec{Source: v1alpha1.BranchSource{Cluster: "shop"}}}
		change(&o)
		return o
	}
	made := func(o *v1alpha1.PgStorageBranch) {
		o.Status.Snapshots, o.Status.Space = &v1alpha1.BranchSnapshots{Data: "x"}, new(resource.MustParse("2Gi"))
	}
	limited := func(w *world, number int32, space string, others ...v1alpha1.PgStorageBranch) {
		w.facts.Profile.Spec.Branches = &v1alpha1.BranchLimits{MaxPerNamespace: &number, MaxSpacePerNamespace: new(resource.MustParse(space))}
		w.facts.Branches, w.facts.ProfileOf = others, map[string]string{"a": "zfs", "elsewhere": "other"}
	}
	for name, tc := range map[string]struct {
		change          func(*world)
		reason, message string
	}{
		"the feature is off": {func(w *world) { w.config.Branches = false }, v1alpha1.ReasonBranchRefused, "--feature-gates=Branches=true"},
		"no source":          {func(w *world) { w.facts.Source = nil }, v1alpha1.ReasonSourceNotFound, "shop"},
		"no consent":         {func(w *world) { w.facts.Source.Spec.BranchPolicy = v1alpha1.BranchNone }, v1alpha1.ReasonConsentRequired, "spec.branchPolicy"},
		"a source that goes": {func(w *world) { w.facts.Source.DeletionTimestamp = new(metav1.NewTime(now)) }, v1alpha1.ReasonBranchRefused, "being deleted"},
		"no profile":         {func(w *world) { w.facts.Profile = nil }, v1alpha1.ReasonProfileNotFound, "zfs"},
		"a read pool":        {func(w *world) { w.facts.Source.Spec.Follow = &v1alpha1.FollowSpec{} }, v1alpha1.ReasonBranchRefused, "replicates another"},
		"a site that does not write": {func(w *world) {
			w.facts.SourceCluster.Spec.ReplicaCluster = &cnpgv1.ReplicaClusterConfiguration{Enabled: new(true), Source: "x"}
		}, v1alpha1.ReasonBranchRefused, "replicates another"},
		"tablespaces":  {func(w *world) { w.facts.SourceCluster.Spec.Tablespaces = []cnpgv1.TablespaceConfiguration{{Name: "x"}} }, v1alpha1.ReasonBranchRefused, "tablespaces"},
		"no resources": {func(w *world) { w.facts.Source.Spec.Resources.Requests = nil }, v1alpha1.ReasonBranchRefused, "spec.resources"},
		"memory": {func(w *world) {
			w.facts.Profile.Spec = v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeMemory, Memory: &v1alpha1.MemoryProfile{}}
		}, v1alpha1.ReasonBranchRefused, "no snapshots"},
		"a class that is not named": {func(w *world) {
			w.facts.Profile.Spec = v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "x"}}
		}, v1alpha1.ReasonBranchRefused, "volumeSnapshotClassName"},
		"no CRDs of snapshots": {func(w *world) { w.facts.VolumeSnapshots = false }, v1alpha1.ReasonCRDNotInstalled, "external-snapshotter"},
		"no class":             {func(w *world) { w.facts.SnapshotDriver = "" }, v1alpha1.ReasonSnapshotClassNotFound, "zfs"},
		"a pool that fills":    {func(w *world) { w.facts.NoRoom = "PgNodeStorage zfs.a is PoolNearlyFull" }, v1alpha1.ReasonNotEnoughSpace, "PoolNearlyFull"},
		"a branch that is not masked": {func(w *world) {
			w.facts.Branches = []v1alpha1.PgStorageBranch{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: v1alpha1.PgStorageBranchSpec{Masking: &v1alpha1.BranchMasking{}}}}
		}, v1alpha1.ReasonSourceNotReady, "not masked yet"},
		"a volume that snapshots fill": {func(w *world) { w.facts.Tight = []string{"tank/pgwal/pvc-2"} }, v1alpha1.ReasonNotEnoughSpace, "tank/pgwal/pvc-2"},
		"a database of that name":      {func(w *world) { w.facts.ForeignCluster = true }, v1alpha1.ReasonClusterNotOwned, "pr-1"},
		"a Cluster of that name":       {func(w *world) { w.facts.ForeignDatabase = "uid" }, v1alpha1.ReasonClusterNotOwned, "a CloudNativePG Cluster pr-1"},
		"a snapshot of that name":      {func(w *world) { w.facts.ForeignSnapshot = "pr-1-abc" }, v1alpha1.ReasonBranchRefused, "pr-1-abc"},
		"a backup that is not there":   {func(w *world) { w.b.Spec.Source.Backup = &v1alpha1.BranchBackup{} }, v1alpha1.ReasonBranchRefused, "spec.backup"},
		"a suspended source":           {func(w *world) { w.facts.Source.Spec.Suspend = new(true) }, v1alpha1.ReasonSourceNotReady, "suspend"},
		"as many as are allowed":       {func(w *world) { limited(w, 1, "10Gi", other("a", made)) }, v1alpha1.ReasonQuotaExceeded, "admits 1"},
		"an earlier one that waits": {func(w *world) {
			limited(w, 1, "10Gi", other("a", func(o *v1alpha1.PgStorageBranch) { o.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour)) }))
		}, v1alpha1.ReasonQuotaExceeded, "admits 1"},
		"a later one that waits": {func(w *world) { limited(w, 1, "10Gi", other("a", func(*v1alpha1.PgStorageBranch) {})) }, v1alpha1.ReasonSnapshotPending, "data"},
		"a promoted one": {func(w *world) {
			limited(w, 1, "1Gi", other("a", func(o *v1alpha1.PgStorageBranch) { made(o); o.Status.Independent = true }))
		}, v1alpha1.ReasonSnapshotPending, "data"},
		"one whose database and source are gone": {func(w *world) { limited(w, 1, "10Gi", other("unknown", made)) }, v1alpha1.ReasonQuotaExceeded, "admits 1"},
		"one whose source does not exist": {func(w *world) {
			limited(w, 1, "10Gi", other("unknown", func(o *v1alpha1.PgStorageBranch) { o.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour)) }))
		}, v1alpha1.ReasonSnapshotPending, "data"},
		"one on another profile":      {func(w *world) { limited(w, 1, "10Gi", other("elsewhere", made)) }, v1alpha1.ReasonSnapshotPending, "data"},
		"as much space as is allowed": {func(w *world) { limited(w, 9, "2Gi", other("a", made)) }, v1alpha1.ReasonQuotaExceeded, "2Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			tc.change(w)
			d := w.decide(t)
			wants(t, d, v1alpha1.ConditionSnapshotReady, tc.reason, tc.message)
			if made := d.Snapshot != nil || d.Cluster != nil; made != (tc.reason == v1alpha1.ReasonSnapshotPending) {
				t.Errorf("made: %+v, %+v", d.Snapshot, d.Cluster)
			}
		})
	}
}

func TestClusterOfBranch(t *testing.T) {
	w := recorded()
	w.facts.Source.Spec.Backup = &v1alpha1.BackupSpec{}
	w.facts.Source.Spec.Instances = new(int32(3))
	cr := w.decide(t).Cluster
	if cr == nil {
		t.Fatal("none")
	}
	s := cr.Spec
	if cr.Name != "pr-1" || *s.Instances != 1 || s.Durability != v1alpha1.DurabilityLocal || s.DeletionPolicy != v1alpha1.DeletionDelete || s.Backup != nil || s.Storage.WALSize.String() != "2Gi" || s.BranchPolicy != v1alpha1.BranchAny {
		t.Errorf("%+v", s)
	}
	if o := s.Origin; o == nil || o.VolumeSnapshots == nil || o.VolumeSnapshots.Data != "d" || o.VolumeSnapshots.WAL != "w" || o.ObjectStore != "" {
		t.Errorf("origin %+v", o)
	}
	if got := s.Postgres.Parameters["max_logical_replication_workers"]; got != "0" {
		t.Errorf("%q workers take the replication slots of the source", got)
	}
	w = newWorld()
	w.facts.Source.Spec.Postgres.Parameters = map[string]string{"max_logical_replication_workers": "8"}
	w.facts.Source.Spec.Backup = &v1alpha1.BackupSpec{ObjectStore: v1alpha1.BackupObjectStore{Name: "lake", Archive: "2"}}
	w.b.Spec.Source.Backup = &v1alpha1.BranchBackup{TargetLSN: "0/3000060", BackupID: "20260301T023000"}
	w.facts.VolumeSnapshots = false
	cr = w.decide(t).Cluster
	if got := cr.Spec.Postgres.Parameters["max_logical_replication_workers"]; got != "0" || w.facts.Source.Spec.Postgres.Parameters["max_logical_replication_workers"] != "8" {
		t.Errorf("%q workers take the replication slots of the source, which has %v", got, w.facts.Source.Spec.Postgres.Parameters)
	}
	if o := cr.Spec.Origin; o.VolumeSnapshots != nil || o.ObjectStore != "lake" || o.Server != "shop.2" || o.TargetLSN != "0/3000060" || o.BackupID != "20260301T023000" {
		t.Errorf("origin %+v", o)
	}
}

func TestDatabaseOfBranch(t *testing.T) {
	w := running()
	d := w.decide(t)
	if d.Status.Endpoint != "pr-1-rw.n.svc" || d.Status.Secret != "pr-1-app" || !slices.Equal(d.Status.Volumes, []string{"pvc-1", "pvc-2"}) {
		t.Errorf("%+v", d.Status)
	}
	w.facts.Cluster.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "ClusterCreating", Message: "one of two"}}
	d = w.decide(t)
	wants(t, d, v1alpha1.ConditionDatabaseReady, "ClusterCreating", "one of two")
	if d.Status.Endpoint != "" {
		t.Error("it has an endpoint")
	}
	w.facts.Cluster = nil
	if d = w.decide(t); d.Cluster != nil {
		t.Error("a PgStorageCluster that another deleted is created again, without its data")
	}
	wants(t, d, v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonClusterNotFound, "deleted by another")
	w = recorded()
	w.facts.ForeignDatabase = "uid"
	if d = w.decide(t); d.Cluster != nil {
		t.Error("it is created although a Cluster has its name")
	}
	wants(t, d, v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonClusterNotOwned, "a CloudNativePG Cluster pr-1")
	w = recorded()
	w.facts.Refusal = "invalid"
	if d = w.decide(t); d.Cluster != nil {
		t.Error("it is created although the API server rejects it")
	}
}

// Until the SQL has run, only the owner may connect, and no endpoint is named.
func TestMasking(t *testing.T) {
	w := running()
	w.b.Spec.Masking = &v1alpha1.BranchMasking{ConfigMap: v1alpha1.MaskingConfigMap{Name: "mask", Key: "mask.sql"}}
	masked := func(reason, message string) Decision {
		t.Helper()
		d := w.decide(t)
		wants(t, d, v1alpha1.ConditionMasked, reason, message)
		if (reason == v1alpha1.ReasonMasked) != (d.Status.Endpoint != "") {
			t.Errorf("%s with endpoint %q", reason, d.Status.Endpoint)
		}
		return d
	}
	masked(v1alpha1.ReasonMaskingNotFound, "mask.sql")
	w.facts.SQL = new("UPDATE people SET name = 'x'")
	if d := masked(v1alpha1.ReasonMasking, "admit only"); len(d.Plan.Objects) > 0 {
		t.Error("the SQL runs while others can connect")
	}
	w.facts.Database.Spec.PostgresConfiguration.PgHBA = []string{"x", cnpg.Reject}
	if d := masked(v1alpha1.ReasonMasking, "runs"); len(d.Plan.Objects) != 1 {
		t.Errorf("%d Jobs", len(d.Plan.Objects))
	}
	w.facts.Jobs = []batchv1.Job{{}}
	job := &w.facts.Jobs[0]
	job.Name = naming.BranchMasking("pr-1", "uid", *w.facts.SQL)
	masked(v1alpha1.ReasonMasking, "runs")
	// One at a time, whatever the ConfigMap has meanwhile.
	sql := w.facts.SQL
	for _, changed := range []*string{nil, new("UPDATE people SET name = 'y'")} {
		w.facts.SQL = changed
		if d := masked(v1alpha1.ReasonMasking, "runs"); len(d.Plan.Objects) > 0 {
			t.Error("two Jobs run at once")
		}
	}
	w.facts.SQL = sql
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	masked(v1alpha1.ReasonMaskingFailed, "kubectl -n n logs job/pr-1-mask-")
	w.facts.SQL = new("UPDATE people SET name = 'y'")
	if d := masked(v1alpha1.ReasonMasking, "runs"); len(d.Plan.Objects) != 1 {
		t.Error("the corrected SQL does not run")
	}
	job.Status.Conditions[0].Type = batchv1.JobComplete
	d := masked(v1alpha1.ReasonMasking, "connections")
	if d.Status.Masked == "" {
		t.Fatal("not recorded")
	}
	w.b.Status.Masked = d.Status.Masked
	masked(v1alpha1.ReasonMasking, "connections")
	w.facts.Database.Spec.PostgresConfiguration.PgHBA = nil
	w.facts.SQL, w.facts.Jobs = nil, nil
	masked(v1alpha1.ReasonMasked, "mask")
	w.b.Status.Masked, w.facts.ForeignJob, w.facts.SQL = "", true, new("SELECT 1")
	masked(v1alpha1.ReasonMaskingFailed, "not of this branch")
}

func TestExpiration(t *testing.T) {
	w := running()
	w.b.Spec.TTL = "2m"
	d := w.decide(t)
	if d.Expired || d.After <= 0 || d.After > time.Minute || d.Status.ExpirationTime == nil {
		t.Errorf("%+v", d)
	}
	w.b.Spec.TTL = "30s"
	if d = w.decide(t); !d.Expired {
		t.Error("it has not expired")
	}
	w.b.Spec.Promote = true
	if d = w.decide(t); d.Expired || d.Status.ExpirationTime != nil {
		t.Error("a promoted branch expires")
	}
}

func TestPromotion(t *testing.T) {
	w := running()
	w.b.Spec.Promote = true
	w.facts.Snapshots = map[string]*snapshotv1.VolumeSnapshot{"d": {}, "w": {}}
	if d := w.decide(t); d.Instances != 2 || d.Primary != "" {
		t.Fatalf("copy: %+v", d)
	}
	w.facts.Cluster.Spec.Instances = new(int32(2))
	w.facts.Claims = append(w.facts.Claims, observed.BranchClaim{Name: "pr-1-2", Instance: "pr-1-2", Volume: "pvc-3"}, observed.BranchClaim{Name: "pr-1-2-wal", Instance: "pr-1-2", Volume: "pvc-4"})
	w.facts.Cluster.Status.Conditions[0].Status = metav1.ConditionFalse
	if d := w.decide(t); d.Instances != 0 || d.Primary != "" {
		t.Errorf("it does not wait for the copy: %+v", d)
	}
	w.facts.Database.Status.Instances, w.facts.Database.Status.ReadyInstances = 2, 2
	if d := w.decide(t); d.Primary != "pr-1-2" || d.Instances != 0 {
		t.Errorf("switch: %+v", d)
	}
	w.facts.Database.Status.TargetPrimary = "pr-1-2"
	if d := w.decide(t); d.Primary != "" || d.Instances != 0 {
		t.Errorf("it does not wait for the switch: %+v", d)
	}
	w.facts.Database.Status.CurrentPrimary = "pr-1-2"
	if d := w.decide(t); d.Instances != 1 {
		t.Errorf("drop: %+v", d)
	}
	w.facts.Cluster.Spec.Instances = new(int32(1))
	w.facts.Claims = w.facts.Claims[2:]
	w.facts.Database.Status.Instances, w.facts.Database.Status.ReadyInstances = 1, 1
	w.facts.Cluster.Status.Conditions[0].Status = metav1.ConditionTrue
	w.facts.Held = []string{"pvc-1"}
	d := w.decide(t)
	wants(t, d, v1alpha1.ConditionIndependent, v1alpha1.ReasonCopying, "pvc-1")
	if len(d.Delete) > 0 {
		t.Error("a snapshot goes before the volumes that were made of it")
	}
	w.facts.Branches = []v1alpha1.PgStorageBranch{{ObjectMeta: metav1.ObjectMeta{Name: "child"}, Spec: v1alpha1.PgStorageBranchSpec{Source: v1alpha1.BranchSource{Cluster: "pr-1"}}, Status: v1alpha1.PgStorageBranchStatus{Snapshots: &v1alpha1.BranchSnapshots{}}}}
	wants(t, w.decide(t), v1alpha1.ConditionIndependent, v1alpha1.ReasonWaitingForChildren, "child")
	w.facts.Held, w.facts.Branches = nil, nil
	if d = w.decide(t); len(d.Delete) != 2 || d.Status.Independent {
		t.Errorf("%d snapshots go", len(d.Delete))
	}
	w.facts.Snapshots = nil
	if d = w.decide(t); !d.Status.Independent || d.Status.Snapshots != nil || !d.Keep {
		t.Errorf("%+v, keep %v", d.Status, d.Keep)
	}
	w.b.Status = d.Status
	d = w.decide(t)
	wants(t, d, v1alpha1.ConditionIndependent, v1alpha1.ReasonIndependent, "stays")
	if d.Keep {
		t.Error("a deletionPolicy that its user changed is changed back")
	}
	w.b.DeletionTimestamp = new(metav1.NewTime(now))
	if d = w.decide(t); len(d.Delete) > 0 || !d.Released {
		t.Errorf("a promoted database goes with its branch: %+v", d.Delete)
	}
}

// Without claims nothing is known to be copied, and the database needs its snapshots.
func TestPromotedFromTheStart(t *testing.T) {
	for name, change := range map[string]func(*world){
		"no claims yet":   func(w *world) { w.facts.Claims, w.facts.Database = nil, nil },
		"not healthy yet": func(w *world) { w.facts.Claims = nil; w.facts.Database.Status.ReadyInstances = 0 },
		"not masked":      func(w *world) { w.b.Spec.Masking = &v1alpha1.BranchMasking{} },
	} {
		w := running()
		w.b.Spec.Promote = true
		w.facts.Snapshots = map[string]*snapshotv1.VolumeSnapshot{"d": {}, "w": {}}
		w.facts.Cluster.Status.Conditions[0].Status = metav1.ConditionFalse
		change(w)
		if d := w.decide(t); len(d.Delete) > 0 || d.Status.Independent || d.Status.Snapshots == nil || d.Instances != 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestSnapshotsTooFarApart(t *testing.T) {
	w := newWorld()
	w.take(w.decide(t).Snapshot, "data")
	for _, s := range w.facts.Snapshots {
		s.Status.CreationTime = new(metav1.NewTime(now.Add(-mostBetween - time.Second)))
	}
	if d := w.decide(t); len(d.Delete) != 1 || d.Snapshot != nil {
		t.Errorf("%d go, %+v", len(d.Delete), d.Snapshot)
	}
	// The WAL was requested in time, and taken late.
	w = newWorld()
	data := w.decide(t).Snapshot
	w.take(data, "data")
	wal := w.decide(t).Snapshot
	w.take(wal, "wal")
	data.Status.CreationTime = new(metav1.NewTime(now.Add(-10 * time.Minute)))
	if d := w.decide(t); len(d.Delete) != 2 || d.Status.Snapshots != nil {
		t.Errorf("%d go, %+v", len(d.Delete), d.Status.Snapshots)
	}
	wal.Status = nil
	if d := w.decide(t); len(d.Delete) != 0 || d.Snapshot != nil {
		t.Errorf("%d go while the WAL is being taken, %+v", len(d.Delete), d.Snapshot)
	}
	// A manager that was away finds both taken in time.
	w.take(wal, "wal")
	wal.Status.CreationTime = data.Status.CreationTime
	if d := w.decide(t); len(d.Delete) != 0 || d.Status.Snapshots == nil {
		t.Errorf("%d go, %+v", len(d.Delete), d.Status.Snapshots)
	}
	w = newWorld()
	w.facts.Refusal = "exceeded quota"
	d := w.decide(t)
	wants(t, d, v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonRejected, "exceeded quota")
}

func TestPromotionRefused(t *testing.T) {
	w := running()
	w.b.Spec.Promote = true
	w.facts.Cluster.Spec.Backup = &v1alpha1.BackupSpec{}
	d := w.decide(t)
	wants(t, d, v1alpha1.ConditionIndependent, v1alpha1.ReasonBranchRefused, "spec.backup")
	if d.Instances != 0 {
		t.Error("it copies the snapshots")
	}
	w.facts.Cluster.Spec.Backup = nil
	w.facts.NoRoom = "PgNodeStorage zfs.a is PoolNearlyFull"
	d = w.decide(t)
	wants(t, d, v1alpha1.ConditionIndependent, v1alpha1.ReasonNotEnoughSpace, "PoolNearlyFull")
	if d.Instances != 0 {
		t.Error("it copies")
	}
}

// The second instance of a user is the copy. With more, CloudNativePG may remove another one.
func TestPromotionOfSeveralInstances(t *testing.T) {
	further := func(names ...string) *world {
		w := running()
		w.b.Spec.Promote = true
		w.facts.Cluster.Spec.Instances = new(int32(1 + len(names)))
		w.facts.Database.Status.Instances, w.facts.Database.Status.ReadyInstances = 1+len(names), 1+len(names)
		for _, name := range names {
			w.facts.Claims = append(w.facts.Claims, observed.BranchClaim{Name: name, Instance: name, Volume: "pvc-" + name})
		}
		return w
	}
	w := further("pr-1-2")
	if d := w.decide(t); d.Primary != "pr-1-2" {
		t.Errorf("the second instance is not the copy: %+v", d)
	}
	w.facts.Cluster.Spec.Backup = &v1alpha1.BackupSpec{}
	if d := w.decide(t); d.Primary != "pr-1-2" {
		t.Errorf("spec.backup stops a copy that exists: %+v", d)
	}
	d := further("pr-1-2", "pr-1-3").decide(t)
	wants(t, d, v1alpha1.ConditionIndependent, v1alpha1.ReasonBranchRefused, "set its spec.instances to 1 first")
	if d.Primary != "" || d.Instances != 0 {
		t.Errorf("it copies: %+v", d)
	}
	// With spec.backup, CloudNativePG made the second instance from the snapshots.
	for _, names := range [][]string{{"pr-1-2"}, {"pr-1-2", "pr-1-3"}} {
		w = further(names...)
		w.facts.Claims[2].FromSnapshot = true
		d = w.decide(t)
		wants(t, d, v1alpha1.ConditionIndependent, v1alpha1.ReasonBranchRefused, "set its spec.instances to 1 first")
		if d.Primary != "" || d.Instances != 0 {
			t.Errorf("it copies beside %v: %+v", names, d)
		}
	}
}

// copied has as many instances with volumes of their own, and none that shares volumes. Its
// snapshots still exist.
func copied(instances int) *world {
	w := running()
	w.b.Spec.Promote = true
	w.facts.Snapshots = map[string]*snapshotv1.VolumeSnapshot{"d": {}, "w": {}}
	w.facts.Cluster.Spec.Instances = new(int32(instances))
	s := &w.facts.Database.Status
	s.Instances, s.ReadyInstances, s.CurrentPrimary, s.TargetPrimary = instances, instances, "pr-1-2", "pr-1-2"
	w.facts.Claims = nil
	for i := range instances {
		name := fmt.Sprintf("pr-1-%d", i+2)
		w.facts.Claims = append(w.facts.Claims, observed.BranchClaim{Name: name, Instance: name, Volume: "pvc-" + name})
	}
	return w
}

// The snapshots of a complete copy can stay for long, because other branches need them. Its user
// may add instances meanwhile: none of them shares volumes, and the operator removes none.
func TestCompleteCopyMayHaveInstances(t *testing.T) {
	child := []v1alpha1.PgStorageBranch{{
		ObjectMeta: metav1.ObjectMeta{Name: "child"}, Spec: v1alpha1.PgStorageBranchSpec{Source: v1alpha1.BranchSource{Cluster: "pr-1"}},
		Status: v1alpha1.PgStorageBranchStatus{Snapshots: &v1alpha1.BranchSnapshots{}},
	}}
	for name, tc := range map[string]struct {
		change          func(*world)
		reason, message string
		deleted         int
	}{
		"it has children": {func(w *world) { w.facts.Branches = child }, v1alpha1.ReasonWaitingForChildren, "child", 0},
		"it has children, and its WAL is archived": {func(w *world) {
			w.facts.Branches, w.facts.Cluster.Spec.Backup = child, &v1alpha1.BackupSpec{}
		}, v1alpha1.ReasonWaitingForChildren, "child", 0},
		"its pool is nearly full": {func(w *world) {
			w.facts.Branches, w.facts.NoRoom = child, "PgNodeStorage zfs.a is PoolNearlyFull"
		}, v1alpha1.ReasonWaitingForChildren, "child", 0},
		"former volumes are left":  {func(w *world) { w.facts.Held = []string{"pvc-1"} }, v1alpha1.ReasonCopying, "pvc-1", 0},
		"an instance is not ready": {func(w *world) { w.facts.Database.Status.ReadyInstances-- }, v1alpha1.ReasonCopying, "Waiting for every instance of PgStorageCluster pr-1 to be ready", 0},
		"nothing is left":          {func(*world) {}, v1alpha1.ReasonCopying, "VolumeSnapshots", 2},
		"the snapshots are gone":   {func(w *world) { w.facts.Snapshots = nil }, v1alpha1.ReasonIndependent, "", 0},
	} {
		for _, instances := range []int{1, 2, 3, 16} {
			w := copied(instances)
			tc.change(w)
			d := w.decide(t)
			wants(t, d, v1alpha1.ConditionIndependent, tc.reason, tc.message)
			if d.Instances != 0 || d.Primary != "" || len(d.Delete) != tc.deleted || d.Status.Independent != (tc.reason == v1alpha1.ReasonIndependent) {
				t.Errorf("%s, %d instances: %+v", name, instances, d)
			}
		}
	}
}

// Each step of a deletion waits for the one before it.
func TestRemoval(t *testing.T) {
	w := running()
	w.b.DeletionTimestamp = new(metav1.NewTime(now))
	w.facts.Snapshots = map[string]*snapshotv1.VolumeSnapshot{"d": {}, "w": {}}
	deleting := func(count int, message string) Decision {
		t.Helper()
		d := w.decide(t)
		if _, text := reason(d, v1alpha1.ConditionDatabaseReady); len(d.Delete) != count || d.Released || !strings.Contains(text, message) {
			t.Errorf("%d go, released %v, %q; want %d and %q", len(d.Delete), d.Released, text, count, message)
		}
		return d
	}
	if d := deleting(1, "PgStorageCluster"); d.Delete[0] != w.facts.Cluster {
		t.Errorf("%T goes first", d.Delete[0])
	}
	w.facts.Cluster = nil
	deleting(0, "claims")
	w.facts.Database = nil
	deleting(0, "claims")
	w.facts.Claims[1].Foreign = true
	deleting(0, "claims [pr-1-1-wal] of CloudNativePG Cluster pr-1")
	w.facts.Claims, w.facts.Held = nil, []string{"pvc-1"}
	if d := deleting(0, "pvc-1"); !slices.Equal(d.Status.Volumes, []string{"pvc-1"}) {
		t.Errorf("a volume that exists is not listed: %v", d.Status.Volumes)
	}
	w.facts.Branches = []v1alpha1.PgStorageBranch{{ObjectMeta: metav1.ObjectMeta{Name: "child"}, Spec: v1alpha1.PgStorageBranchSpec{Source: v1alpha1.BranchSource{Cluster: "pr-1"}}, Status: v1alpha1.PgStorageBranchStatus{Snapshots: &v1alpha1.BranchSnapshots{}}}}
	deleting(0, "child")
	w.facts.Held = nil
	// The driver may report a volume as deleted while clones of it are left.
	deleting(0, "child")
	w.facts.Branches = nil
	deleting(2, "VolumeSnapshots")
	w.facts.Snapshots = map[string]*snapshotv1.VolumeSnapshot{"d": {
		ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.NewTime(now))},
		Status:     &snapshotv1.VolumeSnapshotStatus{Error: &snapshotv1.VolumeSnapshotError{Message: new("has dependent clones")}},
	}}
	deleting(0, "has dependent clones")
	w.facts.Snapshots = nil
	if d := w.decide(t); !d.Released {
		t.Error("it is not released")
	}
}
