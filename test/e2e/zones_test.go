//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// zoneLabel names the zone of a node.
const zoneLabel = corev1.LabelTopologyZone

// stillness is how long no commit may be acknowledged while no standby can confirm one.
const stillness = 30 * time.Second

// zones are workers of kind, each in a zone of its own, with a database across them. What the
// operators need runs on the control plane, so that a zone can be lost.
type zones struct {
	shop    *v1alpha1.PgStorageCluster
	control string
	workers []string
	report  faults.Report
}

// TestQuorumAcrossZones loses zones of a database whose quorum is across them. It needs a cluster
// with three workers.
func TestQuorumAcrossZones(t *testing.T) {
	profile(t)
	z := &zones{shop: cluster(namespace(t), "shop"), report: faults.Report{Seconds: "s without a commit"}}
	z.report.WhenDone(t, os.Getenv("PGSTORAGE_ZONES_REPORT"))
	step := live.InTurn(t)
	step("operators on the control plane", z.operators)
	step("two zones do not carry three instances", z.tooFew)
	step("three zones do", z.enough)
	step("a zone with a standby is lost", z.standbyLost)
	step("the zones of both standbys are lost", z.standbysLost)
	step("the zone of the primary is lost", z.primaryLost)
}

// operators move to the control plane, with what they need.
func (z *zones) operators(t *testing.T) {
	nodes := &corev1.NodeList{}
	if err := c.List(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	for i := range nodes.Items {
		if _, control := nodes.Items[i].Labels["node-role.kubernetes.io/control-plane"]; control {
			z.control = nodes.Items[i].Name
		} else {
			z.workers = append(z.workers, nodes.Items[i].Name)
		}
	}
	if len(z.workers) < 3 {
		t.Fatalf("the cluster has %d workers, and the test needs three", len(z.workers))
	}
	for namespace, deployment := range map[string]string{operatorNamespace: "pgstorage-manager", "cnpg-system": "cnpg-controller-manager", "local-path-storage": "local-path-provisioner", "kube-system": "coredns"} {
		change := fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeName":%q,"tolerations":[{"operator":"Exists"}]}}}}`, z.control)
		kubectl(t, "-n", namespace, "patch", "deployment", deployment, "--type=merge", "-p", change)
		kubectl(t, "-n", namespace, "rollout", "status", "deployment", deployment, "--timeout=180s")
	}
}

func (z *zones) label(t *testing.T, worker int, zone string) {
	t.Helper()
	kubectl(t, "label", "node", z.workers[worker], "--overwrite", zoneLabel+"="+zone)
}

// tooFew zones: the third instance waits, and nothing promises that a zone can be lost.
func (z *zones) tooFew(t *testing.T) {
	z.label(t, 0, "a")
	z.label(t, 1, "b")
	z.label(t, 2, "b")
	z.shop.Spec.Instances = new(int32(3))
	z.shop.Spec.Durability = v1alpha1.DurabilityQuorum
	z.shop.Spec.Quorum = &v1alpha1.QuorumSpec{AcrossFailureDomain: zoneLabel}
	create(t, z.shop)
	eventually(t, "two instances to be ready, and the third to wait", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(z.shop), z.shop); err != nil {
			return err
		}
		if d := z.shop.Status.Database; d == nil || d.ReadyInstances == nil || *d.ReadyInstances != 2 {
			return fmt.Errorf("%+v", d)
		}
		out, err := command(ctx, "kubectl", "-n", z.shop.Namespace, "get", "pods", "--field-selector=status.phase=Pending", "-o", "name")
		if err != nil || out == "" {
			return errors.Join(err, errors.New("no pod is Pending"))
		}
		return nil
	})
	for _, o := range z.shop.Status.Conditions {
		if o.Type == v1alpha1.ConditionReady {
			t.Logf("Ready is %s (%s): %s", o.Status, o.Reason, o.Message)
			if o.Status == metav1.ConditionTrue {
				t.Error("the database is Ready with two of three instances")
			}
		}
	}
	z.domainLoss(t, "Unknown")
}

// domainLoss waits for what status.durability says of the loss of a zone.
func (z *zones) domainLoss(t *testing.T, want string) {
	t.Helper()
	eventually(t, "FailureDomainLoss to be "+want, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(z.shop), z.shop); err != nil {
			return err
		}
		l, err := loss(z.shop, "FailureDomainLoss")
		if err == nil && l.AcknowledgedCommits != want {
			err = fmt.Errorf("%+v", l)
		}
		return err
	})
}

func (z *zones) enough(t *testing.T) {
	z.label(t, 2, "c")
	ready(t, z.shop)
	z.domainLoss(t, "Kept")
	client1(t, z.shop, "prepare", `psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE TABLE acked (id int PRIMARY KEY)"`)
	loader := clientPod(z.shop, "loader", insertLoop)
	loader.Spec.NodeName = z.control
	loader.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	create(t, loader)
	atLeast(t, z.shop, 50)
	z.report.Versions = "PostgreSQL " + serverVersion(t, z.shop)
}

// nodesOf the primary, and of the standbys.
func (z *zones) nodesOf(t *testing.T) (primary string, standbys []string) {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(z.shop), z.shop); err != nil {
		t.Fatal(err)
	}
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(z.shop.Namespace), client.MatchingLabels{"cnpg.io/podRole": "instance"}); err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if pods.Items[i].Name == z.shop.Status.Database.Primary {
			primary = pods.Items[i].Spec.NodeName
			continue
		}
		standbys = append(standbys, pods.Items[i].Spec.NodeName)
	}
	if primary == "" || len(standbys) != 2 {
		t.Fatalf("the primary is on %q, and standbys are on %v", primary, standbys)
	}
	return primary, standbys
}

// dark takes nodes off the network and freezes their processes, and returns what brings them
// back. A frozen process alone is not a loss of power: its kernel still accepts connections.
func dark(t *testing.T, nodes ...string) (light func()) {
	t.Helper()
	docker := func(ctx context.Context, args ...string) {
		if out, err := command(ctx, "docker", args...); err != nil {
			t.Error(out, err)
		}
	}
	rules := func(ctx context.Context, verb string) {
		for _, node := range nodes {
			docker(ctx, "exec", node, "sh", "-c", "for c in INPUT OUTPUT FORWARD; do iptables -"+verb+" $c -j DROP || exit; done")
		}
	}
	light = sync.OnceFunc(func() {
		docker(context.Background(), append([]string{"unpause"}, nodes...)...)
		rules(context.Background(), "D")
	})
	t.Cleanup(light)
	rules(t.Context(), "I")
	docker(t.Context(), append([]string{"pause"}, nodes...)...)
	return light
}

// survived checks that the database serves again, with every acknowledged row.
func (z *zones) survived(t *testing.T, name string, began time.Time, before int) {
	t.Helper()
	ready(t, z.shop)
	z.domainLoss(t, "Kept")
	atLeast(t, z.shop, rows(t, z.shop)+50)
	log := logs(t, z.shop.Namespace, "loader")
	lost := lacking(t, log, z.shop.Namespace, z.shop.Status.Database.Primary)
	if len(lost) > 0 {
		t.Errorf("%d acknowledged rows are lost", len(lost))
	}
	z.report.Ended(name, len(acks.Rows(log))-before, len(lost), acks.Pause(log, began))
}

// standbyLost: another standby confirms.
func (z *zones) standbyLost(t *testing.T) {
	before, began := rows(t, z.shop), time.Now()
	_, standbys := z.nodesOf(t)
	light := dark(t, standbys[0])
	atLeast(t, z.shop, before+100)
	light()
	z.survived(t, "a zone with a standby is lost, and returns", began, before)
}

// standbysLost: no commit is acknowledged until a standby returns.
func (z *zones) standbysLost(t *testing.T) {
	before, began := rows(t, z.shop), time.Now()
	_, standbys := z.nodesOf(t)
	light := dark(t, standbys...)
	// A commit that waited for a standby in that moment was acknowledged before.
	passed(t, "the last commit", time.Second)
	still := rows(t, z.shop)
	passed(t, "silence", stillness)
	if more := rows(t, z.shop) - still; more > 0 {
		t.Errorf("%d commits were acknowledged without a standby", more)
	}
	light()
	z.survived(t, fmt.Sprintf("the zones of both standbys are lost, and return after %s", stillness), began, before)
}

// primaryLost: a standby of another zone becomes the primary. The old one returns as a standby.
func (z *zones) primaryLost(t *testing.T) {
	before, began := rows(t, z.shop), time.Now()
	primary, _ := z.nodesOf(t)
	old := z.shop.Status.Database.Primary
	light := dark(t, primary)
	eventually(t, "another primary", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(z.shop), z.shop); err != nil {
			return err
		}
		if now := z.shop.Status.Database.Primary; now == old || now == "" {
			return fmt.Errorf("the primary is %q", now)
		}
		return nil
	})
	atLeast(t, z.shop, before+100)
	light()
	z.survived(t, "the zone of the primary is lost, and returns", began, before)
}
