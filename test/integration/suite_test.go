// Package integration runs the manager against a real API server with the real CRDs of the
// operators that we use. Tests simulate those operators by patching status, and every such
// function says so in its name.
package integration

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

const (
	// patience bounds every wait of this suite: more than the minute after which a pass
	// that hangs is begun again.
	patience = 5 * time.Minute
	interval = 50 * time.Millisecond
)

var config *rest.Config

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.UseDevMode(true), zap.Level(zapcore.ErrorLevel)))
	os.Exit(apiserver.Run(m, &config))
}

// namespace makes a namespace of its own for a test.
func namespace(t *testing.T, c client.Client) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "it-"}}
	create(t, c, ns)
	emptied(t, c, ns.Name)
	return ns.Name
}

// storage makes a StorageClass and a profile on it, both with this name.
func storage(t *testing.T, c client.Client, name string) {
	t.Helper()
	create(t, c, storageClass(name))
	profile(t, c, name)
}

func storageClass(name string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "example.com/none"}
}

func profile(t *testing.T, c client.Client, name string) {
	t.Helper()
	create(t, c, &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: name}},
	})
}

// cluster is a valid PgStorageCluster that was not created yet.
func cluster(namespace, name, profile string) *v1alpha1.PgStorageCluster {
	amounts := map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	return &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.PgStorageClusterSpec{
			Profile:    profile,
			Postgres:   v1alpha1.PostgresSpec{Version: "17"},
			Storage:    v1alpha1.ClusterStorage{Size: resource.MustParse("1Gi")},
			Resources:  v1alpha1.ClusterResources{Requests: amounts, Limits: amounts},
			Workload:   v1alpha1.WorkloadOLTP,
			Durability: v1alpha1.DurabilityLocal,
			// Tests create PgBenchmarks of their own against it.
			BenchmarkPolicy: v1alpha1.BenchmarkAny,
		},
	}
}

// eventually waits until check holds, and fails with its last complaint.
func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("waited %s for %s: %v", patience, what, last)
	}
}

// changed object, as it is by now, that the manager or the API server may write too.
func changed(t *testing.T, c client.Client, o client.Object, change func()) {
	t.Helper()
	eventually(t, "the change of "+o.GetName(), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		change()
		return c.Update(ctx, o)
	})
}

// condition is one that a test waits for.
type condition struct {
	kind   string
	status metav1.ConditionStatus
	reason string
}

// on reads cr and returns its condition, or says what it is instead.
func (want condition) on(ctx context.Context, c client.Client, cr *v1alpha1.PgStorageCluster) (metav1.Condition, error) {
	if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
		return metav1.Condition{}, err
	}
	got := meta.FindStatusCondition(cr.Status.Conditions, want.kind)
	if got == nil {
		return metav1.Condition{}, fmt.Errorf("no condition %s among %+v", want.kind, cr.Status.Conditions)
	}
	if got.Status != want.status || got.Reason != want.reason || got.ObservedGeneration != cr.Generation {
		return metav1.Condition{}, fmt.Errorf("%s is %s (%s): %s", want.kind, got.Status, got.Reason, got.Message)
	}
	return *got, nil
}

// hasCondition waits for a condition of a cluster.
func hasCondition(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	t.Helper()
	var found metav1.Condition
	want := condition{kind, status, reason}
	eventually(t, fmt.Sprintf("%s=%s (%s)", kind, status, reason), func(ctx context.Context) (err error) {
		found, err = want.on(ctx, c, cr)
		return err
	})
	return found
}
