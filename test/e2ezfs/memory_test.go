//go:build e2ezfs

package e2ezfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// onControlPlane keeps a database off the machine whose power is cut.
const onControlPlane = `{"affinity": {"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}}}`

// memoryCuts is how often the power is cut.
const memoryCuts = 3

// memoryPool is a database on the control plane's disk, with a read pool in the memory of the
// machine.
type memoryPool struct {
	shop, pool *v1alpha1.PgStorageCluster
	// rows of the table sales.
	rows   int
	report faults.Report
}

// TestMemory has a machine with a read pool in its memory lose its power while a client commits,
// and boot. It does so three times.
func TestMemory(t *testing.T) {
	if err := helm("readPools.enabled=true", "memory.enabled=true", "agent.dryRun=false"); err != nil {
		t.Fatal(err)
	}
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	m := &memoryPool{rows: 100000, report: faults.Report{Accelerator: os.Getenv("PGSTORAGE_VM_ACCELERATOR"), Seconds: "s without a commit"}}
	m.report.WhenDone(t, os.Getenv("PGSTORAGE_FOLLOWERS_REPORT"))
	step := live.InTurn(t)
	step("a read pool in the memory of the machine", m.made)
	for cut := range memoryCuts {
		step(fmt.Sprintf("the power of the machine is cut: the pool is cloned again, run %d", cut+1), m.powerCut)
	}
	step("deletion unmounts the volume", m.deleted)
}

func (m *memoryPool) made(t *testing.T) {
	disk := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "disk"},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "standard"}},
	}
	memory := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "memory"},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeMemory, NodeSelector: map[string]string{"pgstorage.dev/pool": pool},
			Memory: &v1alpha1.MemoryProfile{MaxPerNode: resource.MustParse("1Gi")},
		},
	}
	create(t, disk, memory)
	m.shop = database()
	m.shop.Spec.Profile, m.shop.Spec.Storage = disk.Name, v1alpha1.ClusterStorage{Size: resource.MustParse("2Gi")}
	m.shop.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(onControlPlane)}}
	m.shop.Spec.ReadPools = []v1alpha1.ReadPool{{Name: "cache", Profile: memory.Name, Storage: &v1alpha1.ReadPoolStorage{Size: resource.MustParse("1Gi")}}}
	create(t, m.shop)
	allTrue(t, m.shop, v1alpha1.ConditionReady, v1alpha1.ConditionParametersApplied)
	m.pool = &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: naming.ReadPool(m.shop.Name, "cache")}}
	allTrue(t, m.pool, v1alpha1.ConditionReady, v1alpha1.ConditionParametersApplied)
	m.report.Versions = "CloudNativePG " + must(t)(live.CNPGVersion(t.Context())) + ", PostgreSQL " + strings.Fields(mustPSQL(t, m.shop, "SHOW server_version"))[0]
	mustPSQL(t, m.shop, fmt.Sprintf("CREATE TABLE sales AS SELECT g AS id, repeat('x', 900) AS text FROM generate_series(1, %d) g", m.rows))
	m.replayed(t)
	if v := m.pool.Status.Volumes; len(v) != 1 || v[0].Node != nodeName {
		t.Errorf("the volumes of the pool are %+v", v)
	}
	if got := must(t)(inPod(t.Context(), m.pool, m.pool.Status.Database.Primary, "stat", "-f", "-c", "%T", "/var/lib/postgresql/data/pgdata")); got != "tmpfs" {
		t.Errorf("the pool's files are on %s", got)
	}
}

// replayed waits until the pool has every row.
func (m *memoryPool) replayed(t *testing.T) {
	t.Helper()
	rows := strconv.Itoa(m.rows)
	eventually(t, rows+" rows in the pool", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(m.pool), m.pool); err != nil {
			return err
		}
		if m.pool.Status.Database == nil {
			return errors.New("there is no database")
		}
		got, err := psql(ctx, m.pool, "SELECT count(*) FROM sales")
		if err == nil && got != rows {
			err = fmt.Errorf("%s rows", got)
		}
		return err
	})
}

func (m *memoryPool) powerCut(t *testing.T) {
	boot, uid, writer := bootID(t), m.pool.UID, loaded(t, m.shop)
	cut := time.Now()
	node(t, "cut", nodeName)
	mustPSQL(t, m.shop, fmt.Sprintf("INSERT INTO sales SELECT generate_series(%d, %d)", m.rows+1, m.rows+100))
	m.rows += 100
	t.Logf("the cluster committed %s after the cut", time.Since(cut).Round(time.Millisecond))
	node(t, "boot", nodeName)
	eventually(t, "the node to have booted", func(ctx context.Context) error { return live.Rebooted(ctx, c, nodeName, boot) })
	booted := time.Now()
	eventually(t, "another PgStorageCluster of the pool", func(ctx context.Context) error {
		if got, err := psql(ctx, m.shop, "SELECT count(*) FROM sales"); err != nil || got != strconv.Itoa(m.rows) {
			t.Errorf("reads of the cluster while the pool was away: %q, %v", got, err)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(m.pool), m.pool); err != nil || m.pool.UID == uid {
			return errors.Join(err, errors.New("not yet"))
		}
		return nil
	})
	again := time.Now()
	allTrue(t, m.pool, v1alpha1.ConditionReady, v1alpha1.ConditionParametersApplied)
	m.replayed(t)
	t.Logf("%s from the cut until the node had booted, then %s until the pool was created again, then %s until it had every row",
		booted.Sub(cut).Round(time.Second), again.Sub(booted).Round(time.Second), time.Since(again).Round(time.Second))
	if got := m.pool.Status.Volumes; len(got) != 1 || got[0].Node != nodeName {
		t.Errorf("the volumes of the pool are %+v", got)
	}
	log := must(t)(logs(t.Context(), writer))
	all, lost := nothingLost(t, m.shop, writer)
	m.report.Ended("the power of a node with a read pool in memory is cut", all, lost, acks.Pause(log, cut))
}

func (m *memoryPool) deleted(t *testing.T) {
	profile := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "memory"}}
	for _, o := range []client.Object{m.shop, profile} {
		if err := c.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	gone(t, m.shop)
	gone(t, profile)
	if out := must(t)(host(t.Context(), "/bin/cat", "/proc/mounts")); strings.Contains(out, "/run/pgstorage/memory/") {
		t.Errorf("volumes are still mounted:\n%s", out)
	}
}
