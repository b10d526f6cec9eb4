package clusters

import (
	"errors"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// noon is when the facts of these tests were read.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// nightly backs a database up into the ObjectStore lake.
func nightly(s *v1alpha1.PgStorageClusterSpec) {
	s.Backup = &v1alpha1.BackupSpec{
		ObjectStore: v1alpha1.BackupObjectStore{Name: "lake"},
		Schedules:   []v1alpha1.BackupSchedule{{Name: "nightly", Schedule: "30 2 * * *"}},
	}
}

// restored comes from the folder old of the ObjectStore lake.
func restored(s *v1alpha1.PgStorageClusterSpec) {
	s.Origin = &v1alpha1.OriginSpec{ObjectStore: "lake", Server: "old"}
}

// protected are facts about a database that can be restored from yesterday on.
func protected() observed.Cluster {
	f := facts()
	f.ObjectStores = true
	f.Profile.Spec.AllowedOverrides = []string{"bootstrap.recovery", fieldExternalClusters}
	f.Cluster = running("shop", 1)
	f.Cluster.UID = uid
	f.Cluster.Spec.Plugins = []cnpgv1.PluginConfiguration{{Name: cnpg.Plugin, IsWALArchiver: new(true)}}
	archiving := metav1.Condition{Type: string(cnpgv1.ConditionContinuousArchiving), Status: metav1.ConditionTrue}
	f.Cluster.Status.Conditions = append(f.Cluster.Status.Conditions, archiving, cnpgv1.BackupSucceededCondition)
	f.Backup = observed.Backup{At: noon, Store: &observed.ObjectStore{
		Retention: "30d", WALCompression: "lz4", DataCompression: "gzip", Encryption: "AES256",
		Window: observed.RecoveryWindow{First: noon.Add(-34 * time.Hour), LastSuccess: noon.Add(-9 * time.Hour)},
	}}
	f.ReadBack.Archive = observed.Archive{Read: true, At: noon, Last: noon.Add(-3 * time.Minute), Waiting: 1}
	return f
}

// unrestored are facts about a database that is still to be restored.
func unrestored() observed.Cluster {
	f := protected()
	f.Cluster, f.Backup.Origin, f.Backup.Store = nil, f.Backup.Store, nil
	return f
}

func TestBackupPlans(t *testing.T) {
	two := int32(2)
	for name, tc := range map[string]struct {
		change func(*v1alpha1.PgStorageClusterSpec)
		facts  observed.Cluster
	}{
		"backup": {nightly, protected()},
		"backup-from-primary": {func(s *v1alpha1.PgStorageClusterSpec) {
			nightly(s)
			s.Instances, s.Backup.Target, s.Backup.ObjectStore.Archive = &two, v1alpha1.BackupPrimary, "2026"
			s.Backup.MaxArchiveAge = "1m"
			s.Backup.Schedules = append(s.Backup.Schedules, v1alpha1.BackupSchedule{Name: "hourly", Schedule: "@hourly", Suspend: new(true)})
			withOverrides(`{"plugins":[{"name":"other.example"}]}`)(s)
		}, func() observed.Cluster {
			f := protected()
			f.Profile.Spec.AllowedOverrides = []string{"plugins"}
			return f
		}()},
		"backup-new": {nightly, func() observed.Cluster {
			f := protected()
			f.Cluster = nil
			return f
		}()},
		"origin": {func(s *v1alpha1.PgStorageClusterSpec) {
			restored(s)
			s.Origin.TargetTime = "2026-03-02T11:00:00Z"
		}, unrestored()},
		"origin-restore-point": {func(s *v1alpha1.PgStorageClusterSpec) {
			restored(s)
			s.Origin.TargetName, s.Origin.BackupID = "before-migration", "20260301T023000"
		}, unrestored()},
	} {
		t.Run(name, func(t *testing.T) {
			built, err := Build(shop(tc.change), tc.facts, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			golden.Plan(t, "cluster-"+name, &built.Plan)
		})
	}
}

func TestBackedUp(t *testing.T) {
	failed := cnpgv1.BuildClusterBackupFailedCondition(errors.New("no space"))
	for name, tc := range map[string]struct {
		change  func(*v1alpha1.PgStorageCluster)
		facts   func(*observed.Cluster)
		reason  string
		message string
		ready   bool // the condition does not keep the database from Ready
	}{
		"recoverable": {reason: v1alpha1.ReasonRecoverable, ready: true},
		"the plugin is not installed": {
			facts: func(f *observed.Cluster) { f.ObjectStores, f.Backup.Store = false, nil }, reason: v1alpha1.ReasonPluginNotInstalled, message: "spec.backup.objectStore: the Barman Cloud plugin",
		},
		"no store": {
			facts: func(f *observed.Cluster) { f.Backup.Store = nil }, reason: v1alpha1.ReasonObjectStoreNotFound, message: `ObjectStore "lake" does not exist`,
		},
		"a ScheduledBackup of another database": {
			facts: func(f *observed.Cluster) { f.Backup.ForeignSchedule = "shop-nightly" }, reason: v1alpha1.ReasonClusterNotOwned, message: "ScheduledBackup shop-nightly of another database",
		},
		"a schedule without times": {
			change: func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup.Schedules[0].Schedule = "61 2 * * *" }, reason: v1alpha1.ReasonInvalidSpec, message: "spec.backup.schedules[nightly].schedule: end of range (61)",
		},
		"no database yet": {
			facts: func(f *observed.Cluster) { f.Cluster = nil }, reason: v1alpha1.ReasonFirstBackupPending, message: "Waiting for the database", ready: true,
		},
		"a database without the plugin": {
			facts: func(f *observed.Cluster) { f.Cluster.Spec.Plugins = nil }, reason: v1alpha1.ReasonFirstBackupPending, message: "Waiting for the database", ready: true,
		},
		"archiving fails": {
			facts: func(f *observed.Cluster) { archivingFails(f, "exit status 4") }, reason: v1alpha1.ReasonArchivingFailing, message: "until it is: exit status 4. Check", ready: true,
		},
		"the folder has other WAL": {
			facts: func(f *observed.Cluster) {
				archivingFails(f, "rpc error: code = Unknown desc = unexpected failure invoking barman-cloud-wal-archive: exit status 1")
				f.ReadBack.Archive.Last = time.Time{}
			}, reason: v1alpha1.ReasonArchiveNotEmpty, message: "the folder shop of ObjectStore lake has the WAL", ready: true,
		},
		"Barman fails later": {
			facts: func(f *observed.Cluster) { archivingFails(f, "exit status 1") }, reason: v1alpha1.ReasonArchivingFailing, message: "exit status 1", ready: true,
		},
		"nothing was ever archived": {
			facts: func(f *observed.Cluster) {
				archivingFails(f, "exit status 4")
				f.ReadBack.Archive.Last = time.Time{}
			}, reason: v1alpha1.ReasonArchivingFailing, message: "exit status 4", ready: true,
		},
		"backups of an earlier database": {
			facts: func(f *observed.Cluster) { f.Cluster.CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour)) }, reason: v1alpha1.ReasonFirstBackupPending, message: "first base backup", ready: true,
		},
		"WAL waits": {
			facts: func(f *observed.Cluster) { f.ReadBack.Archive.Last = noon.Add(-16 * time.Minute) }, reason: v1alpha1.ReasonArchiveLate, message: "more than 15m0s ago", ready: true,
		},
		"an old answer, and WAL waited for a moment then": {
			change: func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup.MaxArchiveAge = "1m" },
			facts: func(f *observed.Cluster) {
				f.ReadBack.Archive = observed.Archive{Read: true, At: noon.Add(-3 * time.Minute), Last: noon.Add(-3*time.Minute - 2*time.Second), Waiting: 2}
			}, reason: v1alpha1.ReasonRecoverable, ready: true,
		},
		"an old answer, and WAL waited for long then": {
			change: func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup.MaxArchiveAge = "1m" },
			facts: func(f *observed.Cluster) {
				f.ReadBack.Archive = observed.Archive{Read: true, At: noon.Add(-3 * time.Minute), Last: noon.Add(-5 * time.Minute), Waiting: 2}
			}, reason: v1alpha1.ReasonArchiveLate, message: "more than 1m0s ago", ready: true,
		},
		"nothing was written": {
			facts: func(f *observed.Cluster) {
				f.ReadBack.Archive = observed.Archive{Read: true, At: noon, Last: noon.Add(-48 * time.Hour)}
			}, reason: v1alpha1.ReasonRecoverable, ready: true,
		},
		"the last backup failed": {
			facts: func(f *observed.Cluster) {
				f.Cluster.Status.Conditions = append(f.Cluster.Status.Conditions[:2:2], failed)
			}, reason: v1alpha1.ReasonBackupFailed, message: "the last base backup failed: no space", ready: true,
		},
		"no backup yet": {
			facts: func(f *observed.Cluster) { f.Backup.Store.Window = observed.RecoveryWindow{} }, reason: v1alpha1.ReasonFirstBackupPending, message: "first base backup", ready: true,
		},
		"one time passed": {
			facts: func(f *observed.Cluster) { f.Backup.Store.Window.LastSuccess = noon.Add(-30 * time.Hour) }, reason: v1alpha1.ReasonRecoverable, ready: true,
		},
		"two times passed": {
			facts: func(f *observed.Cluster) { f.Backup.Store.Window.LastSuccess = noon.Add(-34 * time.Hour) }, reason: v1alpha1.ReasonBackupOverdue, message: "schedule nightly came twice", ready: true,
		},
		"a suspended schedule": {
			change: func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup.Schedules[0].Suspend = new(true) },
			facts:  func(f *observed.Cluster) { f.Backup.Store.Window.LastSuccess = noon.Add(-340 * time.Hour) }, reason: v1alpha1.ReasonRecoverable, ready: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cr, f := shop(nightly), protected()
			if tc.change != nil {
				tc.change(cr)
			}
			if tc.facts != nil {
				tc.facts(&f)
			}
			o := conditionOf(t, cr, f, v1alpha1.ConditionBackedUp)
			if o == nil || o.Reason != tc.reason || !strings.Contains(o.Message, tc.message) || o.Informative != tc.ready {
				t.Errorf("%+v", o)
			}
		})
	}
	if o := conditionOf(t, shop(nil), protected(), v1alpha1.ConditionBackedUp); o != nil {
		t.Errorf("without spec.backup: %+v", o)
	}
}

// What a verification found is about the folder that it read. A status that names no folder
// is of an earlier operator.
func TestVerificationIsOfAFolder(t *testing.T) {
	at := metav1.NewTime(noon.Add(-time.Hour))
	for name, tc := range map[string]struct {
		store, server string
		counts        bool
	}{
		"this folder":     {"lake", "shop.2", true},
		"another store":   {"vault", "shop.2", false},
		"another folder":  {"lake", "shop", false},
		"no folder known": {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			cr, f := shop(nightly), protected()
			cr.Spec.Backup.ObjectStore.Archive, cr.Spec.Backup.Verify = "2", &v1alpha1.BackupVerifySpec{Schedule: "0 4 * * *"}
			cr.Status.BackupVerification = &v1alpha1.BackupVerificationStatus{
				ObjectStore: tc.store, Server: tc.server, LastVerified: &at, Last: &v1alpha1.BackupVerificationResult{Reason: v1alpha1.ReasonVerified},
			}
			o := conditionOf(t, cr, f, v1alpha1.ConditionRestoreVerified)
			if counts := o.Kind == outcome.Done; counts != tc.counts || !counts && (!o.Unknown || o.Reason != v1alpha1.ReasonVerificationPending) {
				t.Errorf("%+v", o)
			}
			built, err := Build(cr, f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			if b := built.Status(cr, f).Backup; (b.LastVerified != nil) != tc.counts {
				t.Errorf("%+v", b)
			}
		})
	}
}

func archivingFails(f *observed.Cluster, message string) {
	for i := range f.Cluster.Status.Conditions {
		if c := &f.Cluster.Status.Conditions[i]; c.Type == string(cnpgv1.ConditionContinuousArchiving) {
			c.Status, c.Message = metav1.ConditionFalse, message
		}
	}
}

// A store that is missing holds back a new database, and leaves one that runs as it is.
func TestMissingStoreStopsNoDatabase(t *testing.T) {
	for name, tc := range map[string]struct {
		facts    func(*observed.Cluster)
		held     bool
		archives bool
	}{
		"a new database":          {func(f *observed.Cluster) { f.Cluster = nil }, true, true},
		"one without the plugin":  {func(f *observed.Cluster) { f.Cluster.Spec.Plugins = nil }, false, false},
		"one that archives":       {func(*observed.Cluster) {}, false, true},
		"one that is adopted":     {func(f *observed.Cluster) { f.Adoptee, f.Cluster = f.Cluster, nil }, false, true},
		"one whose plugin is off": {func(f *observed.Cluster) { f.Cluster.Spec.Plugins[0].Enabled = new(false) }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := protected()
			f.Backup.Store = nil
			tc.facts(&f)
			built, err := Build(shop(nightly), f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			if _, held := built.Plan.GateOf(plan.StageDatabase); held != tc.held {
				t.Errorf("held %t", held)
			}
			if got := strings.Contains(text(t, &built.Plan), "isWALArchiver: true"); got != tc.archives {
				t.Errorf("archives %t", got)
			}
			if _, held := built.Plan.GateOf(plan.StageBackups); !held {
				t.Error("a backup is scheduled")
			}
		})
	}
}

// CloudNativePG stops managing a database whose Cluster names an ObjectStore that does not
// exist. So a wrong name is not applied, and the message says what happens meanwhile.
func TestWrongStoreIsNotApplied(t *testing.T) {
	for name, tc := range map[string]struct {
		spec, message string
	}{
		"a wrong name":     {"laek", "the database archives to ObjectStore lake as before"},
		"one that is gone": {"lake", "CloudNativePG does not manage this database"},
	} {
		t.Run(name, func(t *testing.T) {
			cr, f := shop(nightly), protected()
			cr.Spec.Backup.ObjectStore = v1alpha1.BackupObjectStore{Name: tc.spec, Archive: "2"}
			f.Backup.Store = nil
			f.Cluster.Spec.Plugins[0].Parameters = map[string]string{"barmanObjectName": "lake", "serverName": "shop", "other": "x"}
			built, err := Build(cr, f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			applied := text(t, &built.Plan)
			for _, is := range []string{"barmanObjectName: lake", "serverName: shop\n"} {
				if !strings.Contains(applied, is) {
					t.Errorf("the plan has no %q", is)
				}
			}
			for _, not := range []string{"barmanObjectName: laek", "serverName: shop.2", "other: x"} {
				if strings.Contains(applied, not) {
					t.Errorf("the plan has %q", not)
				}
			}
			if o := conditionOf(t, cr, f, v1alpha1.ConditionBackedUp); o.Reason != v1alpha1.ReasonObjectStoreNotFound || !strings.Contains(o.Message, tc.message) {
				t.Errorf("%+v", o)
			}
		})
	}
}

// A database that was restored still names the ObjectStore that it came from.
func TestLostOriginIsReported(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.PgStorageClusterSpec)
		origin *observed.ObjectStore
		lost   bool
	}{
		"the store is gone": {restored, nil, true},
		"the store exists":  {restored, &observed.ObjectStore{}, false},
		"of VolumeSnapshots": {func(s *v1alpha1.PgStorageClusterSpec) {
			s.Origin = &v1alpha1.OriginSpec{VolumeSnapshots: &v1alpha1.OriginVolumeSnapshots{Data: "a"}}
		}, nil, false},
		"it was not restored": {nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			cr, f := shop(tc.change), protected()
			f.Backup.Origin = tc.origin
			o := conditionOf(t, cr, f, v1alpha1.ConditionSourceReady)
			if lost := o != nil && o.Kind == outcome.Wait && o.Reason == v1alpha1.ReasonObjectStoreNotFound && !o.Informative; lost != tc.lost || !lost && o != nil {
				t.Errorf("%+v", o)
			}
			if tc.lost && !strings.Contains(o.Message, "CloudNativePG does not manage this database") {
				t.Errorf("%+v", o)
			}
			built, err := Build(cr, f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			if gate, held := built.Plan.GateOf(plan.StageDatabase); held {
				t.Errorf("held: %+v", gate)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	at := func(d time.Duration) func(*v1alpha1.PgStorageCluster) {
		return func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Origin.TargetTime = noon.Add(d).Format(time.RFC3339Nano) }
	}
	for name, tc := range map[string]struct {
		change  func(*v1alpha1.PgStorageCluster)
		facts   func(*observed.Cluster)
		reason  string
		message string
	}{
		"all WAL":           {reason: v1alpha1.ReasonReady},
		"within the window": {change: at(-time.Hour), reason: v1alpha1.ReasonReady},
		"before the window": {change: at(-48 * time.Hour), reason: v1alpha1.ReasonOriginRefused, message: "can be restored from 2026-03-01T02:00:00Z on"},
		"no time": {
			change: func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Origin.TargetTime = "2026-03-02 11:00:00Z" }, reason: v1alpha1.ReasonOriginRefused, message: "as in RFC 3339",
		},
		"in the future": {change: at(time.Minute), reason: v1alpha1.ReasonOriginRefused, message: "is in the future"},
		"a window that is not known": {
			change: at(-48 * time.Hour), facts: func(f *observed.Cluster) { f.Backup.Origin.Window = observed.RecoveryWindow{} }, reason: v1alpha1.ReasonReady,
		},
		"no plugin": {facts: func(f *observed.Cluster) { f.ObjectStores = false }, reason: v1alpha1.ReasonPluginNotInstalled, message: "spec.origin.objectStore"},
		"no store":  {facts: func(f *observed.Cluster) { f.Backup.Origin = nil }, reason: v1alpha1.ReasonObjectStoreNotFound, message: `"lake"`},
		"its own archive": {change: func(cr *v1alpha1.PgStorageCluster) {
			nightly(&cr.Spec)
			cr.Spec.Origin.Server = "shop"
		}, reason: v1alpha1.ReasonOriginRefused, message: "shop is the folder that this database archives to"},
	} {
		t.Run(name, func(t *testing.T) {
			cr, f := shop(restored), unrestored()
			if tc.change != nil {
				tc.change(cr)
			}
			if tc.facts != nil {
				tc.facts(&f)
			}
			built, err := Build(cr, f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			o, _ := built.Outcomes.Get(v1alpha1.ConditionSourceReady)
			if o.Reason != tc.reason || !strings.Contains(o.Message, tc.message) {
				t.Errorf("%+v", o)
			}
			if _, held := built.Plan.GateOf(plan.StageDatabase); held == (tc.reason == v1alpha1.ReasonReady) {
				t.Errorf("held %t", held)
			}
		})
	}
}

func TestRestoreNeedsConsent(t *testing.T) {
	f := unrestored()
	f.Profile.Spec.AllowedOverrides = []string{fieldExternalClusters}
	built, err := Build(shop(restored), f, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	refusedBy(t, built, v1alpha1.ReasonOverrideRefused, "add bootstrap.recovery to spec.allowedOverrides")
}

func TestRefusedBackups(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*v1alpha1.PgStorageClusterSpec)
		message string
	}{
		"a second plugin of the name": {func(s *v1alpha1.PgStorageClusterSpec) {
			withOverrides(`{"plugins":[{"name":"barman-cloud.cloudnative-pg.io"}]}`)(s)
		}, "spec.cnpg.spec.plugins[0].name: barman-cloud.cloudnative-pg.io is set from another field"},
		"another way to make it": {func(s *v1alpha1.PgStorageClusterSpec) {
			restored(s)
			withOverrides(`{"bootstrap":{"initdb":{"locale":"C"}}}`)(s)
		}, "spec.cnpg.spec.bootstrap: spec.origin restores the database"},
		"another external cluster of the name": {func(s *v1alpha1.PgStorageClusterSpec) {
			restored(s)
			withOverrides(`{"externalClusters":[{"name":"origin"}]}`)(s)
		}, "spec.cnpg.spec.externalClusters[0].name: origin is set from another field"},
		"from a standby without page images": {func(s *v1alpha1.PgStorageClusterSpec) {
			withoutFullPages(s)
			s.Backup.Target = v1alpha1.BackupPreferStandby
		}, "spec.backup.target: with full_page_writes=off"},
	} {
		t.Run(name, func(t *testing.T) {
			f := protected()
			inTheirPlace(&f)
			f.Profile.Spec.AllowedOverrides = []string{"plugins", "bootstrap.recovery", fieldExternalClusters}
			built, err := Build(shop(func(s *v1alpha1.PgStorageClusterSpec) {
				nightly(s)
				tc.change(s)
			}), f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			refusedBy(t, built, v1alpha1.ReasonOverrideRefused, tc.message)
		})
	}
}

func TestBackupStatus(t *testing.T) {
	cr, f := shop(nightly), protected()
	built, err := Build(cr, f, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	s := built.Status(cr, f)
	b := s.Backup
	if b == nil || b.Server != "shop" || b.Retention != "30d" || b.WALCompression != "lz4" || b.DataCompression != "gzip" || b.Encryption != "AES256" ||
		!b.FirstRecoverabilityPoint.Time.Equal(noon.Add(-34*time.Hour)) || b.LastFailedBackup != nil || !b.LastArchived.Time.Equal(noon.Add(-3*time.Minute)) || *b.WaitingWAL != 1 {
		t.Fatalf("%+v", b)
	}
	if l := lossOf(t, s.Durability, "SiteLoss"); l.AcknowledgedCommits != "MayBeLost" || !strings.Contains(l.Detail, "what ObjectStore lake has can be restored") {
		t.Errorf("%+v", l)
	}
	if l := lossOf(t, s.Durability, "NodeLoss"); l.AcknowledgedCommits == "Kept" || !strings.Contains(l.Detail, "; if no volume is left, what ObjectStore lake has can be restored") {
		t.Errorf("%+v", l)
	}
	// What was archived last stays in the status while nothing is read.
	cr.Status.Backup, f.ReadBack.Archive = b, observed.Archive{}
	if again := built.Status(cr, f).Backup; !again.LastArchived.Equal(b.LastArchived) || *again.WaitingWAL != 1 {
		t.Errorf("%+v", again)
	}
	f.Backup.Store.Window = observed.RecoveryWindow{}
	if l := lossOf(t, built.Status(cr, f).Durability, "SiteLoss"); l.AcknowledgedCommits != "Lost" {
		t.Errorf("without a backup: %+v", l)
	}
	if l := lossOf(t, built.Status(cr, f).Durability, "NodeLoss"); strings.Contains(l.Detail, "ObjectStore") {
		t.Errorf("without a backup: %+v", l)
	}
}
