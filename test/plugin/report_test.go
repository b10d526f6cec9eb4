package plugin

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/benchmarks"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// goldens has the reports of the pure package on the same objects.
const goldens = "../../internal/cli/report/testdata/"

// store the objects of a benchmark with their status, as manager and runner would.
func store(t *testing.T, c client.Client, o benchmarks.Objects) {
	t.Helper()
	write := func(b, owner *v1alpha1.PgBenchmark) {
		status := *b.Status.DeepCopy()
		b.UID, b.OwnerReferences = "", ownedBy(owner)
		create(t, c, b)
		b.Status = status
		if err := c.Status().Update(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	write(o.Benchmark, nil)
	for _, run := range o.Runs {
		write(run, o.Benchmark)
	}
	for i, record := range o.Records {
		owner := o.Benchmark
		if len(o.Runs) > 0 {
			owner = o.Runs[i]
		}
		if record != nil {
			record.OwnerReferences = ownedBy(owner)
			create(t, c, record)
		}
	}
}

func ownedBy(owner *v1alpha1.PgBenchmark) []metav1.OwnerReference {
	if owner == nil {
		return nil
	}
	return []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1alpha1.GroupVersion.WithKind("PgBenchmark"))}
}

func TestReportFromAClusterMatchesGoldenFiles(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "bench")
	store(t, c, benchmarks.Whole(t, "bench"))
	for name, args := range map[string][]string{
		"tiers.golden.txt": {"report", "tiers", "-n", "bench"},
		"tiers.golden.md":  {"report", "tiers", "-n", "bench", "-o", "markdown"},
		"tiers.golden.csv": {"report", "tiers", "-n", "bench", "-o", "csv"},
	} {
		t.Run(name, func(t *testing.T) { golden.Text(t, goldens+name, must(t, args...)) })
	}
	t.Run("later, from a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tiers.json")
		must(t, "report", "tiers", "-n", "bench", "-f", path)
		golden.Text(t, goldens+"tiers.golden.txt", must(t, "report", "--from", path))
	})
	t.Run("as a page", func(t *testing.T) {
		page := must(t, "report", "tiers", "-n", "bench", "-o", "html")
		for _, want := range []string{"<h1>Benchmark bench/tiers</h1>", "Durability Local", "Durability Async", "<svg"} {
			if !strings.Contains(page, want) {
				t.Errorf("no %q", want)
			}
		}
	})
	t.Run("names are completed", func(t *testing.T) {
		if out := must(t, "__complete", "-n", "bench", "report", ""); !strings.HasPrefix(out, "tiers\n") {
			t.Errorf("%q", out)
		}
		if out := must(t, "__complete", "-n", "bench", "report", "tiers", "-o", ""); !strings.HasPrefix(out, "text\nhtml\nsvg\njson\ncsv\nmarkdown\n") {
			t.Errorf("%q", out)
		}
	})
	t.Run("list leaves the runs of a matrix out", func(t *testing.T) {
		if out := must(t, "bench", "list", "-n", "bench"); strings.Count(out, "\n") != 2 || !strings.Contains(out, "20 of 20") {
			t.Error(out)
		}
		if out := must(t, "bench", "list", "--runs", "-n", "bench"); strings.Count(out, "\n") != 22 {
			t.Error(out)
		}
	})
	t.Run("absent", func(t *testing.T) {
		if _, err := plugin(t, "report", "absent", "-n", "bench"); err == nil || !strings.Contains(err.Error(), "PgBenchmark absent does not exist in namespace bench") {
			t.Error(err)
		}
	})
}

// Without records the report uses the status.
func TestReportMarksAnIncompleteMatrix(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "half-way")
	o := benchmarks.HalfWay(t, "half-way")
	store(t, c, o)
	as := func(name string) string {
		content := read(t, goldens+name)
		return strings.ReplaceAll(content, "Benchmark bench/", "Benchmark half-way/")
	}
	if got := must(t, "report", "tiers", "-n", "half-way"); got != as("half-way.golden.txt") {
		t.Error(got)
	}
	for _, record := range o.Records {
		if err := c.Delete(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	if got := must(t, "report", "tiers", "-n", "half-way"); got != as("bare.golden.txt") {
		t.Error(got)
	}
}

func TestReportIgnoresRecordsOfOtherOwners(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "single")
	o := benchmarks.Single(t, "single", 5, benchmarks.Local(t))
	store(t, c, o)
	want := strings.ReplaceAll(read(t, goldens+"single.golden.txt"), "Benchmark bench/", "Benchmark single/")
	if got := must(t, "report", "nightly", "-n", "single"); got != want {
		t.Error(got)
	}
	record := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o.Records[0]), record); err != nil {
		t.Fatal(err)
	}
	record.OwnerReferences[0].UID = "00000000-0000-4000-8000-000000000000"
	if err := c.Update(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if got := must(t, "report", "nightly", "-n", "single"); !strings.Contains(strings.Join(strings.Fields(got), " "), "Only the status describes 10 run(s)") {
		t.Error(got)
	}
}

// The API server accepts a name with markup, a formula and an escape sequence.
func TestReportEscapesHostileNames(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "hostile")
	store(t, c, benchmarks.Hostile(t, "hostile"))
	folder := t.TempDir()
	for _, form := range []string{"text", "html", "svg", "json", "csv", "markdown"} {
		path := filepath.Join(folder, form)
		must(t, "report", "tiers", "-n", "hostile", "-o", form, "-f", path)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(content, []byte("calc")) {
			t.Errorf("%s does not contain the name", form)
		}
		if bytes.Contains(content, []byte("\x1b")) || form != "json" && bytes.Contains(content, []byte("\u202e")) || (form == "html" || form == "svg") && bytes.Contains(content, []byte("<script")) {
			t.Errorf("%s does not escape the name", form)
		}
	}
}
