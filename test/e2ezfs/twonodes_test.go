//go:build e2ezfs

package e2ezfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// twoNodes is a database with an instance on each of two nodes.
type twoNodes struct {
	shop   *v1alpha1.PgStorageCluster
	report *faults.Report
	// lost is the node of the first primary, and kept the other one.
	lost, kept string
	// guid of the pool that is lost with its node, and dataset of the first primary in it.
	guid, dataset string
}

// TestTwoNodes loses one of two nodes for good. The user has its instance cloned on the other
// one, and gives the name of the lost node to a new machine.
func TestTwoNodes(t *testing.T) {
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	two := &twoNodes{shop: database(), report: reportOfZFS(t)}
	step := live.InTurn(t)
	step("from blank disks to an instance on each node", two.spread)
	step("the primary's node is gone for good", two.nodeGone)
	step("a new machine has the name of the lost node", two.sameName)
	step("an instance moves to the new machine", two.backOnIt)
	step("deletion leaves no volume on either", two.deleted)
}

// profileReady waits until the profile and the pools of these nodes are Ready.
func profileReady(t *testing.T, nodes ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the profile and %v to be Ready", nodes), func(ctx context.Context) error {
		p := &v1alpha1.PgStorageProfile{}
		if err := c.Get(ctx, client.ObjectKey{Name: profileName}, p); err != nil {
			return err
		}
		for _, n := range nodes {
			s := &v1alpha1.PgNodeStorage{}
			if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage(profileName, n)}, s); err != nil {
				return err
			}
			if err := live.AllTrue(s.Status.Conditions, s.Generation, v1alpha1.ConditionReady); err != nil {
				return fmt.Errorf("%s: %w", n, err)
			}
		}
		return live.AllTrue(p.Status.Conditions, p.Generation, v1alpha1.ConditionReady)
	})
}

// homes of the instances, by their name.
func (two *twoNodes) homes() map[string]string {
	out := map[string]string{}
	for _, v := range two.shop.Status.Volumes {
		out[v.Instance] = v.Node
	}
	return out
}

func (two *twoNodes) spread(t *testing.T) {
	declare(t, profile())
	profileReady(t, nodeName, secondNode)
	instances := int32(2)
	two.shop.Spec.Instances, two.shop.Spec.Durability = &instances, v1alpha1.DurabilityQuorum
	create(t, two.shop)
	ready(t, two.shop)
	homes := two.homes()
	two.lost = homes[two.shop.Status.Database.Primary]
	two.kept = map[string]string{nodeName: secondNode, secondNode: nodeName}[two.lost]
	if two.kept == "" || len(homes) != 2 || !slices.Contains([]string{homes["shop-1"], homes["shop-2"]}, two.kept) {
		t.Fatalf("the instances are on %v", homes)
	}
	two.guid = storageOn(t, profileName, two.lost).Status.Pool.GUID
	for _, v := range two.shop.Status.Volumes {
		if v.Node == two.lost {
			two.dataset = v.Dataset
		}
	}
}

// nodeGone cuts the power of the primary's node. The command that has the instance
// cloned again is refused while its Postgres might still run.
func (two *twoNodes) nodeGone(t *testing.T) {
	writer := loaded(t, two.shop)
	former := two.shop.Status.Database.Primary
	rows, begin := len(acks.Rows(must(t)(logs(t.Context(), writer)))), time.Now()
	node(t, "cut", two.lost)
	eventually(t, "the standby to be the primary", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(two.shop), two.shop); err != nil {
			return err
		}
		if two.shop.Status.Database.Primary == former {
			return errors.New(summary(two.shop.Status.Conditions))
		}
		_, err := psql(ctx, two.shop, "SELECT 1")
		return err
	})
	t.Logf("%s is the primary %s after the cut", two.shop.Status.Database.Primary, time.Since(begin).Round(time.Second))
	if out, err := reclone(t.Context(), "--node", two.lost, "--apply"); err == nil || !strings.Contains(out, "make sure that the machine is off") {
		t.Errorf("with a Node that is not Ready: %v\n%s", err, out)
	}
	must(t)(command(t.Context(), "kubectl", "delete", "node", two.lost))
	eventually(t, "the instance to be cloned elsewhere on request", func(ctx context.Context) error {
		out, err := reclone(ctx, "--node", two.lost, "--apply")
		if err == nil && !strings.Contains(out, "Deleted") {
			err = errors.New(out)
		}
		return err
	})
	acknowledgedAtLeast(t, writer, rows+afterFault)
	t.Logf("%d more commits were acknowledged %s after the cut", afterFault, time.Since(begin).Round(time.Second))
	ready(t, two.shop)
	for _, v := range two.shop.Status.Volumes {
		if v.Node != two.kept || v.Dataset == two.dataset {
			t.Errorf("instance %s is in %s on %s", v.Instance, v.Dataset, v.Node)
		}
	}
	ended(t, two.report, "the primary's node is gone for good, on Kubernetes", two.shop, writer, begin)
	for pod := range pods(t, two.shop) {
		intact(t, two.shop, pod)
	}
	gone(t, &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage(profileName, two.lost)}})
	profileReady(t, two.kept)
}

// reclone runs the plugin.
func reclone(ctx context.Context, args ...string) (string, error) {
	return command(ctx, os.Getenv("PGSTORAGE_PLUGIN"), append([]string{"reclone"}, args...)...)
}

// sameName has the agent ask before it creates another pool where one was.
func (two *twoNodes) sameName(t *testing.T) {
	before := pods(t, two.shop)
	node(t, "replace", two.lost)
	eventually(t, "the agent to miss the lost pool", func(ctx context.Context) error {
		s := &v1alpha1.PgNodeStorage{}
		if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage(profileName, two.lost)}, s); err != nil {
			return err
		}
		if pool := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPoolReady); pool == nil || pool.Reason != v1alpha1.ReasonPoolLost {
			return errors.New(summary(s.Status.Conditions))
		}
		return nil
	})
	p := profile()
	p.Spec.ZFSLocalPV.Pool.AbandonedGUIDs = []v1alpha1.PoolGUID{v1alpha1.PoolGUID(two.guid)}
	declare(t, p)
	profileReady(t, nodeName, secondNode)
	if guid := storageOn(t, profileName, two.lost).Status.Pool.GUID; guid == two.guid {
		t.Errorf("the pool is still %s", guid)
	}
	ready(t, two.shop)
	if now := pods(t, two.shop); fmt.Sprint(now) != fmt.Sprint(before) {
		t.Errorf("Postgres was touched: %v, before %v", now, before)
	}
}

// backOnIt asks for one more instance, which the anti-affinity puts on the empty node.
func (two *twoNodes) backOnIt(t *testing.T) {
	instances := int32(3)
	patched := two.shop.DeepCopy()
	patched.Spec.Instances = &instances
	if err := c.Patch(t.Context(), patched, client.MergeFrom(two.shop)); err != nil {
		t.Fatal(err)
	}
	ready(t, two.shop)
	homes := two.homes()
	count := 0
	for _, home := range homes {
		if home == two.lost {
			count++
		}
	}
	if len(homes) != 3 || count != 1 {
		t.Errorf("the instances are on %v", homes)
	}
}

func (two *twoNodes) deleted(t *testing.T) {
	if err := c.Delete(t.Context(), two.shop); err != nil {
		t.Fatal(err)
	}
	gone(t, two.shop)
	volumesGone(t)
	p := profile()
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	gone(t, p)
}
