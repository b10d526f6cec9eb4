package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// measured creates a database to measure.
func measured(t *testing.T, c client.Client, name string) {
	t.Helper()
	namespace(t, c, name)
	cr := documents(t, samples+"cluster-quorum.yaml")[0]
	cr.SetNamespace(name)
	cr.SetName("shop")
	create(t, c, cr)
}

// only benchmark of a namespace.
func only(t *testing.T, c client.Client, namespace string) *v1alpha1.PgBenchmark {
	t.Helper()
	list := &v1alpha1.PgBenchmarkList{}
	if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 {
		t.Fatalf("got %d benchmarks, want 1", len(list.Items))
	}
	return &list.Items[0]
}

// report writes the status that manager and runner would write.
func report(t *testing.T, c client.Client, key client.ObjectKey, phase string, percent int32, message string) {
	t.Helper()
	b := &v1alpha1.PgBenchmark{}
	if err := c.Get(t.Context(), key, b); err != nil {
		t.Fatal(err)
	}
	before := b.DeepCopy()
	status := metav1.ConditionFalse
	if phase == "Succeeded" {
		status = metav1.ConditionTrue
		b.Status.BestTPS, b.Status.Durability = "812.4", v1alpha1.DurabilityQuorum
	}
	b.Status.Phase = phase
	b.Status.Run = &v1alpha1.BenchmarkRun{Phase: phase, Percent: percent, Results: []v1alpha1.BenchmarkResult{{Clients: 4, TPS: "812.4"}}}
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: status, Reason: phase, Message: message})
	if err := c.Status().Patch(t.Context(), b, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// following runs a command, and hands over each line of its output.
type following struct {
	lines chan string
	rest  bytes.Buffer
	done  chan error
}

// Write hands over each line.
func (f *following) Write(p []byte) (int, error) {
	f.rest.Write(p)
	f.lines <- string(p)
	return len(p), nil
}

func follow(t *testing.T, args ...string) *following {
	t.Helper()
	f := &following{lines: make(chan string, 100), done: make(chan error, 1)}
	c := cli.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: f, ErrOut: f}, "v0.1.0")
	c.SetArgs(append([]string{"--kubeconfig", kubeconfig(t), "--cache-dir", t.TempDir()}, args...))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	go func() { f.done <- c.ExecuteContext(ctx) }()
	return f
}

// line waits for a line with a prefix.
func (f *following) line(t *testing.T, want string) {
	t.Helper()
	for {
		got, err, ended := f.next()
		if ended {
			t.Fatalf("ended before %q: %v\n%s", want, err, f.rest.String())
		}
		if strings.HasPrefix(strings.TrimSpace(got), want) {
			return
		}
	}
}

// next line, or how the command ended once all its lines were read.
func (f *following) next() (line string, err error, ended bool) { //nolint:revive // the error is of the command, not of next
	select {
	case line = <-f.lines:
		return line, nil, false
	case err = <-f.done:
		f.done <- err
	}
	select {
	case line = <-f.lines:
		return line, nil, false
	default:
		return "", err, true
	}
}

func TestBenchStartFollowsUntilTheResult(t *testing.T) {
	c := apiserver.Client(t, config)
	measured(t, c, "plugin-bench")
	out := must(t, "bench", "start", "shop", "-n", "plugin-bench", "--scale", "20", "--clients", "1,4", "--transactions", "100", "--repeats", "3")
	b := only(t, c, "plugin-bench")
	if !strings.HasPrefix(out, "pgbenchmark.pgstorage.dev/"+b.Name+" created\n") || !strings.HasPrefix(b.Name, "shop-") {
		t.Errorf("%s of %q", b.Name, out)
	}
	if want := `kubectl -n plugin-bench patch pgsc shop --type=merge -p '{"spec":{"benchmarkPolicy":"Any"}}'`; !strings.Contains(out, want) {
		t.Errorf("no %s in %s", want, out)
	}
	p := b.Spec.Pgbench
	if p.Scale != 20 || len(p.Clients) != 2 || *p.Transactions != 100 || p.Repeats != 3 || p.Integrity != v1alpha1.IntegrityFull || p.Jobs != nil {
		t.Errorf("%+v", p)
	}
	key := client.ObjectKeyFromObject(b)
	f := follow(t, "bench", "follow", b.Name, "-n", "plugin-bench")
	f.line(t, "0%  Pending")
	report(t, c, key, "Running", 50, "Running: 4 clients")
	f.line(t, "50%  Running  4 clients")
	report(t, c, key, "Succeeded", 100, "812.4 TPS at best, durability Quorum")
	f.line(t, "100%  Succeeded")
	if err := <-f.done; err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Durability Quorum", "812.4"} {
		if got := f.rest.String() + must(t, "bench", "result", b.Name, "-n", "plugin-bench"); strings.Count(got, want) < 2 {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := must(t, "bench", "list", "shop", "-n", "plugin-bench"); !strings.Contains(got, b.Name+"   shop") {
		t.Error(got)
	}
	if got := must(t, "bench", "list", "other", "-n", "plugin-bench"); !strings.HasPrefix(got, "No PgBenchmarks found in namespace plugin-bench") {
		t.Error(got)
	}
	again := &v1alpha1.PgBenchmark{}
	if err := json.Unmarshal([]byte(must(t, "bench", "result", b.Name, "-n", "plugin-bench", "-o", "json")), again); err != nil || again.Status.BestTPS != "812.4" || again.Kind != "PgBenchmark" {
		t.Errorf("%+v %v", again, err)
	}
}

func TestBenchFollowReturnsTheFailure(t *testing.T) {
	c := apiserver.Client(t, config)
	measured(t, c, "plugin-bench-fails")
	f := follow(t, "bench", "start", "shop", "-n", "plugin-bench-fails", "--name", "nightly", "--follow")
	f.line(t, "0%  Pending")
	report(t, c, client.ObjectKey{Namespace: "plugin-bench-fails", Name: "nightly"}, "Failed", 80, "the benchmark failed: the disk is full")
	if err := <-f.done; err == nil || err.Error() != "PgBenchmark nightly: Failed: the benchmark failed: the disk is full" {
		t.Errorf("%v", err)
	}
	if _, err := plugin(t, "bench", "follow", "nightly", "-n", "plugin-bench-fails"); err == nil {
		t.Error("following one that has failed succeeds")
	}
}

func TestBenchFollowEndsWithTimeoutAndDeletion(t *testing.T) {
	c := apiserver.Client(t, config)
	measured(t, c, "plugin-bench-ends")
	must(t, "bench", "start", "shop", "-n", "plugin-bench-ends", "--name", "slow")
	if _, err := plugin(t, "bench", "follow", "slow", "-n", "plugin-bench-ends", "--timeout", "200ms"); err == nil || !strings.HasPrefix(err.Error(), "timeout expired") {
		t.Errorf("%v", err)
	}
	f := follow(t, "bench", "follow", "slow", "-n", "plugin-bench-ends")
	f.line(t, "0%  Pending")
	if err := c.Delete(t.Context(), &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "plugin-bench-ends", Name: "slow"}}); err != nil {
		t.Fatal(err)
	}
	if err := <-f.done; err == nil || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("%v", err)
	}
}

// TestBenchFollowEndsWithoutPermission runs as a user who may get benchmarks, and not list them.
func TestBenchFollowEndsWithoutPermission(t *testing.T) {
	c := apiserver.Client(t, config)
	const ns = "plugin-bench-blind"
	measured(t, c, ns)
	must(t, "bench", "start", "shop", "-n", ns, "--name", "slow")
	create(t, c,
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: ns}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"pgstorage.dev"}, Resources: []string{"pgbenchmarks", "pgstorageclusters"}, Verbs: []string{"get"}}}},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: ns}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: ns}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "gina"}}})
	eventually(t, "the binding of gina", func(context.Context) error {
		_, err := plugin(t, "bench", "result", "slow", "-n", ns, "--as", "gina")
		return err
	})
	if _, err := plugin(t, "bench", "follow", "slow", "-n", ns, "--as", "gina", "--timeout", "1m"); err == nil || !strings.Contains(err.Error(), `User "gina" cannot list resource "pgbenchmarks"`) {
		t.Errorf("%v", err)
	}
}

func TestAMatrixOfItsOwnClustersHasNoTarget(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "own-clusters")
	all := documents(t, samples+"seeds-zfs-matrix.yaml")
	b := all[slices.IndexFunc(all, func(o *unstructured.Unstructured) bool { return o.GetKind() == "PgBenchmark" })]
	b.SetNamespace("own-clusters")
	b.SetName("tiers")
	create(t, c, b)
	must(t, "bench", "result", "tiers", "-n", b.GetNamespace())
	if tree := must(t, "status", "pgb/tiers", "-n", b.GetNamespace()); strings.Contains(tree, "PgStorageCluster") {
		t.Errorf("the tree names a PgStorageCluster, and the benchmark names none:\n%s", tree)
	}
}

func TestBenchDryRunsCreateNothing(t *testing.T) {
	c := apiserver.Client(t, config)
	measured(t, c, "plugin-bench-dry")
	b := &v1alpha1.PgBenchmark{}
	out := must(t, "bench", "start", "shop", "-n", "plugin-bench-dry", "--dry-run", "client", "--script", "SelectOnly", "--duration", "90s", "--rate", "7")
	if err := yaml.UnmarshalStrict([]byte(out), b); err != nil || *b.Spec.Pgbench.Rate != 7 || b.GenerateName != "shop-" {
		t.Errorf("%v\n%s", err, out)
	}
	if err := c.Create(t.Context(), b, client.DryRunAll); err != nil {
		t.Errorf("the API server rejects the printed object: %v", err)
	}
	if out := must(t, "bench", "start", "shop", "-n", "plugin-bench-dry", "--dry-run", "server"); !strings.Contains(out, "created (server dry run)") {
		t.Error(out)
	}
	for want, args := range map[string][]string{
		"PgStorageCluster absent does not exist":                                         {"absent"},
		`--dry-run: unknown value "maybe"`:                                               {"shop", "--dry-run", "maybe"},
		"duration and transactions exclude":                                              {"shop", "--duration", "1m", "--transactions", "5"},
		`Unsupported value: "Everything"`:                                                {"shop", "--script", "Everything"},
		`--output: unknown format "wide"; use json or yaml or name, or omit it for text`: {"shop", "-o", "wide"},
		"--output needs --dry-run or no --follow, because the progress is text":          {"shop", "-o", "json", "--follow"},
	} {
		if _, err := plugin(t, append([]string{"bench", "start", "-n", "plugin-bench-dry"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
	list := &v1alpha1.PgBenchmarkList{}
	if err := c.List(t.Context(), list, client.InNamespace("plugin-bench-dry")); err != nil || len(list.Items) != 0 {
		t.Errorf("dry runs created %d benchmarks, want 0: %v", len(list.Items), err)
	}
	if out := must(t, "bench", "start", "shop", "-n", "plugin-bench-dry", "--dry-run", "client", "-o", "name"); out != "pgbenchmark.pgstorage.dev/shop-\n" {
		t.Error(out)
	}
	if out := must(t, "bench", "start", "shop", "-n", "plugin-bench-dry", "-o", "name"); out != "pgbenchmark.pgstorage.dev/"+only(t, c, "plugin-bench-dry").Name+"\n" {
		t.Error(out)
	}
}
