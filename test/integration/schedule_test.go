package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// nights is a schedule of once a day, with a clock that a test sets: the time is a fake,
// all else is not. What CloudNativePG and the runners do is simulated.
type nights struct {
	t     *testing.T
	c     client.Client
	s     *v1alpha1.PgScheduledBenchmark
	clock *clocktesting.FakeClock
	first time.Time
	w     *writes
	stop  func()
	pokes int
}

// newNights begins now, and its first night is about half a day away: the API server's
// own clock says when the schedule was created.
func newNights(t *testing.T, changes ...func(*v1alpha1.PgScheduledBenchmarkSpec)) *nights {
	t.Helper()
	c, now := apiserver.Client(t, config), time.Now().UTC()
	n := &nights{t: t, c: c, clock: clocktesting.NewFakeClock(now), first: now.Truncate(time.Hour).Add(12*time.Hour + 30*time.Minute)}
	target := cluster(namespace(t, c), "shop", "absent")
	create(t, c, target)
	n.s = &v1alpha1.PgScheduledBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: target.Namespace, Name: "nightly"},
		Spec: v1alpha1.PgScheduledBenchmarkSpec{
			Schedule: fmt.Sprintf("30 %d * * *", n.first.Hour()),
			Template: v1alpha1.BenchmarkTemplate{Spec: v1alpha1.PgBenchmarkSpec{
				Cluster: "shop", Pgbench: v1alpha1.PgbenchSpec{Clients: []int32{1}, Duration: "1s", WarmUp: "0s", Integrity: v1alpha1.IntegrityBasic},
			}},
		},
	}
	for _, change := range changes {
		change(&n.s.Spec)
	}
	n.w = &writes{within: "/namespaces/" + target.Namespace + "/"}
	n.restart()
	return n
}

// restart the manager, with the same clock.
func (n *nights) restart() {
	n.t.Helper()
	if n.stop != nil {
		n.stop()
	}
	n.stop = manager.Start(n.t, n.w.into(config), func(o *controllers.Options) { o.Clock = n.clock })
}

// night is a time of the schedule; 0 is the first.
func (n *nights) night(day int) time.Time { return n.first.Add(time.Duration(day) * 24 * time.Hour) }

// at sets the clock, and wakes the controller, whose timer runs by the real time.
func (n *nights) at(now time.Time) {
	n.t.Helper()
	n.clock.SetTime(now)
	n.pokes++
	changed(n.t, n.c, n.s, func() {
		n.s.Annotations = map[string]string{"example.com/poke": fmt.Sprint(n.pokes)}
	})
}

// run of a night.
func (n *nights) run(day int) *v1alpha1.PgBenchmark {
	return &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: n.s.Namespace, Name: naming.ScheduledBenchmark("nightly", n.night(day))}}
}

// begun waits for the run of a night, and checks that the status says so.
func (n *nights) begun(day int) *v1alpha1.PgBenchmark {
	n.t.Helper()
	b := n.run(day)
	eventually(n.t, "the run "+b.Name, func(ctx context.Context) error {
		if err := n.c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if err := n.c.Get(ctx, client.ObjectKeyFromObject(n.s), n.s); err != nil {
			return err
		}
		if s := n.s.Status; s.LastScheduleTime == nil || !s.LastScheduleTime.Time.Equal(n.night(day)) || !slices.Equal(s.Active, []string{b.Name}) {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	return b
}

// simulatedEnd of a single run: its controller keeps what has ended.
func (n *nights) simulatedEnd(b *v1alpha1.PgBenchmark, phase string) {
	n.t.Helper()
	complete := metav1.Condition{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSucceeded}
	if phase == "Failed" {
		complete.Status, complete.Reason, complete.Message = metav1.ConditionFalse, v1alpha1.ReasonFailed, "simulated"
	}
	eventually(n.t, "the simulated end of "+b.Name, func(ctx context.Context) error {
		if err := n.c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		b.Status.Phase, b.Status.BestTPS, b.Status.CompletionTime = phase, "812.4", new(metav1.NewTime(n.clock.Now()))
		complete.LastTransitionTime = *b.Status.CompletionTime
		meta.SetStatusCondition(&b.Status.Conditions, complete)
		return n.c.Status().Update(ctx, b)
	})
}

// has waits for a condition.
func (n *nights) has(kind string, status metav1.ConditionStatus, reason string) string {
	n.t.Helper()
	message := ""
	eventually(n.t, kind+" "+reason, func(ctx context.Context) error {
		if err := n.c.Get(ctx, client.ObjectKeyFromObject(n.s), n.s); err != nil {
			return err
		}
		c := meta.FindStatusCondition(n.s.Status.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != reason || n.s.Status.ObservedGeneration != n.s.Generation {
			return fmt.Errorf("%+v", n.s.Status)
		}
		message = c.Message
		return nil
	})
	return message
}

// left are the nights that have a run.
func (n *nights) left(ctx context.Context) (string, error) {
	list := &v1alpha1.PgBenchmarkList{}
	if err := n.c.List(ctx, list, client.InNamespace(n.s.Namespace), client.MatchingLabels(naming.ScheduleLabels("nightly"))); err != nil {
		return "", err
	}
	var days []string
	for day := range 20 {
		for _, b := range list.Items {
			if b.Name == n.run(day).Name {
				days = append(days, fmt.Sprint(day))
			}
		}
	}
	if len(days) != len(list.Items) {
		return "", fmt.Errorf("%d runs, of them %v by name", len(list.Items), days)
	}
	return strings.Join(days, " "), nil
}

func (n *nights) wantsLeft(want string) {
	n.t.Helper()
	eventually(n.t, "runs of "+want, func(ctx context.Context) error {
		got, err := n.left(ctx)
		if err == nil && got != want {
			err = errors.New("runs of " + got)
		}
		return err
	})
}

// reconciles that have ended, by controller: those of all managers of this process.
func reconciles(t *testing.T) map[string]float64 {
	t.Helper()
	return byController(t, "controller_runtime_reconcile_total")
}

func TestScheduleStartsRunsOnTimeAndOnce(t *testing.T) {
	n := newNights(t)
	create(t, n.c, n.s)
	n.has(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	if next := n.s.Status.NextScheduleTime; next == nil || !next.Time.Equal(n.night(0)) {
		t.Fatalf("%+v", n.s.Status)
	}
	n.wantsLeft("")
	n.at(n.night(0))
	b := n.begun(0)
	if !metav1.IsControlledBy(b, n.s) || b.Annotations[naming.AnnotationScheduledAt] != n.night(0).Format(time.RFC3339) || b.Spec.Cluster != "shop" {
		t.Errorf("%+v", b)
	}
	// A manager that comes later knows that it was begun, and writes nothing.
	settled(t, n.w)
	known := reconciles(t)
	n.restart()
	eventually(t, "the new manager to look at all three", func(context.Context) error {
		now := reconciles(t)
		for _, kind := range []string{"pgstoragecluster", "pgscheduledbenchmark", "pgbenchmark"} {
			if now[kind] <= known[kind] {
				return fmt.Errorf("%s: %g, as before", kind, now[kind])
			}
		}
		return nil
	})
	n.has(v1alpha1.ConditionOnTime, metav1.ConditionTrue, v1alpha1.ReasonOnTime)
	before := settled(t, n.w)
	n.at(n.night(0).Add(time.Minute))
	if after := settled(t, n.w); after != before {
		t.Errorf("%d writes at rest, the last is %v", after-before, n.w.last.Load())
	}
	n.wantsLeft("0")
	n.simulatedEnd(b, "Succeeded")
	n.has(v1alpha1.ConditionLastRunSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
	if r := n.s.Status.LastResult; r == nil || r.TPS != "812.4" || n.s.Status.LastSuccessfulTime == nil || len(n.s.Status.Active) > 0 {
		t.Errorf("%+v", n.s.Status)
	}
	n.at(n.night(1))
	n.begun(1)
	n.wantsLeft("0 1")
}

// The run is made, the connection is cut before the status says so, and the manager is
// killed.
func TestScheduleSurvivesACrashAfterEveryWrite(t *testing.T) {
	n := newNights(t)
	n.stop()
	create(t, n.c, n.s)
	n.clock.SetTime(n.night(0))
	for cuts := int64(1); cuts <= 8; cuts++ {
		w := &writes{failAfter: cuts, within: n.w.within}
		stop := manager.Start(t, w.into(config), func(o *controllers.Options) { o.Clock = n.clock })
		settled(t, w)
		stop()
	}
	n.restart()
	n.begun(0)
	n.wantsLeft("0")
}

func TestScheduleStartsNoneWhileOneRuns(t *testing.T) {
	n := newNights(t)
	create(t, n.c, n.s)
	n.has(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	n.at(n.night(0))
	b := n.begun(0)
	n.at(n.night(2).Add(time.Hour))
	if message := n.has(v1alpha1.ConditionOnTime, metav1.ConditionFalse, v1alpha1.ReasonPreviousRunning); !strings.Contains(message, b.Name) {
		t.Error(message)
	}
	n.wantsLeft("0")
	n.simulatedEnd(b, "Failed")
	n.begun(2)
	n.wantsLeft("0 2")
	n.has(v1alpha1.ConditionLastRunSucceeded, metav1.ConditionFalse, v1alpha1.ReasonFailed)
}

func TestScheduleSkipsARunThatIsTooLate(t *testing.T) {
	n := newNights(t, func(s *v1alpha1.PgScheduledBenchmarkSpec) { s.StartingDeadlineSeconds = new(int64(600)) })
	create(t, n.c, n.s)
	n.has(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	n.at(n.night(1).Add(time.Hour))
	n.has(v1alpha1.ConditionOnTime, metav1.ConditionFalse, v1alpha1.ReasonMissedSchedule)
	n.wantsLeft("")
	n.at(n.night(2).Add(time.Minute))
	n.begun(2)
	n.has(v1alpha1.ConditionOnTime, metav1.ConditionTrue, v1alpha1.ReasonOnTime)
}

func TestSuspendedScheduleStartsNothingUntilResumed(t *testing.T) {
	n := newNights(t, func(s *v1alpha1.PgScheduledBenchmarkSpec) { s.Suspend = true })
	create(t, n.c, n.s)
	n.has(v1alpha1.ConditionScheduled, metav1.ConditionFalse, v1alpha1.ReasonSuspended)
	n.at(n.night(0).Add(time.Hour))
	changed(t, n.c, n.s, func() { n.s.Spec.Suspend = false })
	n.has(v1alpha1.ConditionScheduled, metav1.ConditionTrue, v1alpha1.ReasonScheduled)
	n.wantsLeft("")
	n.at(n.night(1))
	n.begun(1)
}

// matrixOf makes runs that a gate can compare.
func matrixOf(s *v1alpha1.PgScheduledBenchmarkSpec) {
	s.Template.Spec.Matrix = &v1alpha1.BenchmarkMatrix{Repeats: 3, Rest: "0s"}
	s.Gate = &v1alpha1.ScheduleGate{}
}

// Real gates over simulated figures: the second night is half as fast.
func TestScheduleHistoryKeepsTheBaseline(t *testing.T) {
	n := newNights(t, matrixOf, func(s *v1alpha1.PgScheduledBenchmarkSpec) { s.SuccessfulHistoryLimit = new(int32(1)) })
	cr := readyCluster(t, n.c, "gated-nights")
	n.s.Namespace, n.s.Spec.Template.Spec.Cluster = cr.Namespace, cr.Name
	create(t, n.c, n.s)
	n.has(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	for day, tps := range []int{1000, 500, 500} {
		n.at(n.night(day))
		b := n.begun(day)
		if gate := b.Spec.Gate; (gate == nil) != (day == 0) || gate != nil && (gate.Baseline != n.run(0).Name || gate.Threshold != 5) {
			t.Errorf("night %d: %+v", day, gate)
		}
		s := newBench(n.c, b)
		s.from = tps
		s.toTheEnd(t)
		if day > 0 {
			n.has(v1alpha1.ConditionNotRegressed, metav1.ConditionFalse, v1alpha1.ReasonRegressed)
		}
		n.has(v1alpha1.ConditionLastRunSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
	}
	n.wantsLeft("0 2")
	n.has(v1alpha1.ConditionNotRegressed, metav1.ConditionFalse, v1alpha1.ReasonRegressed)
	if n.s.Status.Baseline != n.run(0).Name || n.s.Status.LastResult.NotRegressed != metav1.ConditionFalse {
		t.Errorf("%+v", n.s.Status)
	}
}

// A condition reports errors that only the library detects, and a change of the schedule
// corrects them.
func TestInvalidScheduleStalls(t *testing.T) {
	n := newNights(t, func(s *v1alpha1.PgScheduledBenchmarkSpec) { s.Schedule = "61 2 * * *" })
	create(t, n.c, n.s)
	n.has(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec)
	n.at(n.night(0).Add(time.Hour))
	changed(t, n.c, n.s, func() { n.s.Spec.Schedule = "@monthly" })
	n.has(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	n.wantsLeft("")
}

// A schedule does not change a foreign PgBenchmark that has the name.
func TestScheduleDoesNotTakeOverABenchmark(t *testing.T) {
	n := newNights(t)
	other := n.run(0)
	other.Namespace, other.Spec.Cluster = n.s.Namespace, "elsewhere"
	create(t, n.c, other)
	create(t, n.c, n.s)
	n.has(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	n.at(n.night(0))
	if message := n.has(v1alpha1.ConditionOnTime, metav1.ConditionFalse, v1alpha1.ReasonRejected); !strings.Contains(message, "was not created by this schedule") {
		t.Error(message)
	}
	if err := n.c.Get(t.Context(), client.ObjectKeyFromObject(other), other); err != nil || len(other.OwnerReferences) > 0 {
		t.Errorf("%v %+v", err, other)
	}
}

// A deleted schedule makes nothing more. Its runs are for the garbage collector, which
// this API server does not have.
func TestDeletedScheduleCreatesNoRun(t *testing.T) {
	n := newNights(t)
	create(t, n.c, n.s)
	n.has(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	n.at(n.night(0))
	b := n.begun(0)
	if err := n.c.Delete(t.Context(), n.s); err != nil {
		t.Fatal(err)
	}
	gone(t, n.c, client.ObjectKeyFromObject(n.s), &v1alpha1.PgScheduledBenchmark{})
	n.clock.SetTime(n.night(1))
	settled(t, n.w)
	n.wantsLeft("0")
	if owner := metav1.GetControllerOf(b); owner == nil || owner.UID != n.s.UID || owner.BlockOwnerDeletion != nil {
		t.Errorf("%+v", b.OwnerReferences)
	}
}

// Without the feature gate a matrix creates no cluster, and names the gate. Clusters that
// existed before stay, and the matrix continues with them.
func TestMatrixClustersAreSwitchedOn(t *testing.T) {
	c := apiserver.Client(t, config)
	off := func(o *controllers.Options) { o.MatrixClusters = false }
	stop := manager.Start(t, config, off)
	ns := namespace(t, c)
	storage(t, c, "withheld")
	b := matrix(ns, "tiers", "withheld")
	create(t, c, b)
	withheld := func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		stalled := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionStalled)
		if stalled == nil || stalled.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(stalled.Message, "--feature-gates=MatrixClusters=true") {
			return fmt.Errorf("%+v", b.Status)
		}
		return nil
	}
	eventually(t, "the refusal", withheld)
	clusters := &v1alpha1.PgStorageClusterList{}
	if err := c.List(t.Context(), clusters, client.InNamespace(ns)); err != nil || len(clusters.Items) > 0 || b.Status.CompletionTime != nil {
		t.Errorf("%v: %d clusters, %+v", err, len(clusters.Items), b.Status)
	}
	stop()
	stop = manager.Start(t, config)
	s := newBench(c, b)
	eventually(t, "the first run", func(ctx context.Context) error {
		if err := s.simulate(ctx, t); err != nil {
			return err
		}
		if len(s.uids) == 0 {
			return errors.New("no run")
		}
		return nil
	})
	stop()
	stop = manager.Start(t, config, off)
	eventually(t, "the refusal in the middle", withheld)
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the names of what may not be deleted", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		cleaned := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleanedUp)
		if cleaned == nil || !strings.Contains(cleaned.Message, "pgb-tiers-") || !strings.Contains(cleaned.Message, "delete them yourself") {
			return fmt.Errorf("%+v", b.Status.Conditions)
		}
		return nil
	})
	if err := c.List(t.Context(), clusters, client.InNamespace(ns)); err != nil || len(clusters.Items) == 0 || clusters.Items[0].DeletionTimestamp != nil {
		t.Errorf("%v: it deleted what it may not: %+v", err, clusters.Items)
	}
	stop()
	manager.Start(t, config)
	gone(t, c, client.ObjectKeyFromObject(b), &v1alpha1.PgBenchmark{})
}

// A run of a schedule is a PgBenchmark like any: it comes to its Job.
func TestScheduledRunMeasures(t *testing.T) {
	c := apiserver.Client(t, config)
	clock := clocktesting.NewFakeClock(time.Now())
	manager.Start(t, config, func(o *controllers.Options) { o.Clock = clock })
	cr := readyCluster(t, c, "scheduled")
	s := &v1alpha1.PgScheduledBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: "hourly"},
		Spec:       v1alpha1.PgScheduledBenchmarkSpec{Schedule: "@hourly", Template: v1alpha1.BenchmarkTemplate{Spec: v1alpha1.PgBenchmarkSpec{Cluster: cr.Name}}},
	}
	create(t, c, s)
	due := time.Now().Truncate(time.Hour).Add(2 * time.Hour)
	clock.SetTime(due)
	changed(t, c, s, func() { s.Annotations = map[string]string{"example.com/poke": "1"} })
	b := &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: naming.ScheduledBenchmark("hourly", due)}}
	eventually(t, "the run", func(ctx context.Context) error { return c.Get(ctx, client.ObjectKeyFromObject(b), b) })
	startedJob(t, c, b)
	simulatedReport(t, c, b, succeeded())
	eventually(t, "the result", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		if r := s.Status.LastResult; r == nil || r.Phase != "Succeeded" || r.TPS != "123.45" || r.Durability != v1alpha1.DurabilityLocal {
			return fmt.Errorf("%+v", s.Status)
		}
		return nil
	})
}
