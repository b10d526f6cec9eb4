package clusters

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/kube/status"
)

// DatabaseReady says what the database is, whatever becomes of the objects beside it.
func TestRejectedObjectIsReportedInItsOwnCondition(t *testing.T) {
	for stage, tc := range map[plan.Stage]struct {
		condition string
		status    metav1.ConditionStatus
		ready     bool
	}{
		plan.StageDatabase:        {v1alpha1.ConditionDatabaseReady, metav1.ConditionFalse, false},
		plan.StageBackups:         {v1alpha1.ConditionBackedUp, metav1.ConditionFalse, true},
		plan.StageReadPools:       {v1alpha1.ConditionReadPoolsReady, metav1.ConditionFalse, false},
		plan.StageSites:           {v1alpha1.ConditionSitesAgree, metav1.ConditionUnknown, true},
		plan.StageMonitors:        {v1alpha1.ConditionMonitored, metav1.ConditionFalse, true},
		plan.StageInlineBenchmark: {v1alpha1.ConditionBenchmarkComplete, metav1.ConditionFalse, true},
	} {
		t.Run(stage.String(), func(t *testing.T) {
			outcomes := outcome.NewSet(
				outcome.DoneWith(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonHealthy, "2 of 2"),
				outcome.WaitFor(tc.condition, v1alpha1.ReasonProgressing, "it is created later"),
			)
			AddRejected(&outcomes, stage, errors.New("exceeded quota"))
			conditions := status.Conditions(nil, 1, metav1.NewTime(time.Unix(1000, 0)), outcomes)
			got := meta.FindStatusCondition(conditions, tc.condition)
			if got == nil || got.Status != tc.status || got.Reason != v1alpha1.ReasonRejected || !strings.HasSuffix(got.Message, ": exceeded quota") {
				t.Errorf("%s is %+v", tc.condition, got)
			}
			if ready := meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionReady); ready != tc.ready {
				t.Errorf("Ready is %v", ready)
			}
			if healthy := meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionDatabaseReady); healthy != (stage != plan.StageDatabase) {
				t.Errorf("DatabaseReady is %v", healthy)
			}
		})
	}
}

// A rejection hides neither a second writer nor another rejection.
func TestRejectionKeepsWhatNeedsAUser(t *testing.T) {
	outcomes := outcome.NewSet(outcome.InvalidBecause(v1alpha1.ConditionSitesAgree, v1alpha1.ReasonTwoSitesWrite, "north writes, too"))
	AddRejected(&outcomes, plan.StageSites, errors.New("exceeded quota"))
	o, _ := outcomes.Get(v1alpha1.ConditionSitesAgree)
	if o.Reason != v1alpha1.ReasonTwoSitesWrite || o.Informative || o.Unknown || !strings.HasPrefix(o.Message, "north writes, too; ") || !strings.HasSuffix(o.Message, ": exceeded quota") {
		t.Errorf("two writers: %+v", o)
	}
	for _, name := range []string{"near", "reports"} {
		AddRejected(&outcomes, plan.StageReadPools, errors.New("no quota for "+name))
	}
	o, _ = outcomes.Get(v1alpha1.ConditionReadPoolsReady)
	if o.Reason != v1alpha1.ReasonRejected || !strings.Contains(o.Message, ": no quota for near; ") || !strings.HasSuffix(o.Message, ": no quota for reports") {
		t.Errorf("two pools: %+v", o)
	}
}
