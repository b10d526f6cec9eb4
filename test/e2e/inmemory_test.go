//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

const (
	// memoryLabel of the nodes whose memory may have volumes.
	memoryLabel = "pgstorage.dev/memory"
	// volumesOfNode is where agents mount them.
	volumesOfNode = "/run/pgstorage/memory/"
)

// inMemory is a profile of type Memory, an ephemeral database on it, and a database on disk
// with a read pool on it.
type inMemory struct {
	// namespace of the databases, which outlives each step.
	namespace  string
	node       string
	profile    *v1alpha1.PgStorageProfile
	tests      *v1alpha1.PgStorageCluster
	shop, pool *v1alpha1.PgStorageCluster
}

// TestMemory runs databases on volumes in the memory of a node, and loses the volumes. On a
// cluster with workers (WORKERS=2), a worker boots again; else the volumes are unmounted.
func TestMemory(t *testing.T) {
	t.Parallel()
	if err := poolsOn(); err != nil {
		t.Fatal(err)
	}
	profile(t)
	m := &inMemory{node: lastNode(t), namespace: namespace(t)}
	m.declare(t, "3Gi")
	step := live.InTurn(t)
	step("an ephemeral database is made and says what it keeps", m.ephemeral)
	step("a read pool is in memory, its primary is not", m.cached)
	step("what does not fit or is not accepted is refused by name", m.refuses)
	if !testing.Short() {
		step("a full volume stops the pool alone, which grows by another clone", m.fills)
	}
	step("lost volumes: the pool is cloned again, the database says so", m.loses)
	step("deletion unmounts everything", m.ends)
}

func (m *inMemory) onWorker() bool { return strings.Contains(m.node, "worker") }

// lastNode is a worker where the cluster has one, and labelled for volumes in memory.
func lastNode(t *testing.T) string {
	t.Helper()
	nodes := &corev1.NodeList{}
	if err := c.List(t.Context(), nodes); err != nil || len(nodes.Items) == 0 {
		t.Fatalf("%d nodes, %v", len(nodes.Items), err)
	}
	node := &nodes.Items[len(nodes.Items)-1]
	inMemoryOn(t, node)
	return node.Name
}

// inMemoryOn gives a node the label of profiles in memory.
func inMemoryOn(t *testing.T, node *corev1.Node) {
	t.Helper()
	before := node.DeepCopy()
	node.Labels[memoryLabel] = "yes"
	if err := c.Patch(t.Context(), node, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// declare the profile, with so much memory of each node.
func (m *inMemory) declare(t *testing.T, maxPerNode string) {
	m.profile = &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "e2e-memory"},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeMemory, NodeSelector: map[string]string{memoryLabel: "yes"},
			Memory: &v1alpha1.MemoryProfile{MaxPerNode: resource.MustParse(maxPerNode)},
		},
	}
	create(t, m.profile)
	eventually(t, "the profile to be Ready", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(m.profile), m.profile); err != nil {
			return err
		}
		return live.AllTrue(m.profile.Status.Conditions, m.profile.Generation, v1alpha1.ConditionReady, v1alpha1.ConditionMemoryBudget)
	})
}

// onMemory is an ephemeral database on the profile.
func (m *inMemory) onMemory(ns, name string) *v1alpha1.PgStorageCluster {
	cr := cluster(ns, name)
	cr.Spec.Profile, cr.Spec.Durability, cr.Spec.Storage.Size = m.profile.Name, v1alpha1.DurabilityEphemeral, resource.MustParse("1Gi")
	cr.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	return cr
}

func (m *inMemory) ephemeral(t *testing.T) {
	ns := m.namespace
	m.tests = m.onMemory(ns, "tests")
	timedQuery(t, m.tests)
	ready(t, m.tests)
	for name, want := range map[string]string{"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "data_checksums": "on"} {
		if got := psql(t, ns, "tests-1", "SHOW "+name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	has(t, m.tests, v1alpha1.ConditionDurabilityVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified)
	for _, event := range []string{"ProcessCrash", "NodeLoss", "SiteLoss"} {
		if l, err := loss(m.tests, event); err != nil || l.AcknowledgedCommits == "Kept" {
			t.Errorf("%s: commits are %q: %s, %v", event, l.AcknowledgedCommits, l.Detail, err)
		}
	}
	m.onTmpfs(t, m.tests, "tests-1", 1<<30)
	pod := &corev1.Pod{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "tests-1"}, pod); err != nil {
		t.Fatal(err)
	}
	if got := pod.Spec.Containers[0].Resources.Limits.Memory().String(); got != "1536Mi" {
		t.Errorf("the pod is limited to %s, want 512Mi for Postgres and 1Gi for its volume", got)
	}
}

// onTmpfs says that the data of an instance is on a tmpfs of a size.
func (m *inMemory) onTmpfs(t *testing.T, cr *v1alpha1.PgStorageCluster, instance string, size int) {
	t.Helper()
	if v := cr.Status.Volumes; len(v) != 1 || v[0].Node != m.node || !strings.HasPrefix(v[0].Path, volumesOfNode+m.profile.Name+"/") {
		t.Errorf("status.volumes is %+v", v)
	}
	out, err := command(t.Context(), "kubectl", "-n", cr.Namespace, "exec", instance, "-c", "postgres", "--", "stat", "-f", "-c", "%T %b %S", "/var/lib/postgresql/data/pgdata")
	fields := strings.Fields(out)
	if err != nil || len(fields) != 3 || fields[0] != "tmpfs" {
		t.Fatalf("its files are on %q, %v", out, err)
	}
	blocks, _ := strconv.Atoi(fields[1])
	if block, _ := strconv.Atoi(fields[2]); blocks*block != size {
		t.Errorf("its volume has %d bytes, want %d", blocks*block, size)
	}
}

// withPool creates a database on disk with a read pool in memory.
func (m *inMemory) withPool(t *testing.T, size string) {
	t.Helper()
	m.shop = cluster(m.namespace, "shop")
	m.shop.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	m.shop.Spec.ReadPools = []v1alpha1.ReadPool{{Name: "cache", Profile: m.profile.Name, Storage: &v1alpha1.ReadPoolStorage{Size: resource.MustParse(size)}}}
	create(t, m.shop)
	ready(t, m.shop)
	m.pool = poolOf(m.shop)
	ready(t, m.pool)
}

func (m *inMemory) cached(t *testing.T) {
	ns := m.namespace
	m.withPool(t, "1Gi")
	psql(t, ns, m.shop.Status.Database.Primary, "CREATE TABLE sales AS SELECT g AS id FROM generate_series(1, 1000) g; GRANT SELECT ON sales TO app")
	replayed(t, m.pool, "1000")
	m.onTmpfs(t, m.pool, m.pool.Status.Database.Primary, 1<<30)
	if got := psql(t, ns, m.pool.Status.Database.Primary, "SHOW fsync"); got != "on" {
		t.Errorf("fsync of the pool is %s", got)
	}
	m.profileHas(t, "2 instances")
}

// profileHas waits until the sum of the node's memory says something.
func (m *inMemory) profileHas(t *testing.T, text string) {
	t.Helper()
	eventually(t, "MemoryBudget with "+text, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(m.profile), m.profile); err != nil {
			return err
		}
		b := meta.FindStatusCondition(m.profile.Status.Conditions, v1alpha1.ConditionMemoryBudget)
		if b == nil || !strings.Contains(b.Message, text) {
			return fmt.Errorf("it is %+v", b)
		}
		return nil
	})
}

func (m *inMemory) refuses(t *testing.T) {
	ns := namespace(t)
	kept, large, third, disk := m.onMemory(ns, "kept"), m.onMemory(ns, "large"), m.onMemory(ns, "third"), m.onMemory(ns, "disk")
	kept.Spec.Durability = v1alpha1.DurabilityLocal
	large.Spec.Storage.Size = resource.MustParse("4Gi")
	third.Spec.Storage.Size = resource.MustParse("2Gi")
	disk.Spec.Profile = profileName
	create(t, kept, large, third, disk)
	for cr, text := range map[*v1alpha1.PgStorageCluster]string{kept: "spec.profile", large: "spec.storage", disk: "spec.durability"} {
		eventually(t, "Ready of "+cr.Name+" to name "+text, func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
				return err
			}
			r := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionReady)
			if r == nil || r.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(r.Message, text) {
				return fmt.Errorf("it is %+v", r)
			}
			return nil
		})
	}
	eventually(t, "an event of the claim with the sum", func(ctx context.Context) error {
		out, err := command(ctx, "kubectl", "-n", ns, "get", "events", "--field-selector=involvedObject.name=third-1,reason=ProvisioningFailed", "-o", "jsonpath={.items[*].message}")
		if err != nil || !strings.Contains(out, "spec.memory.maxPerNode of the profile, 3Gi") {
			return errors.Join(err, fmt.Errorf("the events say %q", out))
		}
		return nil
	})
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "foreign", Annotations: map[string]string{naming.AnnotationSelectedNode: m.node}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new(naming.DataClass(m.profile.Name)), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
		},
	}
	create(t, claim)
	eventually(t, "the claim of no database to be refused", func(ctx context.Context) error {
		out, err := command(ctx, "kubectl", "-n", ns, "get", "events", "--field-selector=involvedObject.name=foreign,reason=ProvisioningFailed", "-o", "jsonpath={.items[*].message}")
		if err != nil || !strings.Contains(out, "only databases have volumes in memory") {
			return errors.Join(err, fmt.Errorf("the events say %q", out))
		}
		return nil
	})
	for _, cr := range []*v1alpha1.PgStorageCluster{kept, large, third, disk} {
		if err := c.Delete(t.Context(), cr); err != nil {
			t.Error(err)
		}
	}
}

// fills the volume of the pool: its cluster writes on, and the pool asks for more.
func (m *inMemory) fills(t *testing.T) {
	ns, primary, pool := m.shop.Namespace, m.shop.Status.Database.Primary, m.pool.Status.Database.Primary
	_, err := command(t.Context(), "kubectl", "-n", ns, "exec", pool, "-c", "postgres", "--", "dd", "if=/dev/zero", "of=/var/lib/postgresql/data/filler", "bs=1M")
	if err == nil || !strings.Contains(err.Error(), "No space left") {
		t.Fatalf("the volume is not full: %v", err)
	}
	psql(t, ns, primary, "CREATE TABLE bulk AS SELECT g, repeat('x', 1000) AS text FROM generate_series(1, 64000) g")
	has(t, m.pool, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionFalse, v1alpha1.ReasonVolumeFull)
	began := time.Now()
	psql(t, ns, primary, "INSERT INTO bulk VALUES (0, '')")
	t.Logf("a commit of the cluster took %s, while the pool's volume was full", time.Since(began).Round(time.Millisecond))
	again := clonedAgain(t, m.pool)
	patch(t, m.shop, func(s *v1alpha1.PgStorageClusterSpec) { s.ReadPools[0].Storage.Size = resource.MustParse("1536Mi") })
	again()
	ready(t, m.shop)
	ready(t, m.pool)
	m.onTmpfs(t, m.pool, m.pool.Status.Database.Primary, 1536<<20)
	replayed(t, m.pool, "1000")
	has(t, m.shop, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionTrue, v1alpha1.ReasonCaughtUp)
}

// loses the volumes: a worker boots again, or they are unmounted on the only node.
func (m *inMemory) loses(t *testing.T) {
	ns, primary, again := m.shop.Namespace, podUIDs(t, m.shop), clonedAgain(t, m.pool)
	onWorker := m.onWorker()
	began := time.Now()
	if onWorker {
		if out, err := command(t.Context(), "docker", "restart", "-t", "5", m.node); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		// Routes of a kind node end with its container.
		kind, _, _ := strings.Cut(m.node, "-worker")
		if out, err := command(t.Context(), filepath.Join(repository.Root(), "hack", "cluster.sh"), "network", kind); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	} else if out, err := onNode(t, m.node, "for m in "+volumesOfNode+m.profile.Name+"/*; do umount $m || umount -l $m; done"); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	again()
	seen := time.Since(began)
	ready(t, m.pool)
	t.Logf("the pool served again %s after its volume was lost; %s of them until its PgStorageCluster was made again", time.Since(began).Round(time.Second), seen.Round(time.Second))
	replayed(t, m.pool, "1000")
	if got := reads(t, m.pool, "reader", "SELECT count(*) FROM sales"); got != "1000" {
		t.Errorf("the pool's Service answers %q", got)
	}
	if now := podUIDs(t, m.shop); !onWorker && now[m.shop.Status.Database.Primary] != primary[m.shop.Status.Database.Primary] {
		t.Errorf("the pods of %s/shop were %v and are %v", ns, primary, now)
	}
	has(t, m.tests, v1alpha1.ConditionVolumesVerified, metav1.ConditionFalse, v1alpha1.ReasonVolumeLost)
	if !meta.IsStatusConditionTrue(m.tests.Status.Conditions, v1alpha1.ConditionStalled) {
		t.Errorf("the ephemeral database is not Stalled: %+v", m.tests.Status.Conditions)
	}
}

func (m *inMemory) ends(t *testing.T) {
	for _, o := range []client.Object{m.tests, m.shop, m.profile} {
		if err := c.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	m.gone(t)
	if out, err := onNode(t, m.node, "grep -c "+volumesOfNode+" /proc/mounts || true"); out != "0" {
		t.Errorf("%s tmpfs are still mounted: %v", out, err)
	}
	volumes := &corev1.PersistentVolumeList{}
	if err := c.List(t.Context(), volumes, client.MatchingLabels{naming.LabelProfile: m.profile.Name}); err != nil || len(volumes.Items) > 0 {
		t.Errorf("%d PersistentVolumes are left, %v", len(volumes.Items), err)
	}
}

// gone waits until the profile is deleted, which waits for its volumes.
func (m *inMemory) gone(t *testing.T) {
	t.Helper()
	eventually(t, "the profile to be gone", func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(m.profile), m.profile)
		if client.IgnoreNotFound(err) == nil && err != nil {
			return nil
		}
		return errors.Join(err, fmt.Errorf("its conditions are %+v", m.profile.Status.Conditions))
	})
}
