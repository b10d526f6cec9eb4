package verify

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func at(seconds int) *metav1.Time {
	return new(metav1.NewTime(noon.Add(time.Duration(seconds) * time.Second)))
}

func shop() *v1alpha1.PgStorageCluster {
	return &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop"},
		Spec:       v1alpha1.PgStorageClusterSpec{Backup: &v1alpha1.BackupSpec{Verify: &v1alpha1.BackupVerifySpec{Schedule: "@daily"}}},
		Status:     v1alpha1.PgStorageClusterStatus{Conditions: []metav1.Condition{{Type: v1alpha1.ConditionBackedUp, Status: metav1.ConditionTrue}}},
	}
}

func TestWhatIsNotVerifiedIsRefused(t *testing.T) {
	for want, change := range map[string]func(*v1alpha1.PgStorageCluster){
		"does not declare spec.backup.verify": func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup.Verify = nil },
		"PgStorageCluster shop does not":      func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup = nil },
		"spec.suspend":                        func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Suspend = new(true) },
		"is being deleted":                    func(cr *v1alpha1.PgStorageCluster) { cr.DeletionTimestamp = at(0) },
	} {
		cr := shop()
		change(cr)
		if err := Refusal(cr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	cr := shop()
	cr.Spec.Backup.Verify.Suspend = new(true)
	if err := Refusal(cr); err != nil {
		t.Errorf("a suspended schedule: %v", err)
	}
}

// The operator skips a request that is not after the start of the last verification.
func TestRequestIsAfterTheLastVerification(t *testing.T) {
	cr := shop()
	now := noon.Add(300 * time.Millisecond)
	if got := Time(cr, now); !got.Equal(noon) {
		t.Error(got)
	}
	for start, want := range map[int]int{-1: 0, 0: 1, 60: 61} {
		cr.Status.BackupVerification = &v1alpha1.BackupVerificationStatus{StartTime: at(start)}
		if got := Time(cr, now.In(time.FixedZone("CET", 3600))); !got.Equal(at(want).Time) {
			t.Errorf("start %d: %s, want %d", start, got, want)
		}
	}
	if got, want := string(Patch(noon)), `{"metadata":{"annotations":{"`+naming.AnnotationVerify+`":"2026-11-26T12:00:00Z"}}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// script plays the statuses of an object, one for each look.
type script struct {
	steps []any
	out   bytes.Buffer
	now   time.Time
}

func (s *script) follower() *Follower {
	return &Follower{
		Out: &s.out, Now: func() time.Time { return s.now },
		Get: func(ctx context.Context) (*v1alpha1.PgStorageCluster, error) {
			if len(s.steps) == 0 {
				return nil, ctx.Err()
			}
			step := s.steps[0]
			s.steps = s.steps[1:]
			switch step := step.(type) {
			case error:
				return nil, step
			case func(*v1alpha1.PgStorageCluster):
				cr := shop()
				step(cr)
				return cr, nil
			}
			cr := shop()
			cr.Status.BackupVerification, _ = step.(*v1alpha1.BackupVerificationStatus)
			return cr, nil
		},
		Pause: func(ctx context.Context) error {
			s.now = s.now.Add(time.Second)
			return ctx.Err()
		},
	}
}

func result(reason string, completion int) *v1alpha1.BackupVerificationResult {
	return &v1alpha1.BackupVerificationResult{Reason: reason, Message: "as found\n", CompletionTime: at(completion)}
}

func TestPhasesAreShownUntilTheResult(t *testing.T) {
	old := result(v1alpha1.ReasonRestoreFailed, 0)
	of := func(phase string, start int, last *v1alpha1.BackupVerificationResult) *v1alpha1.BackupVerificationStatus {
		return &v1alpha1.BackupVerificationStatus{Step: phase, Cluster: "shop-verify-1", StartTime: at(start), Last: last}
	}
	s := &script{now: noon, steps: []any{
		of(v1alpha1.VerifyChecking, -9, nil),
		of(v1alpha1.VerifyRemoving, -9, old),
		func(cr *v1alpha1.PgStorageCluster) {
			cr.Status.Conditions[0] = metav1.Condition{Type: v1alpha1.ConditionBackedUp, Status: metav1.ConditionFalse, Reason: "ArchiveLate", Message: "WAL waits"}
			cr.Status.BackupVerification = of("", -9, old)
		},
		func(cr *v1alpha1.PgStorageCluster) { cr.Status.Conditions = nil },
		of("", -9, old),
		// The last result may be of the second in which this one starts.
		of(v1alpha1.VerifyRestoring, 0, old),
		errors.New("connection refused"),
		of(v1alpha1.VerifyRestoring, 0, old),
		of(v1alpha1.VerifyRestoring, 0, old),
		of(v1alpha1.VerifyChecking, 0, old),
		of(v1alpha1.VerifyRemoving, 0, result(v1alpha1.ReasonRestoreDamaged, 7)),
	}}
	got, err := s.follower().Follow(t.Context(), noon)
	if err != nil || got.Reason != v1alpha1.ReasonRestoreDamaged || got.Passed() {
		t.Errorf("%+v, %v", got, err)
	}
	want := `2026-11-26T12:00:00Z  Waiting for an earlier verification, which is Checking
2026-11-26T12:00:01Z  Waiting for an earlier verification, which is Removing
2026-11-26T12:00:02Z  Waiting for BackedUp=True: ArchiveLate: WAL waits
2026-11-26T12:00:03Z  Waiting for the condition BackedUp
2026-11-26T12:00:04Z  Waiting for the operator
2026-11-26T12:00:05Z  Restoring: the newest backup, into Cluster shop-verify-1
2026-11-26T12:00:06Z  connection refused; trying again
2026-11-26T12:00:07Z  Restoring: the newest backup, into Cluster shop-verify-1
2026-11-26T12:00:09Z  Checking: the restored database
2026-11-26T12:00:10Z  RestoreDamaged: as found 
`
	if s.out.String() != want {
		t.Errorf("%s\nwant\n%s", s.out.String(), want)
	}
}

func TestFollowingEnds(t *testing.T) {
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "pgstorageclusters"}, "shop")
	for want, step := range map[string]any{
		"not found":          gone,
		"spec.backup.verify": func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Backup.Verify = nil },
		"spec.suspend of":    func(cr *v1alpha1.PgStorageCluster) { cr.Spec.Suspend = new(true) },
		"is being deleted":   func(cr *v1alpha1.PgStorageCluster) { cr.DeletionTimestamp = at(0) },
	} {
		if _, err := (&script{now: noon, steps: []any{step}}).follower().Follow(t.Context(), noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	overdue := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(overdue)
	if _, err := (&script{now: noon}).follower().Follow(ctx, noon); !errors.Is(err, overdue) {
		t.Error(err)
	}
}

func TestResultAsText(t *testing.T) {
	r := v1alpha1.BackupVerificationResult{
		Reason: v1alpha1.ReasonPartlyChecked, RestoreSeconds: new(int64(65)), CheckSeconds: new(int64(9)), Size: new(resource.MustParse("12Mi")), RestoredWAL: "0000000000000007",
		Checks: []v1alpha1.IntegrityCheck{{Name: "SystemIdentifier", Result: v1alpha1.CheckPassed}, {Name: "Amcheck", Result: v1alpha1.CheckNotRun, Message: "the image\x1b has no pg_amcheck"}},
	}
	want := `restored in 1m5s, checked in 9s, size 12Mi, to WAL file 0000000000000007
CHECK              RESULT   MESSAGE
SystemIdentifier   Passed   -
Amcheck            NotRun   the image  has no pg_amcheck
`
	if got := Text(r); got != want || !r.Passed() {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := Text(*result(v1alpha1.ReasonRestoreFailed, 0)); got != "" {
		t.Errorf("%q", got)
	}
}
