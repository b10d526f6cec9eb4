package clusters

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// hourly adds a schedule with VolumeSnapshots to that of nightly.
func hourly(s *v1alpha1.PgStorageClusterSpec) {
	nightly(s)
	s.Backup.Schedules = append(s.Backup.Schedules, v1alpha1.BackupSchedule{Name: "hourly", Schedule: "@hourly", Method: v1alpha1.BackupByVolumeSnapshot, Keep: new(int32(2))})
}

// taken is a Backup as VolumeSnapshots that ended so long before noon.
func taken(before time.Duration) *cnpgv1.Backup {
	at := metav1.NewTime(noon.Add(-before))
	return &cnpgv1.Backup{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("shop-hourly-%s", before), CreationTimestamp: metav1.NewTime(at.Add(-time.Minute))},
		Status:     cnpgv1.BackupStatus{Phase: cnpgv1.BackupPhaseCompleted, StoppedAt: &at},
	}
}

// withSnapshots are facts about a database on storage that has VolumeSnapshots.
func withSnapshots() observed.Cluster {
	f := protected()
	f.VolumeSnapshots = true
	f.Profile.Spec.External.VolumeSnapshotClassName = "fast-snapshots"
	f.Backup.SnapshotClass = true
	f.Backup.Snapshots = map[string][]*cnpgv1.Backup{"hourly": {taken(90 * time.Minute), taken(30 * time.Minute)}}
	return f
}

func branching() Config {
	c := config
	c.Branches = true
	return c
}

func TestSnapshotBackupPlans(t *testing.T) {
	again := unrestored()
	again.VolumeSnapshots = true
	for name, tc := range map[string]struct {
		change func(*v1alpha1.PgStorageClusterSpec)
		facts  observed.Cluster
	}{
		"backup-snapshots": {hourly, withSnapshots()},
		"origin-snapshots-and-store": {func(s *v1alpha1.PgStorageClusterSpec) {
			restored(s)
			s.Origin.VolumeSnapshots = &v1alpha1.OriginVolumeSnapshots{Data: "shop-hourly-1", WAL: "shop-hourly-1-wal"}
			s.Origin.TargetTime = "2026-02-01T11:00:00Z" // before the first base backup of the store
		}, again},
	} {
		t.Run(name, func(t *testing.T) {
			built, err := Build(shop(tc.change), tc.facts, catalog.All(), branching())
			if err != nil {
				t.Fatal(err)
			}
			golden.Plan(t, "cluster-"+name, &built.Plan)
		})
	}
}

func TestSnapshotBackups(t *testing.T) {
	const field = "spec.backup.schedules[hourly].method: "
	for name, tc := range map[string]struct {
		facts   func(*observed.Cluster)
		config  *Config
		reason  string
		message string
		// scheduled says that the backups are taken all the same.
		scheduled bool
	}{
		"in order": {reason: v1alpha1.ReasonRecoverable, scheduled: true},
		"the feature is off": {
			config: &config, reason: v1alpha1.ReasonInvalidSpec, message: field + "VolumeSnapshot needs the feature gate Branches",
		},
		"no class in the profile": {
			facts: func(f *observed.Cluster) { f.Profile.Spec.External.VolumeSnapshotClassName = "" }, reason: v1alpha1.ReasonInvalidSpec, message: field + "the PgStorageProfile has no VolumeSnapshotClass",
		},
		"volumes on a node": {
			facts: onNode, reason: v1alpha1.ReasonInvalidSpec, message: field + "the volumes of this profile are on one node",
		},
		"no CRDs": {
			facts: func(f *observed.Cluster) { f.VolumeSnapshots = false }, reason: v1alpha1.ReasonCRDNotInstalled, message: field + "the CRDs of VolumeSnapshots are not installed",
		},
		"no class": {
			facts: func(f *observed.Cluster) { f.Backup.SnapshotClass = false }, reason: v1alpha1.ReasonSnapshotClassNotFound, message: field + "VolumeSnapshotClass fast-snapshots",
		},
		"none yet": {
			facts: func(f *observed.Cluster) { f.Backup.Snapshots = nil }, reason: v1alpha1.ReasonFirstBackupPending, message: "first backup of schedule hourly", scheduled: true,
		},
		"two times passed": {
			facts: func(f *observed.Cluster) { f.Backup.Snapshots["hourly"] = []*cnpgv1.Backup{taken(3 * time.Hour)} }, reason: v1alpha1.ReasonBackupOverdue, message: "schedule hourly came twice", scheduled: true,
		},
		"base backups are late": {
			facts: func(f *observed.Cluster) { f.Backup.Store.Window.LastSuccess = noon.Add(-34 * time.Hour) }, reason: v1alpha1.ReasonBackupOverdue, message: "schedule nightly", scheduled: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cr, f, c := shop(hourly), withSnapshots(), branching()
			if tc.facts != nil {
				tc.facts(&f)
			}
			if tc.config != nil {
				c = *tc.config
			}
			built, err := Build(cr, f, catalog.All(), c)
			if err != nil {
				t.Fatal(err)
			}
			o, _ := built.AllOutcomes(cr, f).Get(v1alpha1.ConditionBackedUp)
			if o.Reason != tc.reason || !strings.Contains(o.Message, tc.message) || !o.Informative {
				t.Errorf("%+v", o)
			}
			plan := text(t, &built.Plan)
			if strings.Contains(plan, "method: volumeSnapshot") != tc.scheduled || strings.Contains(plan, "className: fast-snapshots") != tc.scheduled {
				t.Errorf("scheduled: want %v in\n%s", tc.scheduled, plan)
			}
			if !strings.Contains(plan, "name: shop-nightly") {
				t.Error("backups to the store are not taken")
			}
		})
	}
}

// onNode has the facts of a database on local ZFS.
func onNode(f *observed.Cluster) {
	f.Profile.Spec = v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeZFSLocalPV, ZFSLocalPV: &v1alpha1.ZFSLocalPVProfile{}}
}

// CloudNativePG would make each new standby of the newest snapshot, on the node of the primary.
func TestSnapshotsOfLocalVolumesAreRefused(t *testing.T) {
	const overridden = `{"backup":{"volumeSnapshot":{"className":"x"}}}`
	f := withSnapshots()
	if built, err := Build(shop(withOverrides(overridden)), f, catalog.All(), branching()); err != nil || !strings.Contains(text(t, &built.Plan), "className: x") {
		t.Errorf("on storage of the network: %v", err)
	}
	onNode(&f)
	built, err := Build(shop(withOverrides(overridden)), f, catalog.All(), branching())
	if err != nil {
		t.Fatal(err)
	}
	refusedBy(t, built, v1alpha1.ReasonOverrideRefused, "spec.cnpg.spec.backup.volumeSnapshot: the volumes of this profile are on one node")
}

func TestOldBackups(t *testing.T) {
	failed, running, going, lately := taken(9*time.Hour), taken(8*time.Hour), taken(7*time.Hour), taken(time.Minute)
	failed.Status.Phase, running.Status.Phase, lately.Status.Phase = cnpgv1.BackupPhaseFailed, cnpgv1.BackupPhaseRunning, cnpgv1.BackupPhaseFailed
	going.DeletionTimestamp = new(metav1.NewTime(noon))
	some := []*cnpgv1.Backup{taken(5 * time.Hour), taken(time.Hour), failed, taken(3 * time.Hour), running, going, lately}
	for name, tc := range map[string]struct {
		keep    *int32
		backups []*cnpgv1.Backup
		want    []string
	}{
		"none":             {new(int32(1)), nil, nil},
		"as many as kept":  {new(int32(3)), []*cnpgv1.Backup{some[0], some[1], some[3]}, nil},
		"fewer than kept":  {new(int32(4)), []*cnpgv1.Backup{some[0], some[1], failed}, nil},
		"two of three":     {new(int32(2)), some, []string{"shop-hourly-5h0m0s", "shop-hourly-9h0m0s"}},
		"only the newest":  {new(int32(1)), some, []string{"shop-hourly-3h0m0s", "shop-hourly-5h0m0s", "shop-hourly-9h0m0s"}},
		"by default seven": {nil, some, nil},
	} {
		t.Run(name, func(t *testing.T) {
			cr, f := shop(hourly), withSnapshots()
			cr.Spec.Backup.Schedules[1].Keep = tc.keep
			f.Backup.Snapshots["hourly"] = tc.backups
			built, err := Build(cr, f, catalog.All(), branching())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range built.OldBackups {
				got = append(got, b.GetName())
			}
			slices.Sort(got)
			if !slices.Equal(got, tc.want) {
				t.Errorf("%v go, want %v", got, tc.want)
			}
		})
	}
	off := withSnapshots()
	off.Backup.Snapshots["hourly"] = some
	if built, err := Build(shop(hourly), off, catalog.All(), config); err != nil || len(built.OldBackups) > 0 {
		t.Errorf("without the feature %d go, %v", len(built.OldBackups), err)
	}
}

func TestSnapshotStatus(t *testing.T) {
	cr, f := shop(hourly), withSnapshots()
	built, err := Build(cr, f, catalog.All(), branching())
	if err != nil {
		t.Fatal(err)
	}
	s := built.Status(cr, f).Backup.VolumeSnapshots
	if s == nil || s.Count != 2 || s.Newest != "shop-hourly-30m0s" || !s.NewestTime.Time.Equal(noon.Add(-30*time.Minute)) {
		t.Errorf("%+v", s)
	}
	f.Backup.Snapshots = nil
	if s := built.Status(cr, f).Backup.VolumeSnapshots; s != nil {
		t.Errorf("%+v", s)
	}
}
