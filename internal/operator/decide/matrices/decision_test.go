package matrices

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

func TestObjects(t *testing.T) {
	named := func(s *v1alpha1.PgBenchmarkSpec) {
		s.Template.Durability = v1alpha1.DurabilityLocal
		s.Pgbench.CustomScripts = []v1alpha1.CustomScript{{ConfigMap: "sql", Key: "a.sql", Weight: 1}}
		s.Matrix.Durability = nil
		s.Matrix.Variants = []v1alpha1.MatrixVariant{
			{Name: "as-is"},
			{Name: "tuned", Profile: "faster", Script: v1alpha1.ScriptSelectOnly, Parameters: []v1alpha1.ParameterValue{{Name: "work_mem", Value: "64MB"}}},
		}
	}
	for name, change := range map[string]func(*v1alpha1.PgBenchmarkSpec){
		"product":  nil,
		"variants": named,
		"given": func(s *v1alpha1.PgBenchmarkSpec) {
			s.Template, s.Cluster, s.Matrix.Durability = nil, "shop", nil
			s.Matrix.Scripts = []v1alpha1.Script{v1alpha1.ScriptTPCB, v1alpha1.ScriptSelectOnly}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := newDesign(twoByTwo(change), 0)
			if err != nil {
				t.Fatal(err)
			}
			p := &plan.Plan{}
			add := func(o plan.Object, err error) {
				if err != nil {
					t.Fatal(err)
				}
				p.Add(o)
			}
			for _, target := range d.order() {
				if d.b.Spec.Template != nil {
					add(d.clusterObject(target))
				}
			}
			for _, r := range d.Runs[:len(d.Variants)] {
				add(d.runObject(r))
			}
			golden.Plan(t, name, p)
		})
	}
}

// Each run measures its own layers, and the estimate knows.
func TestLayersOfEachRun(t *testing.T) {
	w := newWorld(t, twoByTwo(func(s *v1alpha1.PgBenchmarkSpec) {
		s.Layers = &v1alpha1.BenchmarkLayers{Duration: "5s", Repeats: 3, FioImage: "registry.example/fio:3.39"}
	}))
	if m := w.next().Status.Matrix; m.Estimate != "1h50m0s" {
		t.Errorf("estimate %s", m.Estimate)
	}
	d, err := newDesign(w.b, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Runs {
		o, err := d.runObject(r)
		if err != nil {
			t.Fatal(err)
		}
		layers, found, err := unstructured.NestedMap(o.Content.Object, "spec", "layers")
		if err != nil || !found || layers["fioImage"] != "registry.example/fio:3.39" || layers["duration"] != "5s" {
			t.Errorf("%s: %v %v", o.Key().Name, layers, err)
		}
	}
}

func TestAWholeMatrix(t *testing.T) {
	w := newWorld(t, twoByTwo(nil))
	w.tps = func(variant string, repeat int) float64 {
		base := map[string]float64{"durability=Local clients=1": 300, "durability=Local clients=8": 1200, "durability=Async clients=1": 1500, "durability=Async clients=8": 6000}[variant]
		return base * (1 + float64(repeat*repeat%7)/1000)
	}
	first := w.next()
	if m := first.Status.Matrix; m.Runs != 20 || m.Clusters != 2 || m.Estimate != "1h0m0s" || m.Progress != "0 of 20" {
		t.Errorf("before the start: %+v", m)
	}
	w.toTheEnd()
	for name, n := range w.begun {
		if n != 1 {
			t.Errorf("%s was begun %d times", name, n)
		}
	}
	if len(w.begun) != 20 || w.most != 1 || len(w.facts.Clusters) != 0 || len(w.gone) != 2 {
		t.Errorf("%d runs, %d at once, clusters %v left", len(w.begun), w.most, w.facts.Clusters)
	}
	s := w.b.Status
	if s.Phase != "Succeeded" || s.Durability != "" || s.BestTPS != "" || s.Matrix.Percent != 100 || s.Matrix.Current != nil || s.Matrix.Remaining != "" {
		t.Errorf("%+v %+v", s, s.Matrix)
	}
	if c := w.condition(v1alpha1.ConditionComplete); c.Message != "20 runs of 4 variants: 20 succeeded, 0 failed, 0 skipped" {
		t.Errorf("%+v", c)
	}
	var got []string
	for _, tier := range s.Matrix.Tiers {
		for _, place := range tier.Ranking {
			got = append(got, string(tier.Durability)+": "+place.Variant)
		}
	}
	want := []string{
		"Local: durability=Local clients=8", "Local: durability=Local clients=1",
		"Async: durability=Async clients=8", "Async: durability=Async clients=1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if v := s.Matrix.Variants[0]; v.MedianTPS != "300.60" || v.LowerTPS == "" || len(v.Runs) != 5 || v.Fingerprint != "f" {
		t.Errorf("%+v", v)
	}
	if c := w.condition(v1alpha1.ConditionReady); c.Status != metav1.ConditionTrue {
		t.Errorf("%+v", c)
	}
	// A pass at rest says the same again.
	if diff := cmp.Diff(s.Matrix, w.next().Status.Matrix); diff != "" {
		t.Errorf("at rest:\n%s", diff)
	}
}

// The manager is killed between any two writes; objects that ended may be deleted by
// anybody.
func TestNoRepeatIsLostOrCountedTwice(t *testing.T) {
	for seed := range uint64(60) {
		chance := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t, twoByTwo(func(s *v1alpha1.PgBenchmarkSpec) { s.Matrix.Seed, s.Matrix.Repeats = int64(seed+1), 3 }))
		w.tps = func(string, int) float64 { return float64(chance.IntN(100) - 10) }
		for passes := 0; !w.cleanedUp(); passes++ {
			if passes > 5000 {
				t.Fatalf("seed %d does not come to an end: %+v", seed, w.b.Status)
			}
			w.take(w.next(), chance.IntN(4))
			if chance.IntN(2) == 0 {
				w.live()
			}
			if m := w.b.Status.Matrix; m != nil && chance.IntN(9) == 0 {
				w.forgetRecorded()
			}
		}
		m := w.b.Status.Matrix
		if m.Succeeded+m.Failed+m.Skipped != 12 || int(m.Succeeded+m.Failed) != len(w.begun) || w.most > 1 {
			t.Errorf("seed %d: %+v of %d begun, %d at once", seed, m, len(w.begun), w.most)
		}
		for name, n := range w.begun {
			if n != 1 {
				t.Errorf("seed %d: %s was begun %d times", seed, name, n)
			}
		}
		recorded := 0
		for _, outcome := range []string{"Succeeded", "Failed"} {
			for _, n := range w.recorded(outcome) {
				recorded += n
			}
		}
		if recorded != len(w.begun) || len(w.facts.Clusters) != 0 {
			t.Errorf("seed %d: %d records of %d runs, clusters left: %d", seed, recorded, len(w.begun), len(w.facts.Clusters))
		}
	}
}

// forgetRecorded deletes the runs that the status has records of.
func (w *world) forgetRecorded() {
	known := map[string]bool{}
	for _, v := range w.b.Status.Matrix.Variants {
		for _, run := range v.Runs {
			known[run.Benchmark] = true
		}
	}
	w.facts.Benchmarks = slices.DeleteFunc(w.facts.Benchmarks, func(b *v1alpha1.PgBenchmark) bool { return known[b.Name] })
}

func TestAFailedVariantIsAResult(t *testing.T) {
	w := newWorld(t, twoByTwo(nil))
	w.tps = func(variant string, repeat int) float64 {
		if variant == "durability=Async clients=8" {
			return -1
		}
		return float64(1000 + repeat)
	}
	w.toTheEnd()
	m := w.b.Status.Matrix
	if w.b.Status.Phase != "Succeeded" || m.Succeeded != 15 || m.Failed != 2 || m.Skipped != 3 {
		t.Errorf("%s %+v", w.b.Status.Phase, m)
	}
	if diff := cmp.Diff(map[string]int{"durability=Async clients=8": 2}, w.recorded("Failed")); diff != "" {
		t.Error(diff)
	}
	for _, v := range m.Variants {
		for _, run := range v.Runs {
			if run.Outcome == "Failed" && (run.Reason != v1alpha1.ReasonFailed || run.Message != "simulated") {
				t.Errorf("%+v", run)
			}
		}
	}
}

func TestAllFailed(t *testing.T) {
	w := newWorld(t, twoByTwo(nil))
	w.tps = func(string, int) float64 { return -1 }
	w.toTheEnd()
	c := w.condition(v1alpha1.ConditionComplete)
	if w.b.Status.Phase != "Failed" || c.Reason != v1alpha1.ReasonFailed || !strings.Contains(c.Message, "0 succeeded, 8 failed, 12 skipped; first durability=") {
		t.Errorf("%s %+v", w.b.Status.Phase, c)
	}
}

// What a target lacks fails the run that waits for it.
func TestClustersThatDoNotBecomeReady(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(*world)
		reason  string
		says    string
	}{
		"too late":          {func(w *world) { w.now = w.now.Add(20 * time.Minute) }, v1alpha1.ReasonTargetNotReady, "was not Ready within 20m0s: " + msgNotReconciled},
		"needs a person":    {func(w *world) { w.stall() }, v1alpha1.ReasonTargetNotReady, "InvalidParameters: no such parameter"},
		"refused":           {func(w *world) { w.facts.Refusal = "spec.durability is invalid" }, v1alpha1.ReasonRejected, "spec.durability is invalid"},
		"somebody else's":   {func(w *world) { w.facts.Clusters[0].OwnerReferences = nil }, v1alpha1.ReasonClusterNotOwned, "exists and does not belong to this benchmark"},
		"owner of its name": {func(w *world) { w.facts.Clusters[0].OwnerReferences[0].UID = "another" }, v1alpha1.ReasonClusterNotOwned, "exists and does not belong to this benchmark"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, twoByTwo(nil))
			w.take(w.next(), 3)
			if len(w.facts.Clusters) != 1 || len(w.facts.Benchmarks) != 0 {
				t.Fatalf("a cluster and no run yet: %+v", w.facts)
			}
			test.happens(w)
			step := w.next()
			w.take(step, 3)
			var found []v1alpha1.MatrixRun
			for _, v := range w.b.Status.Matrix.Variants {
				found = append(found, v.Runs...)
			}
			if len(found) != 1 || found[0].Outcome != "Failed" || found[0].Reason != test.reason || !strings.Contains(found[0].Message, test.says) {
				t.Errorf("%+v", found)
			}
			if strings.HasPrefix(test.reason, "ClusterNot") && len(step.Plan.Objects)+len(step.Clusters) > 0 {
				t.Errorf("it writes to what is not its own: %+v", step)
			}
		})
	}
}

func (w *world) stall() {
	for _, kind := range []string{v1alpha1.ConditionStalled, v1alpha1.ConditionReady} {
		s := metav1.ConditionFalse
		if kind == v1alpha1.ConditionStalled {
			s = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&w.facts.Clusters[0].Status.Conditions, metav1.Condition{Type: kind, Status: s, Reason: v1alpha1.ReasonInvalidParameters, Message: "no such parameter"})
	}
}

// A run without a Job is abandoned in time, and deleted before another begins.
func TestARunWithoutAJob(t *testing.T) {
	begun := func(t *testing.T) *world {
		w := newWorld(t, twoByTwo(nil))
		w.take(w.next(), 3)
		w.live()
		w.take(w.next(), 3)
		if len(w.facts.Benchmarks) != 1 {
			t.Fatalf("no run: %+v", w.b.Status)
		}
		return w
	}
	t.Run("late", func(t *testing.T) {
		w := begun(t)
		w.now = w.now.Add(21 * time.Minute)
		w.take(w.next(), 3)
		if len(w.facts.Benchmarks) != 1 || w.b.Status.Matrix.Failed != 1 {
			t.Fatalf("the record comes first: %+v", w.b.Status.Matrix)
		}
		step := w.next()
		if len(step.Benchmarks) != 1 || len(step.Plan.Objects) != 0 {
			t.Errorf("%+v", step)
		}
	})
	t.Run("behind somebody else's", func(t *testing.T) {
		w := begun(t)
		meta.SetStatusCondition(&w.facts.Benchmarks[0].Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionTargetReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonWaitingForTurn})
		w.now = w.now.Add(5 * time.Hour)
		if step := w.next(); step.Status.Matrix.Failed != 0 {
			t.Errorf("%+v", step.Status.Matrix)
		}
	})
	t.Run("deleted by hand", func(t *testing.T) {
		w := begun(t)
		w.facts.Benchmarks = nil
		w.take(w.next(), 3)
		if len(w.facts.Benchmarks) != 1 {
			t.Error("it was not made again")
		}
	})
}

func TestRest(t *testing.T) {
	w := newWorld(t, twoByTwo(func(s *v1alpha1.PgBenchmarkSpec) { s.Matrix.Rest = "5m" }))
	for range 100 {
		if w.take(w.next(), 3); w.b.Status.Phase == "Resting" {
			break
		}
		w.live()
	}
	step := w.next()
	if step.Status.Phase != "Resting" || step.After <= 0 || step.After > 5*time.Minute || len(step.Plan.Objects) != 0 {
		t.Errorf("%+v", step)
	}
	w.now = w.now.Add(step.After)
	if step = w.next(); step.Status.Phase == "Resting" {
		t.Errorf("%+v", step)
	}
}

func TestTotalTimeout(t *testing.T) {
	w := newWorld(t, twoByTwo(func(s *v1alpha1.PgBenchmarkSpec) { s.Matrix.TotalTimeout = "50m" }))
	step := w.next()
	c, _ := step.Outcomes.Get(v1alpha1.ConditionComplete)
	if step.Status.Phase != "Failed" || c.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(c.Message, "spec.matrix: the matrix takes about 1h0m0s") || !strings.Contains(c.Message, "4 repeats would fit") {
		t.Errorf("%+v", c)
	}
	w = newWorld(t, twoByTwo(func(s *v1alpha1.PgBenchmarkSpec) { s.Matrix.TotalTimeout = "61m" }))
	for range 2000 {
		if w.take(w.next(), 3); w.cleanedUp() {
			break
		}
		w.live()
		w.now = w.now.Add(2 * time.Minute)
	}
	c2 := w.condition(v1alpha1.ConditionComplete)
	done := w.recorded("Succeeded")
	if c2.Reason != v1alpha1.ReasonBudgetSpent || c2.Status != metav1.ConditionTrue || len(done) != 4 || len(w.facts.Clusters) != 0 {
		t.Errorf("%+v %v", c2, done)
	}
	for variant, n := range done {
		if n != done["durability=Local clients=1"] || n == 0 || n == 5 {
			t.Errorf("%s has %d repeats of %v", variant, n, done)
		}
	}
}

func TestCleanupPolicies(t *testing.T) {
	async := func(variant string) bool { return strings.HasPrefix(variant, "durability=Async") }
	for name, test := range map[string]struct {
		policy v1alpha1.CleanupPolicy
		reason string
		left   int
	}{
		"always":         {v1alpha1.CleanupAlways, "", 0},
		"on success":     {v1alpha1.CleanupOnSuccess, "", 1},
		"never":          {v1alpha1.CleanupNever, "", 2},
		"always, damage": {v1alpha1.CleanupAlways, v1alpha1.ReasonIntegrityFailed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, twoByTwo(func(s *v1alpha1.PgBenchmarkSpec) { s.Pgbench.Cleanup = test.policy }))
			w.tps = func(variant string, repeat int) float64 {
				if async(variant) && repeat == 2 {
					return -1
				}
				return 100
			}
			for range 2000 {
				if w.take(w.next(), 3); w.cleanedUp() {
					break
				}
				w.live()
				for _, run := range w.facts.Benchmarks {
					if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionComplete); c != nil && test.reason != "" {
						c.Reason = test.reason
					}
				}
			}
			if len(w.facts.Clusters) != test.left {
				t.Errorf("%d clusters are left: %+v", len(w.facts.Clusters), w.condition(v1alpha1.ConditionCleanedUp))
			}
			if damaged := w.condition(v1alpha1.ConditionIntegrityVerified).Reason == v1alpha1.ReasonIntegrityFailed; damaged != (test.reason != "") {
				t.Errorf("damaged: %v", damaged)
			}
			if _, clusters := Own(w.b, w.facts); len(clusters) != test.left {
				t.Errorf("%d clusters go with the benchmark", len(clusters))
			}
		})
	}
}

// Objects that the matrix does not own are neither deleted nor counted.
func TestStrangersAreLeftAlone(t *testing.T) {
	w := newWorld(t, twoByTwo(nil))
	d, err := newDesign(w.b, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Runs[:2] {
		now := metav1.NewTime(start)
		run := &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Name: d.run(r.ID)}}
		run.Status.Phase, run.Status.CompletionTime = "Succeeded", &now
		w.facts.Benchmarks = append(w.facts.Benchmarks, run)
	}
	controller := true
	owned := []metav1.OwnerReference{{UID: w.b.UID, Controller: &controller}}
	w.facts.Clusters = append(w.facts.Clusters,
		&v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
		&v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Name: "claimed", OwnerReferences: owned}})
	if runs, clusters := Own(w.b, w.facts); len(runs)+len(clusters) != 0 {
		t.Errorf("%v %v", runs, clusters)
	}
	w.toTheEnd()
	var left []string
	for _, c := range w.facts.Clusters {
		left = append(left, c.Name)
	}
	if diff := cmp.Diff([]string{"shop", "claimed"}, left); diff != "" {
		t.Error(diff)
	}
	if m := w.b.Status.Matrix; m.Succeeded != 18 || m.Failed != 2 {
		t.Errorf("%+v", m)
	}
}

// On a cluster that is given, runs are made once it is Ready, and none is deleted.
func TestOnAGivenCluster(t *testing.T) {
	w := newWorld(t, twoByTwo(func(s *v1alpha1.PgBenchmarkSpec) { s.Template, s.Cluster, s.Matrix.Durability = nil, "shop", nil }))
	w.take(w.next(), 3)
	if c := w.condition(v1alpha1.ConditionTargetReady); c.Reason != v1alpha1.ReasonClusterNotFound || w.b.Status.Phase != "Pending" {
		t.Errorf("%+v", c)
	}
	w.facts.Clusters = []*v1alpha1.PgStorageCluster{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: v1alpha1.PgStorageClusterSpec{Durability: v1alpha1.DurabilityLocal}}}
	w.take(w.next(), 3)
	if c := w.condition(v1alpha1.ConditionTargetReady); c.Reason != v1alpha1.ReasonConsentRequired || w.b.Status.Phase != "Pending" || len(w.facts.Benchmarks) > 0 {
		t.Errorf("%+v", c)
	}
	w.facts.Clusters[0].Spec.BenchmarkPolicy = v1alpha1.BenchmarkAny
	w.take(w.next(), 3)
	if c := w.condition(v1alpha1.ConditionTargetReady); c.Reason != v1alpha1.ReasonTargetNotReady {
		t.Errorf("%+v", c)
	}
	w.toTheEnd()
	if s := w.b.Status; s.Durability != v1alpha1.DurabilityLocal || s.BestTPS != "903.00" || s.Matrix.Succeeded != 10 || len(w.facts.Clusters) != 1 {
		t.Errorf("%+v %+v", s, s.Matrix)
	}
}

// The figures of a cluster whose tier was changed are of another variant, also when it was
// changed while a run waited for its turn.
func TestAnotherTierIsNoRepeat(t *testing.T) {
	w := newWorld(t, twoByTwo(func(s *v1alpha1.PgBenchmarkSpec) { s.Template, s.Cluster, s.Matrix.Durability = nil, "shop", nil }))
	w.facts.Clusters = []*v1alpha1.PgStorageCluster{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: v1alpha1.PgStorageClusterSpec{Durability: v1alpha1.DurabilityLocal, BenchmarkPolicy: v1alpha1.BenchmarkAny}}}
	for w.b.Status.Matrix == nil || w.b.Status.Matrix.Succeeded < 2 {
		w.take(w.next(), 3)
		w.live()
	}
	w.queued = true
	for waiting := false; !waiting; waiting = slices.ContainsFunc(w.facts.Benchmarks, func(b *v1alpha1.PgBenchmark) bool {
		return b.Status.Job == "" && b.Status.Durability == v1alpha1.DurabilityLocal
	}) {
		w.take(w.next(), 3)
		w.live()
	}
	w.queued = false
	before := w.b.Status.Matrix.Succeeded
	w.facts.Clusters[0].Spec.Durability = v1alpha1.DurabilityAsync
	w.toTheEnd()
	if after := w.b.Status.Matrix.Succeeded; after != before {
		t.Errorf("%d runs succeeded with the other tier", after-before)
	}
	for _, v := range w.b.Status.Matrix.Variants {
		if v.Durability != v1alpha1.DurabilityLocal {
			t.Errorf("%+v", v)
		}
		for _, run := range v.Runs {
			if (run.Outcome == string(matrix.Failed)) != (run.Reason == v1alpha1.ReasonDurabilityDiffers) {
				t.Errorf("%+v", run)
			}
		}
	}
	if w.b.Status.Matrix.Failed == 0 {
		t.Error("figures of two tiers were put together")
	}
}

// The largest status that there can be is well below the 1.5 MB that etcd takes.
func TestTheStatusIsBounded(t *testing.T) {
	b := twoByTwo(func(s *v1alpha1.PgBenchmarkSpec) {
		s.Template.Durability, s.Matrix.Durability = v1alpha1.DurabilityLocal, nil
		s.Matrix.Repeats, s.Matrix.MaxFailures, s.Pgbench.Clients = matrix.MaxRepeats, matrix.MaxRepeats, []int32{1000}
		for i := range 4 {
			values := []string{strings.Repeat("a", 128), strings.Repeat("b", 128), strings.Repeat("c", 128), strings.Repeat("d", 128)}
			s.Matrix.Parameters = append(s.Matrix.Parameters, v1alpha1.ParameterAxis{Name: strings.Repeat(string(rune('w'+i)), 63), Values: values[:4-i%2*2]})
		}
	})
	d, err := newDesign(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.Status.Matrix = &v1alpha1.MatrixStatus{}
	for _, v := range d.Variants {
		s := v1alpha1.VariantStatus{Name: v.Name}
		for repeat := range matrix.MaxRepeats {
			run := failure(repeat+1, v1alpha1.ReasonDurabilityDiffers, strings.Repeat("x", 1000), metav1.NewTime(start))
			run.Benchmark = strings.Repeat("x", 50)
			s.Runs = append(s.Runs, run)
		}
		b.Status.Matrix.Variants = append(b.Status.Matrix.Variants, s)
	}
	step, err := Decide(b, observed.Matrix{}, metav1.NewTime(start))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(step.Status)
	if err != nil {
		t.Fatal(err)
	}
	if m := step.Status.Matrix; m.Failed != 1280 || len(raw) > 750_000 {
		t.Errorf("%d failed runs in %d bytes", m.Failed, len(raw))
	}
	t.Logf("%d bytes", len(raw))
}
