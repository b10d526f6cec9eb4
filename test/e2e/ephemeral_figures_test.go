//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/testing/document"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

const (
	// starts is how often a database is created beside a bare pod.
	starts = 5
	// mostStart is how much longer than a pod a database may take until its first query.
	mostStart = 15 * time.Second
	// atOnce is how many databases are created at once.
	atOnce = 20
)

// ephemeralFigures are the times of databases whose volumes are in memory.
type ephemeralFigures struct {
	*inMemory
	// pods and queries are the seconds until a bare pod runs, and until a database answers.
	pods, queries []float64
	// all is how long atOnce databases take until each is Ready.
	all time.Duration
}

// TestEphemeralFigures measures how long tests wait for a database, and writes the times into
// docs/benchmarks. It needs two workers: what Kubernetes sees of the memory of one is too little.
// Only make test-e2e-memory runs it.
func TestEphemeralFigures(t *testing.T) {
	if err := helm("memory.enabled=true", "agent.enabled=true", "agent.dryRun=false"); err != nil {
		t.Fatal(err)
	}
	everyWorker(t)
	f := &ephemeralFigures{inMemory: &inMemory{namespace: namespace(t)}}
	f.declare(t, "12Gi")
	step := live.InTurn(t)
	step("a database is queried seconds after a pod would run", f.first)
	step("twenty databases at once", f.together)
	step("the figures", f.publish)
}

// everyWorker gives each worker the label of the profile until the test ends. No agent runs on a
// control plane beside workers.
func everyWorker(t *testing.T) {
	t.Helper()
	nodes := &corev1.NodeList{}
	if err := c.List(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if len(node.Spec.Taints) > 0 {
			continue
		}
		inMemoryOn(t, node)
		t.Cleanup(func() {
			labelled := node.DeepCopy()
			delete(node.Labels, memoryLabel)
			if err := c.Patch(context.Background(), node, client.MergeFrom(labelled)); err != nil {
				t.Error(err)
			}
		})
	}
}

// first compares a database with a bare pod of the same image, in turn.
func (f *ephemeralFigures) first(t *testing.T) {
	for i := range starts {
		// Each has a name of its own: a pod that ends still answers for a while.
		pod, tests := timedPod(t, f.namespace), f.onMemory(f.namespace, fmt.Sprintf("first-%d", i))
		f.pods = append(f.pods, pod.Seconds())
		f.queries = append(f.queries, timedQuery(t, tests).Seconds())
		ready(t, tests)
		if err := c.Delete(t.Context(), tests); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the database to be gone", func(ctx context.Context) error {
			err := c.Get(ctx, client.ObjectKeyFromObject(tests), tests)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(err, errors.New(tests.Name+" is there"))
		})
	}
}

// timedPod returns how long a pod takes that needs only the image of a database.
func timedPod(t *testing.T, ns string) time.Duration {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: "bare-"},
		Spec:       corev1.PodSpec{NodeSelector: map[string]string{memoryLabel: "yes"}, Containers: []corev1.Container{{Name: "bare", Image: postgres + ":17", Command: []string{"sleep", "600"}}}},
	}
	took := timed(t, pod, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return nil
	})
	now := int64(0)
	if err := c.Delete(t.Context(), pod, &client.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	return took
}

// timedQuery creates a database, and returns how long it takes until it answers.
func timedQuery(t *testing.T, cr *v1alpha1.PgStorageCluster) time.Duration {
	t.Helper()
	took := timed(t, cr, func(ctx context.Context) error {
		out, err := command(ctx, "kubectl", "-n", cr.Namespace, "exec", cr.Name+"-1", "-c", "postgres", "--", "psql", "-XAtqc", "SELECT 1")
		if err != nil || out != "1" {
			return errors.Join(err, fmt.Errorf("it answers %q", out))
		}
		return nil
	})
	t.Logf("%s answered %.1f s after it was created", cr.Name, took.Seconds())
	return took
}

func (f *ephemeralFigures) together(t *testing.T) {
	began := time.Now()
	var all []*v1alpha1.PgStorageCluster
	for i := range atOnce {
		cr := f.onMemory(f.namespace, fmt.Sprintf("tests-%02d", i))
		cr.Spec.Resources = v1alpha1.ClusterResources{Requests: amounts("50m", "256Mi"), Limits: map[corev1.ResourceName]resource.Quantity{corev1.ResourceMemory: resource.MustParse("256Mi")}}
		create(t, cr)
		all = append(all, cr)
	}
	for _, cr := range all {
		ready(t, cr)
		if got := psql(t, f.namespace, cr.Status.Database.Primary, "SHOW fsync"); got != "off" {
			t.Errorf("fsync of %s is %s", cr.Name, got)
		}
	}
	f.all = time.Since(began)
	t.Logf("%d databases were Ready after %s", atOnce, f.all.Round(time.Second))
	for _, o := range append([]client.Object{f.profile}, objects(all)...) {
		if err := c.Delete(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
	f.gone(t)
}

func objects(all []*v1alpha1.PgStorageCluster) []client.Object {
	var out []client.Object
	for _, cr := range all {
		out = append(out, cr)
	}
	return out
}

// publish the figures in docs/benchmarks, and judge them.
func (f *ephemeralFigures) publish(t *testing.T) {
	place := document.Place{Begin: "<!-- written by make test-e2e-memory -->", End: "<!-- end of what make test-e2e-memory writes -->"}
	pod, err := statistics.Summarise(f.pods)
	if err != nil {
		t.Fatal(err)
	}
	query, err := statistics.Summarise(f.queries)
	if err != nil {
		t.Fatal(err)
	}
	longer, most, verdict := query.Median-pod.Median, query.Max-pod.Median, "PASS"
	if most > mostStart.Seconds() {
		verdict = "MISS"
		t.Errorf("the first query came up to %.1f s after a bare pod would run, want at most %s", most, mostStart)
	}
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "Date: %s. Medians of %d, with the lowest and the highest.\n\n| what | figure | mark | verdict |\n|---|---|---|---|\n", time.Now().UTC().Format(time.DateOnly), starts)
	for _, row := range []struct{ what, figure, mark, verdict string }{
		{"a bare pod of the image runs", seconds(pod), "", ""},
		{"a database answers its first query", seconds(query), "", ""},
		{"a database takes longer than the pod", fmt.Sprintf("%.1f s (at most %.1f s)", longer, most), fmt.Sprintf("at most %.0f s", mostStart.Seconds()), verdict},
		{fmt.Sprintf("%d databases at once are Ready", atOnce), fmt.Sprintf("%.0f s", f.all.Seconds()), "", ""},
	} {
		_, _ = fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", row.what, row.figure, row.mark, row.verdict)
	}
	if err := place.Write(filepath.Join(repository.Root(), "docs", "benchmarks", "ephemeral.md"), text.String()); err != nil {
		t.Error(err)
	}
}

func seconds(of statistics.Summary) string {
	return fmt.Sprintf("%.1f s (%.1f to %.1f s)", of.Median, of.Min, of.Max)
}
