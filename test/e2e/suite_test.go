//go:build e2e

// Package e2e runs the operator, as the chart installs it, on a kind cluster with
// real CloudNativePG and real Postgres. make test-e2e makes the cluster.
//
// Tests that upgrade the operator or whose figures matter run one after another. The others call
// t.Parallel, and so run after them, at once: they mostly wait.
package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

const (
	operatorNamespace = live.OperatorNamespace
	profileName       = "e2e"
	// patience bounds every wait; a rolling change of three instances on two
	// shared cores, which other levels use too, is the longest.
	patience = 12 * time.Minute
	interval = 500 * time.Millisecond
)

var (
	c        client.Client
	image    = os.Getenv("PGSTORAGE_IMAGE")
	postgres = os.Getenv("PGSTORAGE_POSTGRES_REPOSITORY")
)

func TestMain(m *testing.M) {
	if err := setUp(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func setUp() (err error) {
	c, err = live.Client("test-e2e", "PGSTORAGE_IMAGE", "PGSTORAGE_POSTGRES_REPOSITORY", "PGSTORAGE_ZEROFS_IMAGE", "PGSTORAGE_S3_IMAGE", "PGSTORAGE_PLUGIN", "PGSTORAGE_ARTEFACTS", "HELM")
	if err != nil {
		return err
	}
	return helm()
}

// helm installs or upgrades the operator with more values.
func helm(values ...string) error { return live.Helm(6*time.Minute, values...) }

// forPools are the values that read pools need, on disk and in memory.
var forPools = []string{"readPools.enabled=true", "memory.enabled=true", "agent.enabled=true", "agent.dryRun=false"}

// poolsOn installs them once for the tests that run at once. Those that run one after another must
// not call it, because the next one installs other values.
var poolsOn = sync.OnceValue(func() error { return helm(forPools...) })

func command(ctx context.Context, name string, args ...string) (string, error) {
	return live.Command(ctx, 4*time.Minute, name, args...)
}

// eventually waits until check returns no error.
func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	live.Wait{Interval: interval, Patience: patience, Gather: dump}.Eventually(t, what, check)
}

// kubectl runs the command, and fails the test where it fails.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), "kubectl", args...)
	if err != nil {
		t.Fatal(out, err)
	}
	return out
}

// dump logs the objects and logs that explain a failure.
func dump(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"get", "pgsp,pgnodestorages,pgsc,pgb,clusters.postgresql.cnpg.io,databases,databaseroles,jobs,pods,pvc", "-A", "-o", "wide"},
		{"describe", "pgsp,pgnodestorages,pgsc,pgb", "-A"},
		{"-n", operatorNamespace, "describe", "daemonsets,pods"},
		{"-n", operatorNamespace, "logs", "-l", naming.LabelStore, "--all-containers", "--prefix", "--tail=40"},
		{"-n", operatorNamespace, "logs", "deployment/pgstorage-manager", "--tail=60"},
		{"-n", "cnpg-system", "logs", "deployment/cnpg-controller-manager", "--tail=30"},
	} {
		out, err := command(context.Background(), "kubectl", args...)
		t.Logf("kubectl %s\n%s\n%v", strings.Join(args, " "), out, err)
	}
}

func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	create(t, ns)
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), ns); err != nil {
			t.Logf("delete namespace: %v", err)
		}
	})
	return ns.Name
}

func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// profile creates the profile of this suite unless it exists.
func profile(t *testing.T) {
	t.Helper()
	p := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: profileName},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "standard"}},
	}
	if err := client.IgnoreAlreadyExists(c.Create(t.Context(), p)); err != nil {
		t.Fatal(err)
	}
}

func amounts(cpu, memory string) map[corev1.ResourceName]resource.Quantity {
	return map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func cluster(namespace, name string) *v1alpha1.PgStorageCluster {
	return &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.PgStorageClusterSpec{
			Profile:    profileName,
			Postgres:   v1alpha1.PostgresSpec{Version: "17"},
			Storage:    v1alpha1.ClusterStorage{Size: resource.MustParse("2Gi")},
			Resources:  v1alpha1.ClusterResources{Requests: amounts("100m", "512Mi"), Limits: map[corev1.ResourceName]resource.Quantity{corev1.ResourceMemory: resource.MustParse("512Mi")}},
			Workload:   v1alpha1.WorkloadOLTP,
			Durability: v1alpha1.DurabilityLocal,
			// Tests create PgBenchmarks of their own against it.
			BenchmarkPolicy: v1alpha1.BenchmarkAny,
		},
	}
}

// ready waits until the cluster is Ready with its parameters read back.
func ready(t *testing.T, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	eventually(t, cr.Name+" to be Ready, its parameters read back", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return err
		}
		return live.AllTrue(cr.Status.Conditions, cr.Generation, v1alpha1.ConditionReady, v1alpha1.ConditionParametersApplied)
	})
}

// psql runs SQL as postgres in a pod of the cluster and returns what it prints.
func psql(t *testing.T, namespace, pod, sql string) string {
	t.Helper()
	out, err := command(t.Context(), "kubectl", "-n", namespace, "exec", pod, "-c", "postgres", "--", "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", "app", "-c", sql)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// serverVersion of Postgres in a cluster, as 17.12.
func serverVersion(t *testing.T, cr *v1alpha1.PgStorageCluster) string {
	t.Helper()
	version, _, _ := strings.Cut(psql(t, cr.Namespace, cr.Status.Database.Primary, "SHOW server_version"), " ")
	return version
}

// patch changes the spec of a cluster.
func patch(t *testing.T, cr *v1alpha1.PgStorageCluster, change func(*v1alpha1.PgStorageClusterSpec)) {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(cr), cr); err != nil {
		t.Fatal(err)
	}
	before := cr.DeepCopy()
	change(&cr.Spec)
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// podUIDs are the pods of a cluster with their UIDs and restarts.
func podUIDs(t *testing.T, cr *v1alpha1.PgStorageCluster) map[string]string {
	t.Helper()
	pods, err := live.Instances(t.Context(), c, cr.Namespace, cr.Name)
	if err != nil {
		t.Fatal(err)
	}
	return pods
}
