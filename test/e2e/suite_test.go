//go:build e2e

// Package e2e runs the operator, as the chart installs it, on a kind cluster with
// real CloudNativePG and real Postgres. make test-e2e makes the cluster.
package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

const (
	operatorNamespace = "pgstorage-system"
	profileName       = "e2e"
	// patience bounds every wait; a rolling change of three instances on two
	// shared cores is the longest.
	patience = 8 * time.Minute
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

func setUp() error {
	for _, name := range []string{"PGSTORAGE_IMAGE", "PGSTORAGE_POSTGRES_REPOSITORY", "PGSTORAGE_ZEROFS_IMAGE", "PGSTORAGE_S3_IMAGE", "PGSTORAGE_PLUGIN", "PGSTORAGE_ARTEFACTS", "HELM"} {
		if os.Getenv(name) == "" {
			return fmt.Errorf("%s must be set; run make test-e2e", name)
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	if c, err = apply.NewClient(config, client.Options{Scheme: scheme.New()}); err != nil {
		return err
	}
	return helm()
}

// helm installs or upgrades the operator with more values.
func helm(values ...string) error {
	repository, tag, _ := strings.Cut(image, ":")
	args := []string{
		"upgrade", "--install", "pgstorage", filepath.Join(apiserver.Root(), "charts", "pgstorage"),
		"--namespace", operatorNamespace, "--create-namespace", "--wait", "--timeout", "3m",
		"--set", "image.repository=" + repository, "--set", "image.tag=" + tag, "--set", "postgres.imageRepository=" + postgres,
	}
	for _, v := range values {
		args = append(args, "--set", v)
	}
	_, err := command(context.Background(), os.Getenv("HELM"), args...)
	return err
}

func command(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

// eventually waits until check holds, tells when its complaint changes, and
// describes what is there when it gives up.
func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	start, last := time.Now(), ""
	err := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		if err == nil {
			return true, nil
		}
		if err.Error() != last {
			last = err.Error()
			t.Logf("%5.1fs %s: %s", time.Since(start).Seconds(), what, last)
		}
		return false, nil
	})
	if err != nil {
		dump(t)
		t.Fatalf("waited %s for %s: %s", patience, what, last)
	}
	t.Logf("%5.1fs %s", time.Since(start).Seconds(), what)
}

// dump shows what a person would look at first.
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

// profile makes the one profile of this suite unless it is there.
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
		for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionParametersApplied} {
			got := meta.FindStatusCondition(cr.Status.Conditions, kind)
			if got == nil || got.ObservedGeneration != cr.Generation {
				return fmt.Errorf("%s was not looked at", kind)
			}
			if got.Status != metav1.ConditionTrue {
				return fmt.Errorf("%s is %s (%s): %s", kind, got.Status, got.Reason, got.Message)
			}
		}
		return nil
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
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(cr.Namespace), client.MatchingLabels{"cnpg.io/cluster": cr.Name, "cnpg.io/podRole": "instance"}); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, p := range pods.Items {
		restarts := int32(0)
		for _, s := range p.Status.ContainerStatuses {
			restarts += s.RestartCount
		}
		out[p.Name] = fmt.Sprintf("%s restarted %d times", p.UID, restarts)
	}
	return out
}
