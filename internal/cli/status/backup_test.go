package status

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
)

func TestProtectionIsShownAtAGlance(t *testing.T) {
	overrides := func(text string) *v1alpha1.CNPGOverrides {
		return &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(text)}}
	}
	first := metav1.NewTime(time.Date(2026, 3, 1, 3, 0, 0, 0, time.FixedZone("CET", 3600)))
	backup := &v1alpha1.BackupSpec{}
	for name, tc := range map[string]struct {
		spec   v1alpha1.PgStorageClusterSpec
		status *v1alpha1.BackupStatus
		want   []string
	}{
		"recoverable": {v1alpha1.PgStorageClusterSpec{Backup: backup}, &v1alpha1.BackupStatus{FirstRecoverabilityPoint: &first}, []string{"recoverable from 2026-03-01 02:00 UTC", "backups are not verified"}},
		"with VolumeSnapshots": {v1alpha1.PgStorageClusterSpec{Backup: backup}, &v1alpha1.BackupStatus{
			FirstRecoverabilityPoint: &first, VolumeSnapshots: &v1alpha1.VolumeSnapshotBackups{Count: 7, Newest: "shop-hourly-7", NewestTime: &first},
		}, []string{"recoverable from 2026-03-01 02:00 UTC", "backups are not verified", "7 backups as VolumeSnapshots, the newest 2026-03-01 02:00 UTC"}},
		"before the first backup":    {v1alpha1.PgStorageClusterSpec{Backup: backup}, &v1alpha1.BackupStatus{}, []string{"no backup yet"}},
		"without an ObjectStore":     {v1alpha1.PgStorageClusterSpec{Backup: backup}, nil, nil},
		"none declared":              {v1alpha1.PgStorageClusterSpec{}, nil, []string{"no backup is declared"}},
		"removed, status not yet":    {v1alpha1.PgStorageClusterSpec{}, &v1alpha1.BackupStatus{FirstRecoverabilityPoint: &first}, []string{"no backup is declared"}},
		"a follower":                 {v1alpha1.PgStorageClusterSpec{Follow: &v1alpha1.FollowSpec{Cluster: "shop"}}, nil, nil},
		"a database in memory":       {v1alpha1.PgStorageClusterSpec{Durability: v1alpha1.DurabilityEphemeral}, nil, nil},
		"a backup by an override":    {v1alpha1.PgStorageClusterSpec{CNPG: overrides(`{"backup":{"volumeSnapshot":{}}}`)}, nil, nil},
		"a plugin by an override":    {v1alpha1.PgStorageClusterSpec{CNPG: overrides(`{"plugins":[{"name":"a.example"}]}`)}, nil, nil},
		"an override of other kinds": {v1alpha1.PgStorageClusterSpec{CNPG: overrides(`{"description":"a"}`)}, nil, []string{"no backup is declared"}},
	} {
		cr := &v1alpha1.PgStorageCluster{Spec: tc.spec}
		cr.Status.Backup = tc.status
		got := Builder{}.Cluster(snapshot.Cluster{Cluster: cr}).Details
		if !slices.Equal(got[1:], tc.want) {
			t.Errorf("%s: %q, want %q", name, got[1:], tc.want)
		}
	}
}

func TestVerificationIsShownAtAGlance(t *testing.T) {
	at := func(minute int) *metav1.Time {
		return new(metav1.NewTime(time.Date(2026, 3, 1, 4, minute, 0, 0, time.UTC)))
	}
	verified := func(phase string, last *v1alpha1.BackupVerificationResult) *v1alpha1.BackupVerificationStatus {
		return &v1alpha1.BackupVerificationStatus{Step: phase, LastVerified: at(5), Last: last}
	}
	passed := &v1alpha1.BackupVerificationResult{Reason: v1alpha1.ReasonVerified, CompletionTime: at(5), RestoreSeconds: new(int64(65))}
	for want, s := range map[string]*v1alpha1.BackupVerificationStatus{
		"not verified yet":                                 {Last: &v1alpha1.BackupVerificationResult{Reason: v1alpha1.ReasonRestoreFailed, CompletionTime: at(5)}},
		"verifying a backup (Restoring)":                   {Step: v1alpha1.VerifyRestoring},
		"verifying a backup (Checking)":                    verified(v1alpha1.VerifyChecking, passed),
		"verified 2026-03-01 04:05 UTC (restored in 1m5s)": verified(v1alpha1.VerifyRemoving, passed),
		"verified 2026-03-01 04:05 UTC":                    verified("", &v1alpha1.BackupVerificationResult{CompletionTime: at(9), RestoreSeconds: new(int64(7))}),
	} {
		cr := &v1alpha1.PgStorageCluster{Spec: v1alpha1.PgStorageClusterSpec{Backup: &v1alpha1.BackupSpec{Verify: &v1alpha1.BackupVerifySpec{}}}}
		cr.Status.Backup, cr.Status.BackupVerification = &v1alpha1.BackupStatus{FirstRecoverabilityPoint: at(0), LastVerified: s.LastVerified}, s
		got := Builder{}.Cluster(snapshot.Cluster{Cluster: cr}).Details
		if !slices.Equal(got[1:], []string{"recoverable from 2026-03-01 04:00 UTC", want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	cr := &v1alpha1.PgStorageCluster{Spec: v1alpha1.PgStorageClusterSpec{Backup: &v1alpha1.BackupSpec{Verify: &v1alpha1.BackupVerifySpec{}}}}
	cr.Status.Backup = &v1alpha1.BackupStatus{FirstRecoverabilityPoint: at(0)}
	if got := verification(cr); got != "not verified yet" {
		t.Error(got)
	}
	// Another folder was verified.
	cr.Status.BackupVerification = verified("", passed)
	if got := verification(cr); got != "not verified yet" {
		t.Error(got)
	}
}
