//go:build e2ezfs

// Package e2ezfs runs the profiles ZFSLocalPV and S3NBD on real ZFS and NBD under a real
// kubelet. It uses the real zfs-localpv, and the operator and agent as the chart installs them.
// make test-e2e-zfs and make test-e2e-s3nbd create the cluster and its virtual machine.
package e2ezfs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

const (
	operatorNamespace = live.OperatorNamespace
	nodeName          = "zfs1"
	// secondNode is there for TestTwoNodes alone.
	secondNode = "zfs2"
	pool       = "tank"
	interval   = time.Second
)

// patience bounds each wait. The node's programs run under emulation, on processors that others
// use too.
var patience = 20 * time.Minute

var (
	c       client.Client
	machine = os.Getenv("PGSTORAGE_ZFS_CLUSTER")
)

func TestMain(m *testing.M) {
	if err := setUp(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func setUp() (err error) {
	c, err = live.Client("test-e2e-zfs", "PGSTORAGE_IMAGE", "PGSTORAGE_POSTGRES_REPOSITORY", "PGSTORAGE_ZFS_CLUSTER", "HELM")
	if err != nil {
		return err
	}
	return helm()
}

// helm installs the agent on the node with ZFS, and the operator on another node, because
// tests cut the power of the first.
func helm(values ...string) error {
	return live.Helm(5*time.Minute, append([]string{
		`nodeSelector.node-role\.kubernetes\.io/control-plane=`,
		"agent.enabled=true", `agent.nodeSelector.pgstorage\.dev/pool=` + pool, "agent.resync=10s",
	}, values...)...)
}

func command(ctx context.Context, name string, args ...string) (string, error) {
	return live.Command(ctx, 6*time.Minute, name, args...)
}

// node runs hack/zfs-node.sh for a machine.
func node(t *testing.T, verb, name string) {
	t.Helper()
	out, err := command(t.Context(), filepath.Join(repository.Root(), "hack", "zfs-node.sh"), verb, machine, name)
	if err != nil {
		t.Fatal(err, out)
	}
}

// eventually waits until check returns no error.
func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	live.Wait{Interval: interval, Patience: patience, Check: 20 * time.Second, Gather: gather}.Eventually(t, what, check)
}

// gather keeps the objects and logs that explain a failure.
func gather(t *testing.T) {
	t.Helper()
	commands := live.Kubectl(map[string][]string{
		"objects":      {"get", "nodes,pgsp,pgnodestorages,pgsc,pgb,pgbr,volumesnapshots,volumesnapshotcontents,zfssnapshots,clusters.postgresql.cnpg.io,sc,pv,pvc,jobs,pods,zfsvolumes,zfsnodes,csinodes", "-A", "-o", "wide"},
		"pgstorage":    {"get", "pgsp,pgnodestorages,pgsc,pgb,pgbr", "-A", "-o", "yaml"},
		"pods":         {"describe", "pods", "-n", namespace},
		"events":       {"get", "events", "-A", "--sort-by=.lastTimestamp"},
		"manager":      {"-n", operatorNamespace, "logs", "deployment/pgstorage-manager", "--tail=300"},
		"agent":        {"-n", operatorNamespace, "logs", "daemonset/pgstorage-agent", "--tail=300"},
		"servers":      {"-n", operatorNamespace, "logs", "-l", naming.LabelStore, "--all-containers", "--tail=300", "--prefix"},
		"servers-pods": {"-n", operatorNamespace, "describe", "pods"},
		"cnpg":         {"-n", "cnpg-system", "logs", "deployment/cnpg-controller-manager", "--tail=300"},
		"zfs-node":     {"-n", "openebs", "logs", "daemonset/openebs-zfs-node", "--all-containers", "--tail=300"},
		"zfs-control":  {"-n", "openebs", "logs", "statefulset/openebs-zfs-controller", "--all-containers", "--tail=300"},
		"postgres":     {"-n", namespace, "logs", "-l", "cnpg.io/cluster", "--all-containers", "--tail=300", "--prefix"},
		"postgres-old": {"-n", namespace, "logs", "-l", "cnpg.io/cluster", "--all-containers", "--tail=300", "--prefix", "-p"},
	})
	for _, name := range []string{nodeName, secondNode} {
		commands["machine-"+name] = []string{filepath.Join(repository.Root(), "hack", "zfs-node.sh"), "status", machine, name}
	}
	live.Gather(t, commands)
}

func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := client.IgnoreAlreadyExists(c.Create(t.Context(), o)); err != nil {
			t.Fatal(err)
		}
	}
}

// ready waits until the cluster is Ready with its parameters and volumes read back.
func ready(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	t.Helper()
	allTrue(t, shop, v1alpha1.ConditionReady, v1alpha1.ConditionParametersApplied, v1alpha1.ConditionVolumesVerified)
}

func allTrue(t *testing.T, shop *v1alpha1.PgStorageCluster, conditions ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s to be %v", shop.Name, conditions), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(shop), shop); err != nil {
			return err
		}
		return live.AllTrue(shop.Status.Conditions, shop.Generation, conditions...)
	})
}

// zfs runs the node's own zfs, by the driver's pod.
func zfs(ctx context.Context, args ...string) (string, error) {
	return host(ctx, append([]string{"/sbin/zfs"}, args...)...)
}

// host runs a program of the node itself: the driver's pod has the node's / at /host.
func host(ctx context.Context, args ...string) (string, error) {
	return command(ctx, "kubectl", append([]string{"-n", "openebs", "exec", "daemonset/openebs-zfs-node", "-c", "openebs-zfs-plugin", "--", "chroot", "/host"}, args...)...)
}

// zfsValue of a property and where ZFS has it from.
type zfsValue struct{ Value, Source string }

func zfsProperties(ctx context.Context, dataset string) (map[string]zfsValue, error) {
	out, err := zfs(ctx, "get", "-Hp", "-o", "property,value,source", "all", dataset)
	if err != nil {
		return nil, err
	}
	values := map[string]zfsValue{}
	for line := range strings.SplitSeq(out, "\n") {
		if f := strings.Split(line, "\t"); len(f) == 3 {
			values[f[0]] = zfsValue{f[1], f[2]}
		}
	}
	return values, nil
}

func zfsGet(t *testing.T, dataset string) map[string]zfsValue {
	t.Helper()
	values, err := zfsProperties(t.Context(), dataset)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// only the properties of have that want names.
func only(have, want map[string]zfsValue) map[string]zfsValue {
	out := map[string]zfsValue{}
	for name := range want {
		if v, ok := have[name]; ok {
			out[name] = v
		}
	}
	return out
}

// same compares the properties that ZFS reports with the wanted ones.
func same(t *testing.T, what string, want, have map[string]zfsValue) {
	t.Helper()
	if diff := cmp.Diff(want, only(have, want)); diff != "" {
		t.Errorf("%s (-wanted +read):\n%s", what, diff)
	}
}

// psql runs SQL as postgres in the primary's pod.
func psql(ctx context.Context, shop *v1alpha1.PgStorageCluster, sql string) (string, error) {
	return command(ctx, "kubectl", "-n", shop.Namespace, "exec", shop.Status.Database.Primary, "-c", "postgres", "--",
		"psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", "app", "-c", sql)
}

func mustPSQL(t *testing.T, shop *v1alpha1.PgStorageCluster, sql string) string {
	t.Helper()
	return must(t)(psql(t.Context(), shop, sql))
}

// must ends the test where a command failed.
func must(t *testing.T) func(string, error) string {
	t.Helper()
	return func(out string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func logs(ctx context.Context, pod *corev1.Pod) (string, error) {
	return command(ctx, "kubectl", "-n", pod.Namespace, "logs", pod.Name)
}

// declare creates the profile, or updates the one that exists.
func declare(t *testing.T, p *v1alpha1.PgStorageProfile) {
	t.Helper()
	have := &v1alpha1.PgStorageProfile{}
	err := c.Get(t.Context(), client.ObjectKeyFromObject(p), have)
	if apierrors.IsNotFound(err) {
		create(t, p)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	have.Spec = p.Spec
	if err := c.Update(t.Context(), have); err != nil {
		t.Fatal(err)
	}
}

func nodeStorage(t *testing.T) *v1alpha1.PgNodeStorage {
	t.Helper()
	return storageOf(t, profileName)
}

// storageOf a profile on the node.
func storageOf(t *testing.T, profile string) *v1alpha1.PgNodeStorage {
	t.Helper()
	return storageOn(t, profile, nodeName)
}

func storageOn(t *testing.T, profile, node string) *v1alpha1.PgNodeStorage {
	t.Helper()
	s := &v1alpha1.PgNodeStorage{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: naming.NodeStorage(profile, node)}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func bootID(t *testing.T) string {
	t.Helper()
	return must(t)(live.BootID(t.Context(), c, nodeName))
}

// volume of the database with this role.
func volume(t *testing.T, shop *v1alpha1.PgStorageCluster, role string) v1alpha1.VolumeStatus {
	t.Helper()
	for _, v := range shop.Status.Volumes {
		if v.Role == role {
			return v
		}
	}
	t.Fatalf("no %s volume in %+v", role, shop.Status.Volumes)
	return v1alpha1.VolumeStatus{}
}

// pods of the database with their UIDs and restarts.
func pods(t *testing.T, shop *v1alpha1.PgStorageCluster) map[string]string {
	t.Helper()
	instances, err := live.Instances(t.Context(), c, shop.Namespace, shop.Name)
	if err != nil {
		t.Fatal(err)
	}
	return instances
}

// summary of the conditions that are not True.
func summary(conditions []metav1.Condition) string {
	var out []string
	for _, c := range conditions {
		if c.Status != metav1.ConditionTrue {
			out = append(out, fmt.Sprintf("%s: %s: %s", c.Type, c.Reason, c.Message))
		}
	}
	return strings.Join(out, "; ")
}
