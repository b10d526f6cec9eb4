package branch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/snapshots"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func all(t *testing.T) []v1alpha1.PgStorageBranch {
	t.Helper()
	var out []v1alpha1.PgStorageBranch
	for _, o := range snapshots.Objects(t, "testdata/branches.yaml") {
		b := v1alpha1.PgStorageBranch{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &b, true); err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// named returns branches of namespace prod.
func named(t *testing.T, names ...string) []*v1alpha1.PgStorageBranch {
	t.Helper()
	var out []*v1alpha1.PgStorageBranch
	for _, name := range names {
		branches := all(t)
		i := slices.IndexFunc(branches, func(b v1alpha1.PgStorageBranch) bool { return b.Namespace == "prod" && b.Name == name })
		if i < 0 {
			t.Fatalf("no branch %s", name)
		}
		out = append(out, &branches[i])
	}
	return out
}

func TestScreensMatchGoldenFiles(t *testing.T) {
	prod := slices.DeleteFunc(all(t), func(b v1alpha1.PgStorageBranch) bool { return b.Namespace != "prod" })
	promoted := func(name string) string { return PromotionText(named(t, name)[0]) }
	promoting := named(t, "pr-124")[0]
	promoting.Spec.Promote = true
	restored := named(t, "pr-124")[0]
	restored.Spec.Source.Backup = &v1alpha1.BranchBackup{}
	for name, text := range map[string]string{
		"list":      ListText(Rows(prod), noon, false),
		"list-all":  ListText(Rows(all(t)), noon, true),
		"outcome":   Outcome(named(t, "pr-123")[0]),
		"deletion":  DeletionText(named(t, "pr-123", "pr-123-a", "pr-123-b")) + "\n" + DeletionText(named(t, "pr-123")),
		"promotion": promoted("pr-123") + "\n" + promoted("pr-124") + "\n" + promoted("pr-123-b") + "\n" + PromotionText(promoting) + "\n" + PromotionText(restored),
	} {
		t.Run(name, func(t *testing.T) { golden.Text(t, "testdata/"+name+".golden.txt", text) })
	}
}

func TestBranchesBeingDeletedAreNotPromoted(t *testing.T) {
	b := named(t, "pr-123")[0]
	if err := PromotionRefusal(b); err != nil {
		t.Error(err)
	}
	b.DeletionTimestamp = new(metav1.NewTime(noon))
	if err := PromotionRefusal(b); err == nil || err.Error() != "PgStorageBranch pr-123 is being deleted" {
		t.Error(err)
	}
}

func TestConsentOfTheSource(t *testing.T) {
	source := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop"}}
	if got := Consent(source); !strings.HasSuffix(got, `kubectl -n prod patch pgsc shop --type=merge -p '{"spec":{"branchPolicy":"Any"}}'`) {
		t.Error(got)
	}
	source.Spec.BranchPolicy = v1alpha1.BranchAny
	if got := Consent(source); got != "" {
		t.Error(got)
	}
}

func TestPsqlNeedsAReadyBranch(t *testing.T) {
	for name, want := range map[string]string{
		"pr-124":     "PgStorageBranch pr-124 is not Ready: Pending: Waiting for the manager; check it with kubectl pgstorage doctor",
		"pr-123-a":   `PgStorageBranch pr-123-a is not Ready: MaskingFailed: relation "people" does not exist; the SQL of spec.masking has not run, so the branch can have unmasked data of pr-123`,
		"pr-123-a-x": "PgStorageBranch pr-123-a-x is not Ready: SourceNotReady: PgStorageCluster pr-123-a is not Ready",
		"pr-123":     "",
	} {
		got := ""
		if err := Usable(named(t, name)[0]); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestPsqlRunsInThePrimary(t *testing.T) {
	cr := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "pr-123"}}
	cr.Spec.Postgres.Database = "app"
	if _, err := Psql(cr, false, nil); err == nil || !strings.Contains(err.Error(), "has no primary now") {
		t.Error(err)
	}
	cr.Status.Database = &v1alpha1.DatabaseStatus{Primary: "pr-123-1"}
	for want, terminal := range map[string]bool{
		"exec -i pr-123-1 -c postgres -- psql app -c SELECT 1":    false,
		"exec -i -t pr-123-1 -c postgres -- psql app -c SELECT 1": true,
	} {
		if got, err := Psql(cr, terminal, []string{"-c", "SELECT 1"}); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%v, %v, want %s", got, err, want)
		}
	}
}

// The message of a condition has the error of the SQL that masks a branch.
func TestReachedReturnsOneCleanLine(t *testing.T) {
	b := &v1alpha1.PgStorageBranch{ObjectMeta: metav1.ObjectMeta{Name: "pr-1"}}
	b.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "MaskingFailed", Message: "a\x1b[2J\nerror: b"},
		{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue},
	}
	if _, err := Ready.Reached(b); err == nil || err.Error() != "PgStorageBranch pr-1: MaskingFailed: a [2J error: b" {
		t.Errorf("%q", err)
	}
}

// condition is a change of a condition of a branch.
type condition struct {
	kind, reason, message string
	status                metav1.ConditionStatus
}

// script plays the states of a branch, one for each look.
type script struct {
	branch *v1alpha1.PgStorageBranch
	steps  []any
	lines  []string
}

func (s *script) follow(ctx context.Context, goal Goal) (*v1alpha1.PgStorageBranch, error) {
	f := &Follower{
		Show:  func(line string) { s.lines = append(s.lines, line) },
		Pause: func(ctx context.Context) error { return ctx.Err() },
		Get: func(ctx context.Context) (*v1alpha1.PgStorageBranch, error) {
			if len(s.steps) == 0 {
				return nil, ctx.Err()
			}
			step := s.steps[0]
			s.steps = s.steps[1:]
			switch step := step.(type) {
			case error:
				return nil, step
			case func(*v1alpha1.PgStorageBranch):
				step(s.branch)
			case []condition:
				s.branch.Status.Conditions = nil
				for _, c := range step {
					s.branch.Status.Conditions = append(s.branch.Status.Conditions, metav1.Condition{Type: c.kind, Status: c.status, Reason: c.reason, Message: c.message})
				}
			}
			return s.branch.DeepCopy(), nil
		},
	}
	return f.Follow(ctx, s.branch.UID, goal)
}

const yes, no = metav1.ConditionTrue, metav1.ConditionFalse

func TestProgressIsShownUntilReady(t *testing.T) {
	b := named(t, "pr-124")[0]
	b.Spec.Masking = &v1alpha1.BranchMasking{}
	b.Status.ObservedGeneration = 1
	snapshot := condition{v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonSnapshotReady, "", yes}
	database := condition{v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonHealthy, "", yes}
	masked := condition{v1alpha1.ConditionMasked, v1alpha1.ReasonMasked, "", yes}
	s := &script{branch: b, steps: []any{
		nil,
		[]condition{{v1alpha1.ConditionReady, v1alpha1.ReasonSnapshotPending, "waits for VolumeSnapshot a\n", no}},
		errors.New("connection\x1b refused"),
		[]condition{snapshot, {v1alpha1.ConditionReady, v1alpha1.ReasonClusterCreating, "waits for a", no}},
		[]condition{snapshot, database, {v1alpha1.ConditionReady, v1alpha1.ReasonMasking, "Job a runs", no}},
		[]condition{snapshot, database, masked, {v1alpha1.ConditionReady, v1alpha1.ReasonReady, "everything is as declared", yes}},
	}}
	got, err := s.follow(t.Context(), Ready)
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	want := `0 of 4  Pending  Waiting for the manager; check it with kubectl pgstorage doctor
0 of 4  SnapshotPending  waits for VolumeSnapshot a 
connection  refused; trying again
1 of 4  ClusterCreating  waits for a
2 of 4  Masking  Job a runs
4 of 4  Ready  everything is as declared`
	if got := strings.Join(s.lines, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestPromotionIsShownUntilIndependent(t *testing.T) {
	b := named(t, "pr-123")[0]
	b.Generation = 2
	s := &script{branch: b, steps: []any{
		nil,
		func(b *v1alpha1.PgStorageBranch) {
			b.Status.ObservedGeneration = 2
			b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionIndependent, Status: no, Reason: v1alpha1.ReasonCopying, Message: "instance 2 is being cloned"})
		},
		func(b *v1alpha1.PgStorageBranch) {
			b.Status.Independent = true
			b.Status.Conditions[len(b.Status.Conditions)-1].Reason = v1alpha1.ReasonIndependent
		},
	}}
	if _, err := s.follow(t.Context(), Independent); err != nil {
		t.Error(err)
	}
	want := `Pending  Waiting for the manager; check it with kubectl pgstorage doctor
Copying  instance 2 is being cloned
Independent  instance 2 is being cloned`
	if got := strings.Join(s.lines, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

var notFound = apierrors.NewNotFound(schema.GroupResource{Resource: "pgstoragebranches"}, "pr-123")

func TestDeletionIsShownUntilTheBranchIsGone(t *testing.T) {
	waiting := []condition{{v1alpha1.ConditionReady, v1alpha1.ReasonWaitingForChildren, "waits for pr-123-a", no}}
	for _, last := range []any{notFound, func(b *v1alpha1.PgStorageBranch) { b.UID = "another" }} {
		s := &script{branch: named(t, "pr-123")[0], steps: []any{waiting, last}}
		if _, err := s.follow(t.Context(), Gone); err != nil || strings.Join(s.lines, "\n") != "pr-123  WaitingForChildren  waits for pr-123-a" {
			t.Errorf("%v, %q", err, s.lines)
		}
	}
}

func TestFollowingEndsWithAnError(t *testing.T) {
	for want, step := range map[string]any{
		"the PgStorageBranch was deleted":        notFound,
		"read the PgStorageBranch: ":             apierrors.NewForbidden(schema.GroupResource{}, "pr-124", nil),
		"PgStorageBranch pr-124 is being delete": func(b *v1alpha1.PgStorageBranch) { b.DeletionTimestamp = new(metav1.NewTime(noon)) },
		"PgStorageBranch pr-124: MaskingFailed: no table people": func(b *v1alpha1.PgStorageBranch) {
			b.Status.ObservedGeneration = 1
			b.Status.Conditions = []metav1.Condition{
				{Type: v1alpha1.ConditionReady, Status: no, Reason: v1alpha1.ReasonMaskingFailed, Message: "no table people"},
				{Type: v1alpha1.ConditionStalled, Status: yes, Reason: v1alpha1.ReasonMaskingFailed},
			}
		},
	} {
		for _, goal := range []Goal{Ready, Independent} {
			s := &script{branch: named(t, "pr-124")[0], steps: []any{step}}
			if _, err := s.follow(t.Context(), goal); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", goal, err, want)
			}
		}
	}
	overdue := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(overdue)
	if _, err := (&script{branch: named(t, "pr-124")[0]}).follow(ctx, Ready); !errors.Is(err, overdue) {
		t.Error(err)
	}
}
