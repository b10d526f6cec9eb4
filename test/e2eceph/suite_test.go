//go:build e2eceph

// Package e2eceph runs the profile CephRBD with the real Rook and Ceph on three kind nodes. The
// chart installs the operator. No registry of packages has ceph-csi, so
// stand-ins give the database its volume. They are a CSIDriver object that nothing serves, and an
// image of the profile's pool that rbd-fuse and a loop device mount on a node. It is not proved
// that a flush arrives at the OSDs through them. What a power cut loses is tested on an image
// that the kernel of a virtual machine has mapped.
// make test-e2e-ceph creates the cluster.
package e2eceph

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

const (
	operatorNamespace = live.OperatorNamespace
	rookNamespace     = "rook-ceph"
	// patience bounds every wait, on processors that Ceph, Postgres, Kubernetes and an emulated
	// machine share.
	patience = 15 * time.Minute
	interval = 500 * time.Millisecond
)

var (
	c       client.Client
	machine = os.Getenv("PGSTORAGE_CEPH_CLUSTER")
)

// The nodes of the cluster. The control plane has what tests do not stop: both operators, the
// mon, the mgr and the clients. The database is on home, and victim loses its power.
var control, home, victim = machine + "-control-plane", machine + "-worker", machine + "-worker2"

func TestMain(m *testing.M) {
	if err := setUp(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func setUp() (err error) {
	c, err = live.Client("test-e2e-ceph", "PGSTORAGE_IMAGE", "PGSTORAGE_POSTGRES_REPOSITORY", "PGSTORAGE_CEPH_IMAGE", "PGSTORAGE_CEPH_CLUSTER", "HELM")
	if err != nil {
		return err
	}
	return helm()
}

func helm(values ...string) error {
	return live.Helm(5*time.Minute, append([]string{
		`nodeSelector.node-role\.kubernetes\.io/control-plane=`, "extraArgs={--feature-gates=CephRBD=true}",
	}, values...)...)
}

func command(ctx context.Context, name string, args ...string) (string, error) {
	return live.Command(ctx, 4*time.Minute, name, args...)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), "kubectl", args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// node runs a verb of hack/ceph-nodes.sh.
func node(t *testing.T, verb, name string) string {
	t.Helper()
	out, err := command(t.Context(), filepath.Join(repository.Root(), "hack", "ceph-nodes.sh"), verb, machine, name)
	if err != nil {
		t.Fatal(err, out)
	}
	return strings.TrimSpace(out)
}

// ceph runs a program of Ceph in the pod of tools.
func ceph(ctx context.Context, argv ...string) (string, error) {
	return command(ctx, "kubectl", append([]string{"-n", rookNamespace, "exec", toolsName, "--", "timeout", "60"}, argv...)...)
}

func mustCeph(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := ceph(t.Context(), argv...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// eventually waits until check returns no error.
func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	live.Wait{Interval: interval, Patience: patience, Check: 20 * time.Second, Gather: gather}.Eventually(t, what, check)
}

// gather keeps the objects and logs that explain a failure.
func gather(t *testing.T) {
	t.Helper()
	live.Gather(t, live.Kubectl(map[string][]string{
		"objects":     {"get", "nodes,pgsp,pgsc,clusters.postgresql.cnpg.io,sc,pv,pvc,jobs,deployments,pods,cephclusters,cephblockpools", "-A", "-o", "wide"},
		"pgstorage":   {"get", "pgsp,pgsc", "-A", "-o", "yaml"},
		"ceph":        {"get", "cephclusters,cephblockpools", "-A", "-o", "yaml"},
		"pods":        {"-n", rookNamespace, "describe", "pods"},
		"database":    {"-n", namespace, "describe", "pods"},
		"events":      {"get", "events", "-A", "--sort-by=.lastTimestamp"},
		"manager":     {"-n", operatorNamespace, "logs", "deployment/pgstorage-manager", "--tail=300"},
		"manager-old": {"-n", operatorNamespace, "logs", "deployment/pgstorage-manager", "--tail=300", "-p"},
		"rook":        {"-n", rookNamespace, "logs", "deployment/rook-ceph-operator", "--tail=3000"},
		"prepare":     {"-n", rookNamespace, "logs", "-l", "app=rook-ceph-osd-prepare", "--all-containers", "--tail=300", "--prefix"},
		"osds":        {"-n", rookNamespace, "logs", "-l", "app=rook-ceph-osd", "--all-containers", "--tail=300", "--prefix"},
		"probe":       {"-n", rookNamespace, "logs", "-l", "app=pgstorage-probe", "--all-containers", "--tail=300", "--prefix"},
		"health":      {"-n", rookNamespace, "exec", toolsName, "--", "timeout", "20", "ceph", "health", "detail"},
		"csi":         {"-n", rookNamespace, "logs", "-l", "app in (csi-rbdplugin,csi-rbdplugin-provisioner)", "--all-containers", "--tail=300", "--prefix"},
		"postgres":    {"-n", namespace, "logs", "-l", "cnpg.io/cluster", "--all-containers", "--tail=300", "--prefix"},
	}))
}

func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := client.IgnoreAlreadyExists(c.Create(t.Context(), o)); err != nil {
			t.Fatal(err)
		}
	}
}

// killed ends every pod with these labels at once.
func killed(t *testing.T, namespace, selector string) {
	t.Helper()
	kubectl(t, "-n", namespace, "delete", "pod", "-l", selector, "--force", "--grace-period=0", "--wait=false")
}
