package status

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/snapshots"
)

func TestScheduleShowsItsRuns(t *testing.T) {
	s := snapshot.Schedule{Unread: []snapshot.Unread{{What: "something", Why: "forbidden"}}}
	for _, o := range snapshots.Objects(t, "testdata/schedule.yaml") {
		var into any
		switch o.GetKind() {
		case "PgScheduledBenchmark":
			s.Schedule = &v1alpha1.PgScheduledBenchmark{}
			into = s.Schedule
		case "PgBenchmark":
			s.Benchmarks = append(s.Benchmarks, v1alpha1.PgBenchmark{})
			into = &s.Benchmarks[len(s.Benchmarks)-1]
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, into, true); err != nil {
			t.Fatal(err)
		}
	}
	golden.Text(t, "testdata/schedule.golden.txt", builder(t).Schedule(s).Text(view.Style{}))
}
