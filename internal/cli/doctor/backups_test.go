package doctor

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// database is Ready, and has these conditions besides.
func database(name string, conditions ...metav1.Condition) v1alpha1.PgStorageCluster {
	cr := v1alpha1.PgStorageCluster{ObjectMeta: named("prod", name, nil)}
	cr.Spec.Durability, cr.Spec.Backup = v1alpha1.DurabilityLocal, &v1alpha1.BackupSpec{}
	cr.Status.Conditions = append(conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady})
	return cr
}

func notBackedUp(reason string) metav1.Condition {
	return metav1.Condition{Type: v1alpha1.ConditionBackedUp, Status: metav1.ConditionFalse, Reason: reason, Message: "WAL waits"}
}

// about returns the findings of an area that are not OK, one a line.
func about(t *testing.T, f Facts, area string) string {
	t.Helper()
	var out strings.Builder
	for _, finding := range Check(f, book(t)) {
		if finding.Area == area && finding.Level != OK {
			fmt.Fprintf(&out, "%s %s: %s; %s, %s\n", finding.Level, finding.Subject, finding.Message, finding.Remedy, finding.Link[strings.LastIndex(finding.Link, "/")+1:])
		}
	}
	return out.String()
}

func TestBackupsOfDatabases(t *testing.T) {
	waiting := database("waits", notBackedUp(v1alpha1.ReasonObjectStoreNotFound))
	waiting.Status.Conditions[1].Status, waiting.Status.Conditions[1].Reason, waiting.Status.Conditions[1].Message = metav1.ConditionFalse, v1alpha1.ReasonObjectStoreNotFound, "no store"
	bare, pool, memory := database("bare"), database("pool"), database("memory")
	bare.Spec.Backup, pool.Spec.Backup, memory.Spec.Backup = nil, nil, nil
	pool.Spec.Follow, memory.Spec.Durability = &v1alpha1.FollowSpec{Cluster: "bare"}, v1alpha1.DurabilityEphemeral
	f := healthy(t)
	f.Clusters = []v1alpha1.PgStorageCluster{
		database("fine", metav1.Condition{Type: v1alpha1.ConditionBackedUp, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonRecoverable}),
		database("failing", notBackedUp(v1alpha1.ReasonArchivingFailing)),
		waiting, bare, pool, memory,
	}
	want := "Warning prod/failing: not backed up: ArchivingFailing: WAL waits; kubectl pgstorage runbook ArchivingFailing, ArchivingFailing.md\n" +
		"Warning prod/waits: ObjectStoreNotFound: no store; kubectl pgstorage runbook ObjectStoreNotFound, ObjectStoreNotFound.md\n" +
		"Note backups: no backup is declared, so the loss of the site loses the database: prod/bare; set spec.backup, tutorial-backup.md\n"
	if got := about(t, f, "Databases"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	f.APIs.ObjectStores = false
	if Failures(Check(f, book(t))) != 1 || !strings.Contains(about(t, f, "Other operators"), "Failure Barman Cloud plugin: not installed; backups into an object store need it") {
		t.Errorf("without the plugin: %s", about(t, f, "Other operators"))
	}
}

func TestManyDatabasesWithoutABackupAreOneLine(t *testing.T) {
	f := healthy(t)
	f.Clusters = nil
	for i := range 12 {
		cr := database(fmt.Sprintf("db-%02d", i))
		cr.Spec.Backup = nil
		f.Clusters = append(f.Clusters, cr)
	}
	got := about(t, f, "Databases")
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, "prod/db-09 and 2 more") || strings.Contains(got, "db-10") {
		t.Errorf("got %s", got)
	}
}
