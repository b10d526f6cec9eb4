package verification

import (
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// world is one database, and a simulation of what restores and checks it.
type world struct {
	t     *testing.T
	cr    *v1alpha1.PgStorageCluster
	facts observed.Verification
	now   time.Time
	last  Decision
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newWorld(t *testing.T, change func(*v1alpha1.BackupVerifySpec)) *world {
	t.Helper()
	verify := &v1alpha1.BackupVerifySpec{Schedule: "0 4 * * *", Timeout: "1h"}
	if change != nil {
		change(verify)
	}
	cr := &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "uid-of-shop", Annotations: map[string]string{}},
		Spec: v1alpha1.PgStorageClusterSpec{
			Postgres: v1alpha1.PostgresSpec{Database: "app", Owner: "app"},
			Backup:   &v1alpha1.BackupSpec{ObjectStore: v1alpha1.BackupObjectStore{Name: "lake"}, Verify: verify},
		},
		Status: v1alpha1.PgStorageClusterStatus{
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionBackedUp, Status: metav1.ConditionTrue}},
			Backup:     &v1alpha1.BackupStatus{LastSuccessfulBackup: timeOf(noon.Add(-time.Hour)), LastArchivedWAL: "0000000000000007"},
		},
	}
	source := &cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{Image: "postgres:17", SystemID: "42"}}
	source.Spec.StorageConfiguration.Size = "1Gi"
	return &world{t: t, cr: cr, now: noon, facts: observed.Verification{Source: source}}
}

// step decides once, and does what was decided.
func (w *world) step() Decision {
	w.t.Helper()
	d, err := Decide(w.cr, w.facts, clusters.Config{BenchImage: "bench"}, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	w.cr.Status.BackupVerification = d.Status
	for _, o := range d.Plan.Objects {
		switch o.Key().Kind {
		case "Cluster":
			w.facts.Restored, w.facts.Claims = &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: o.Key().Name}}, 1
		case "Job":
			w.facts.Job = &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: o.Key().Name}}
		}
	}
	for _, o := range d.Delete {
		switch o.(type) {
		case *cnpgv1.Cluster:
			w.facts.Restored, w.facts.Claims = nil, 0
		case *batchv1.Job:
			w.facts.Job, w.facts.Report, w.facts.Said = nil, "", ""
		}
	}
	w.last = d
	return d
}

// phase that a step leads to.
func (w *world) phase(want string) {
	w.t.Helper()
	if d := w.step(); d.Status == nil || d.Status.Step != want {
		w.t.Fatalf("status %+v, want phase %q", d.Status, want)
	}
}

func (w *world) serves() {
	w.facts.Restored.Status = cnpgv1.ClusterStatus{Phase: cnpgv1.PhaseHealthy, ReadyInstances: 1}
}

// checking brings a verification to its checks.
func (w *world) checking() {
	w.t.Helper()
	w.phase(v1alpha1.VerifyRestoring)
	w.phase(v1alpha1.VerifyRestoring)
	w.now = w.now.Add(50 * time.Second)
	w.serves()
	w.phase(v1alpha1.VerifyChecking)
	w.phase(v1alpha1.VerifyChecking)
}

// removed has everything gone.
func (w *world) removed() {
	w.t.Helper()
	w.phase(v1alpha1.VerifyRemoving)
	if len(w.last.Delete) == 0 {
		w.t.Error("nothing is deleted")
	}
	w.phase("")
}

const sound = `{"wal":"0000000000000008","size":1024,"checks":[{"name":"SystemIdentifier","result":"Passed"},{"name":"Amcheck","result":"Passed"}]}`

func TestBackupIsVerifiedAtOnceAndThenByItsSchedule(t *testing.T) {
	w := newWorld(t, nil)
	w.checking()
	w.now = w.now.Add(10 * time.Second)
	w.facts.Report = sound
	w.phase(v1alpha1.VerifyRemoving)
	s := w.cr.Status.BackupVerification
	if l := s.Last; l == nil || l.Reason != v1alpha1.ReasonVerified || *l.RestoreSeconds != 50 || *l.CheckSeconds != 10 || l.Size.Value() != 1024 || l.RestoredWAL != "0000000000000008" || s.ExpectedWAL != "0000000000000007" || !s.LastVerified.Equal(l.CompletionTime) || !l.BackupTime.Time.Equal(noon.Add(-time.Hour)) {
		t.Errorf("%+v", s)
	}
	w.removed()
	tomorrow := time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
	if d := w.step(); d.Status.Step != "" || len(d.Plan.Objects) > 0 || !d.Status.NextTime.Time.Equal(tomorrow) || d.After != tomorrow.Sub(w.now) {
		t.Errorf("%+v", d)
	}
	w.now = tomorrow
	w.phase(v1alpha1.VerifyRestoring)
}

// Nothing is made before the status has it, and every pass can be the last.
func TestStatusComesBeforeWhatIsMade(t *testing.T) {
	w := newWorld(t, nil)
	if d := w.step(); d.Status.Step != v1alpha1.VerifyRestoring || len(d.Plan.Objects) > 0 || d.Status.Cluster != naming.Verification("shop", "uid-of-shop") {
		t.Errorf("%+v", d)
	}
	if d := w.step(); len(d.Plan.Objects) != 1 {
		t.Errorf("%+v", d.Plan)
	}
	if d := w.step(); len(d.Plan.Objects) != 0 {
		t.Errorf("it is made again: %+v", d.Plan)
	}
}

func TestVerificationWaitsForABackup(t *testing.T) {
	for name, without := range map[string]func(*v1alpha1.PgStorageCluster){
		"no backup":     func(cr *v1alpha1.PgStorageCluster) { cr.Status.Backup.LastSuccessfulBackup = nil },
		"failing":       func(cr *v1alpha1.PgStorageCluster) { cr.Status.Conditions[0].Status = metav1.ConditionFalse },
		"nothing known": func(cr *v1alpha1.PgStorageCluster) { cr.Status.Backup = nil },
		"an old status": func(cr *v1alpha1.PgStorageCluster) { cr.Generation = 2 },
		"what is archived is not known yet": func(cr *v1alpha1.PgStorageCluster) {
			cr.Status.Backup.LastArchivedWAL, cr.Status.Backup.LastSuccessfulBackup = "", timeOf(noon.Add(-time.Minute))
		},
		"suspended": func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup.Verify.Suspend = new(true) },
		"no time":   func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup.Verify.Schedule = "x" },
	} {
		w := newWorld(t, nil)
		without(w.cr)
		if d := w.step(); d.Status.Step != "" || len(d.Events) > 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	w := newWorld(t, nil)
	w.cr.Spec.Backup.Verify = nil
	if d := w.step(); d.Status != nil || Concerns(w.cr) {
		t.Errorf("%+v", d)
	}
}

func TestAnnotationAsksForAVerification(t *testing.T) {
	w := newWorld(t, func(s *v1alpha1.BackupVerifySpec) { s.Suspend = new(true) })
	for at, phase := range map[string]string{noon.Format(time.RFC3339): v1alpha1.VerifyRestoring, noon.Add(time.Hour).Format(time.RFC3339): "", "now": ""} {
		w.cr.Status.BackupVerification = nil
		w.cr.Annotations[naming.AnnotationVerify] = at
		if d := w.step(); d.Status.Step != phase {
			t.Errorf("%s: %+v", at, d.Status)
		}
	}
	// It asks once.
	w.cr.Annotations[naming.AnnotationVerify] = noon.Format(time.RFC3339)
	w.cr.Status.BackupVerification = &v1alpha1.BackupVerificationStatus{StartTime: timeOf(noon)}
	w.phase("")
}

// Each way to fail ends in a result, and in nothing left.
func TestFailures(t *testing.T) {
	jobFailed := func(name string) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}}}
	}
	for name, tc := range map[string]struct {
		at           string
		happens      func(*world)
		reason, says string
	}{
		"another object has the name":     {v1alpha1.VerifyRestoring, func(w *world) { w.facts.Foreign = "Cluster x" }, v1alpha1.ReasonClusterNotOwned, "Cluster x"},
		"the API server rejects it":       {v1alpha1.VerifyRestoring, func(w *world) { w.facts.Refusal = "exceeded quota" }, v1alpha1.ReasonRejected, "exceeded quota"},
		"a pool fills before it starts":   {"", func(w *world) { w.facts.NoRoom = "PgNodeStorage z.n is PoolNearlyFull" }, v1alpha1.ReasonNotEnoughSpace, "PgNodeStorage z.n is PoolNearlyFull"},
		"a pool fills during the restore": {v1alpha1.VerifyRestoring, func(w *world) { w.facts.NoRoom = "PgNodeStorage z.n is PoolNearlyFull" }, v1alpha1.ReasonNotEnoughSpace, "PoolNearlyFull"},
		"a pool fills during the checks":  {v1alpha1.VerifyChecking, func(w *world) { w.facts.NoRoom = "PgNodeStorage z.n is PoolNearlyFull" }, v1alpha1.ReasonNotEnoughSpace, "PoolNearlyFull"},
		"the restore fails":               {v1alpha1.VerifyRestoring, func(w *world) { w.facts.Recovery = jobFailed("r") }, v1alpha1.ReasonRestoreFailed, "Job r failed"},
		"the restore takes too long": {v1alpha1.VerifyRestoring, func(w *world) {
			w.facts.Restored.Status.Phase = "Setting up primary"
			w.now = w.now.Add(time.Hour)
		}, v1alpha1.ReasonRestoreFailed, "within 1h0m0s; CloudNativePG: Setting up primary"},
		"the database goes":        {v1alpha1.VerifyRestoring, func(w *world) { w.facts.Source = nil; w.now = w.now.Add(time.Hour) }, v1alpha1.ReasonRestoreFailed, "no CloudNativePG Cluster"},
		"the checks cannot run":    {v1alpha1.VerifyChecking, func(w *world) { w.facts.Job = jobFailed("c"); w.facts.Said = "check: exit code 1: x" }, v1alpha1.ReasonRestoreNotChecked, "exit code 1"},
		"the checks take too long": {v1alpha1.VerifyChecking, func(w *world) { w.now = w.now.Add(time.Hour) }, v1alpha1.ReasonRestoreNotChecked, "not checked within"},
		"the report is none":       {v1alpha1.VerifyChecking, func(w *world) { w.facts.Report = "gone" }, v1alpha1.ReasonRestoreNotChecked, "report of the checks"},
		"a check fails": {v1alpha1.VerifyChecking, func(w *world) {
			w.facts.Report = `{"checks":[{"name":"WAL","result":"Failed","message":"file 5 is missing"},{"name":"Amcheck","result":"NotRun"}]}`
		}, v1alpha1.ReasonRestoreDamaged, "WAL: file 5 is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			switch tc.at {
			case v1alpha1.VerifyChecking:
				w.checking()
			case v1alpha1.VerifyRestoring:
				w.phase(v1alpha1.VerifyRestoring)
				w.phase(v1alpha1.VerifyRestoring)
			default: // before anything is made
				w.phase(v1alpha1.VerifyRestoring)
			}
			tc.happens(w)
			w.phase(v1alpha1.VerifyRemoving)
			s := w.cr.Status.BackupVerification
			if s.Last.Reason != tc.reason || !strings.Contains(s.Last.Message, tc.says) || s.LastVerified != nil {
				t.Errorf("%+v", s.Last)
			}
			if e := w.last.Events; len(e) != 1 || e[0].Type != corev1.EventTypeWarning {
				t.Errorf("%+v", e)
			}
			w.facts.Foreign = ""
			if tc.at == "" {
				w.phase("")
			} else {
				w.removed()
			}
			if d := w.step(); d.Status.Step != "" {
				t.Errorf("it begins again before its time: %+v", d.Status)
			}
		})
	}
}

// Without pg_amcheck not all data was read, and the result says so.
func TestPartOfTheChecks(t *testing.T) {
	w := newWorld(t, nil)
	w.checking()
	w.facts.Report = `{"checks":[{"name":"SystemIdentifier","result":"Passed"},{"name":"Amcheck","result":"NotRun","message":"the image has no pg_amcheck"}]}`
	w.phase(v1alpha1.VerifyRemoving)
	if s := w.cr.Status.BackupVerification; s.Last.Reason != v1alpha1.ReasonPartlyChecked || s.LastVerified == nil || !strings.Contains(s.Last.Message, "no pg_amcheck") {
		t.Errorf("%+v", s.Last)
	}
}

func TestVerificationThatIsNoLongerDeclaredIsRemoved(t *testing.T) {
	w := newWorld(t, nil)
	w.checking()
	w.cr.Spec.Backup.Verify = nil
	w.phase(v1alpha1.VerifyRemoving)
	w.removed()
	if d := w.step(); d.Status != nil {
		t.Errorf("%+v", d.Status)
	}
}

// What was found in one folder says nothing about another one. A status that names no folder is
// of an earlier operator.
func TestAnotherFolderIsVerifiedAtOnce(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.PgStorageCluster){
		"another store":   func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup.ObjectStore.Name = "vault" },
		"another archive": func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup.ObjectStore.Archive = "2" },
		"no folder known": func(cr *v1alpha1.PgStorageCluster) {
			cr.Status.BackupVerification.ObjectStore, cr.Status.BackupVerification.Server = "", ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.checking()
			w.facts.Report = sound
			w.phase(v1alpha1.VerifyRemoving)
			w.removed()
			w.phase("")
			change(w.cr)
			w.phase(v1alpha1.VerifyRestoring)
			s, b := w.cr.Status.BackupVerification, w.cr.Spec.Backup.ObjectStore
			if s.ObjectStore != b.Name || s.Server != naming.BackupServer("shop", b.Archive) || s.Last != nil || s.LastVerified != nil {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A verification that runs while the folder changes has no result, and another one begins.
func TestVerificationOfAnotherFolderIsRemoved(t *testing.T) {
	w := newWorld(t, nil)
	w.checking()
	w.facts.Report = sound
	w.cr.Spec.Backup.ObjectStore.Name = "vault"
	w.phase(v1alpha1.VerifyRemoving)
	if s := w.cr.Status.BackupVerification; s.Last != nil || s.LastVerified != nil || len(w.last.Events) > 0 {
		t.Errorf("%+v", s)
	}
	w.removed()
	w.phase(v1alpha1.VerifyRestoring)
	if s := w.cr.Status.BackupVerification; s.ObjectStore != "vault" {
		t.Errorf("%+v", s)
	}
}
