//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/report"
)

// repeats of a variant: as few as useful figures allow, or as intervals need under -short.
func repeats() int {
	if testing.Short() {
		return 2
	}
	return 5
}

// variants of the matrix tiers: two durabilities by two numbers of clients.
const variants = 4

// tiers is durability Local and Async by 1 and 8 clients. Integrity is Basic, since Full creates
// a second role and reads all tables again for each run. The report then lists as not checked
// what only a superuser may read.
func tiers(namespace string) *v1alpha1.PgBenchmark {
	like := cluster(namespace, "").Spec
	return &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tiers"},
		Spec: v1alpha1.PgBenchmarkSpec{
			Template: &v1alpha1.ClusterTemplate{
				Profile: like.Profile, Postgres: like.Postgres, Storage: like.Storage, Resources: like.Resources, Workload: like.Workload,
			},
			Matrix: &v1alpha1.BenchmarkMatrix{
				Durability: []v1alpha1.DurabilityTier{v1alpha1.DurabilityLocal, v1alpha1.DurabilityAsync}, Repeats: int32(repeats()), Rest: "0s",
			},
			Pgbench: v1alpha1.PgbenchSpec{Scale: 8, Script: v1alpha1.ScriptSimpleUpdate, Clients: []int32{1, 8}, Duration: "3s", WarmUp: "1s", Integrity: v1alpha1.IntegrityBasic},
		},
	}
}

// TestMatrixMeasuresAndDeletesItsClusters measures a matrix on clusters of its own, which go again, and reports on
// it by the plugin as it is shipped.
func TestMatrixMeasuresAndDeletesItsClusters(t *testing.T) {
	if err := helm("matrixClusters.enabled=true"); err != nil {
		t.Fatal(err)
	}
	profile(t)
	ns := namespace(t)
	b := tiers(ns)
	start := time.Now()
	create(t, b)
	eventually(t, "the matrix to end", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		m := b.Status.Matrix
		if m == nil || b.Status.Phase != "Succeeded" || !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionCleanedUp) {
			return fmt.Errorf("phase %s, runs %s", b.Status.Phase, progressOf(m))
		}
		return nil
	})
	runs := variants * repeats()
	t.Logf("%d runs on 2 clusters took %s", runs, time.Since(start).Round(time.Second))
	if m := b.Status.Matrix; int(m.Succeeded) != runs || m.Failed != 0 {
		t.Errorf("%d runs succeeded, %d failed: %+v", m.Succeeded, m.Failed, m.Variants)
	}
	clusters := &v1alpha1.PgStorageClusterList{}
	if err := c.List(t.Context(), clusters, client.InNamespace(ns)); err != nil || len(clusters.Items) > 0 {
		t.Errorf("%d clusters of the matrix are left: %v", len(clusters.Items), err)
	}
	reports(t, b)
}

func progressOf(m *v1alpha1.MatrixStatus) string {
	if m == nil {
		return "not planned"
	}
	return m.Progress
}

// reports of the plugin, which are kept for people.
func reports(t *testing.T, b *v1alpha1.PgBenchmark) {
	t.Helper()
	folder := artefacts(t)
	write := func(file string) string {
		path := filepath.Join(folder, file)
		if _, err := command(t.Context(), os.Getenv("PGSTORAGE_PLUGIN"), "report", b.Name, "-n", b.Namespace, "-f", path); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	text, page, data := write("matrix.txt"), write("matrix.html"), write("matrix.json")
	r, err := report.Read(bytes.NewReader([]byte(data)))
	if err != nil {
		t.Fatal(err)
	}
	checkGroups(t, b, r)
	checkText(t, r, text)
	for _, want := range []string{"<h2>Durability Local</h2>", "<h2>Durability Async</h2>", "<svg", "95% interval"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	t.Logf("the reports are in %s:\n%s", folder, text)
}

// checkGroups of the report, and the ranking of the status that they stand beside.
func checkGroups(t *testing.T, b *v1alpha1.PgBenchmark, r report.Report) {
	t.Helper()
	if len(r.Notes) > 0 || len(r.Groups) != 2 || r.Progress.Succeeded != variants*repeats() {
		t.Fatalf("notes %q, %d groups, progress %+v", r.Notes, len(r.Groups), r.Progress)
	}
	for _, g := range r.Groups {
		tier := "durability=" + string(g.Durability)
		for _, v := range g.Variants {
			if !strings.HasPrefix(v.Name, tier) || len(v.Repeats) != repeats() {
				t.Errorf("%s: %s with %d repeats", tier, v.Name, len(v.Repeats))
			}
			for _, repeat := range v.Repeats {
				if len(repeat.Seconds) == 0 || repeat.TPS <= 0 {
					t.Errorf("%s repeat %d is not whole: %+v", v.Name, repeat.Number, repeat)
				}
			}
		}
		for _, d := range g.Differences {
			if !strings.HasPrefix(d.Baseline, tier) || !strings.HasPrefix(d.Variant, tier) {
				t.Errorf("compared across tiers: %s", d.Message)
			}
		}
		if err := errors.Join(ranked(g), statusRanks(b, g)); err != nil {
			t.Errorf("%s: %v", tier, err)
		}
	}
}

// ranked says what is wrong with a group. A better rank has the higher mean, and a figure of
// several repeats has its interval. A variant without a valid run has no rank, on a machine
// that others use. Which one is faster depends on the machine: with two processors, eight
// clients may well be slower than one.
func ranked(g report.Group) error {
	means := map[string]float64{}
	for _, v := range g.Variants {
		if v.TPS != nil {
			means[v.Name] = v.TPS.Mean
		}
		if v.TPS != nil && v.TPS.N > 1 && v.TPS.Interval == nil {
			return fmt.Errorf("%s has no interval: %+v", v.Name, v.TPS)
		}
		counts := slices.ContainsFunc(v.Repeats, func(r report.Repeat) bool { return r.Counted })
		if counts != (v.TPS != nil) {
			return fmt.Errorf("%s: a run counts: %t, a figure: %+v", v.Name, counts, v.TPS)
		}
	}
	if len(g.Ranking) != len(means) || len(means) > 0 && g.Ranking[0].Rank != 1 {
		return fmt.Errorf("of %d variants with figures these are ranked: %+v", len(means), g.Ranking)
	}
	for i, place := range g.Ranking {
		for _, after := range g.Ranking[i+1:] {
			if after.Rank < place.Rank || after.Rank > place.Rank && means[after.Variant] >= means[place.Variant] {
				return fmt.Errorf("%+v with the mean %g is before %+v with %g", place, means[place.Variant], after, means[after.Variant])
			}
		}
	}
	return nil
}

// statusRanks says whether the status ranks the variants of a tier as the report does.
func statusRanks(b *v1alpha1.PgBenchmark, g report.Group) error {
	for _, tier := range b.Status.Matrix.Tiers {
		if tier.Durability != g.Durability {
			continue
		}
		if len(tier.Ranking) != len(g.Ranking) {
			return fmt.Errorf("the status ranks %d variants, the report %d", len(tier.Ranking), len(g.Ranking))
		}
		for i, place := range tier.Ranking {
			if place.Variant != g.Ranking[i].Variant || int(place.Rank) != g.Ranking[i].Rank {
				return fmt.Errorf("the status has %+v, the report %+v", place, g.Ranking[i])
			}
		}
		return nil
	}
	if len(g.Ranking) == 0 {
		return nil
	}
	return errors.New("the status has no ranking of it")
}

// checkText of both groups: nothing of a tier stands in the other's.
func checkText(t *testing.T, r report.Report, text string) {
	t.Helper()
	top, rest, found := strings.Cut(text, "\nDurability Local\n")
	local, async, both := strings.Cut(rest, "\nDurability Async\n")
	// What follows the tiers is of both, such as the variants that have no figure.
	async, _, setup := strings.Cut(async, "\nSetup\n")
	if !found || !both || !setup || strings.Contains(local, "durability=Async") || strings.Contains(async, "durability=Local") {
		t.Errorf("the groups do not stand apart:\n%s", text)
	}
	if !strings.Contains(top, "Results of different durability tiers are not compared") {
		t.Errorf("nothing is said of tiers:\n%s", top)
	}
	for name, group := range map[string]string{"Local": local, "Async": async} {
		// Without a valid run, as on a machine whose processors others took, there is no interval.
		figure := slices.ContainsFunc(r.Groups, func(g report.Group) bool {
			return string(g.Durability) == name && slices.ContainsFunc(g.Variants, func(v report.Variant) bool { return v.TPS != nil && v.TPS.Interval != nil })
		})
		if figure && (!strings.Contains(group, "TPS, mean") || !strings.Contains(group, "[")) {
			t.Errorf("%s has no figure with an interval", name)
		}
	}
}
