package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// consenting is a profile that lets its clusters name hosts.
func consenting(t *testing.T, c client.Client, name string) {
	t.Helper()
	storage(t, c, name)
	p := get(t, c, client.ObjectKey{Name: name}, &v1alpha1.PgStorageProfile{})
	changed(t, c, p, func() { p.Spec.AllowedOverrides = []string{"externalClusters"} })
}

// south is the site of that name, which follows site north.
func south(ns, profile string) *v1alpha1.PgStorageCluster {
	cr := cluster(ns, "shop", profile)
	member := func(name string) v1alpha1.SiteMember {
		return v1alpha1.SiteMember{Name: name, Host: "shop." + name + ".example", TLS: v1alpha1.SiteTLS{ClientCertificate: "shop-" + name + "-replication", CertificateAuthority: "shop-" + name + "-ca"}}
	}
	cr.Spec.Topology = &v1alpha1.TopologySpec{Self: "south", Primary: "north", Members: []v1alpha1.SiteMember{member("north"), member("south")}}
	return cr
}

// simulatedSite is what CloudNativePG reports of a site whose instance writes, or does not.
func simulatedSite(t *testing.T, c client.Client, key client.ObjectKey, writing bool) {
	t.Helper()
	simulatedHealthy(t, c, key)
	simulatedStatus(t, c, key, func(s *cnpgv1.ClusterStatus) {
		s.SystemID = "7000"
		s.InstancesReportedState = map[cnpgv1.PodName]cnpgv1.InstanceReportedState{cnpgv1.PodName(key.Name + "-1"): {IsPrimary: writing}}
	})
}

// consentRemoved waits until a consent that was used is gone.
func consentRemoved(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	eventually(t, "the consent to be removed", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil || cr.Annotations[naming.AnnotationPromote] != "" {
			return errors.Join(err, fmt.Errorf("annotations %v", cr.Annotations))
		}
		return nil
	})
}

func TestSiteIsPromotedOnlyWithATokenOrConsent(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	consenting(t, c, "sites")
	cr := south(namespace(t, c), "sites")
	create(t, c, cr)
	key := client.ObjectKeyFromObject(cr)
	pg := get(t, c, key, &cnpgv1.Cluster{})
	if r := pg.Spec.ReplicaCluster; r == nil || r.Self != "south" || r.Primary != "north" || r.Source != "north" || pg.Spec.Bootstrap.PgBaseBackup == nil {
		t.Errorf("replica %+v, bootstrap %+v", r, pg.Spec.Bootstrap)
	}
	watcher := get(t, c, client.ObjectKey{Namespace: key.Namespace, Name: naming.SiteWatcher("shop")}, &appsv1.StatefulSet{})
	simulatedSite(t, c, key, false)
	hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
	// No kubelet runs the watcher.
	hasCondition(t, c, cr, v1alpha1.ConditionSitesAgree, metav1.ConditionUnknown, v1alpha1.ReasonNotReadBack)

	changed(t, c, cr, func() { cr.Spec.Topology.Primary = "south" })
	hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, v1alpha1.ReasonTokenRequired)
	hasCondition(t, c, cr, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonTokenRequired)
	changed(t, c, cr, func() { cr.Annotations = map[string]string{naming.AnnotationPromote: "another"} })
	hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, v1alpha1.ReasonTokenRequired)
	if now := get(t, c, key, &cnpgv1.Cluster{}); now.Spec.ReplicaCluster.Primary != "north" {
		t.Errorf("a refused promotion was applied: %+v", now.Spec.ReplicaCluster)
	}
	// Admission lets its topology go, because it is declared to write.
	topology := cr.Spec.Topology
	changed(t, c, cr, func() { cr.Spec.Topology = nil })
	eventually(t, "the removal to be refused", func(ctx context.Context) error {
		if err := c.Get(ctx, key, cr); err != nil {
			return err
		}
		if o := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionSiteInRole); o == nil || !strings.Contains(o.Message, "set spec.topology as it was") {
			return fmt.Errorf("SiteInRole is %+v", o)
		}
		return nil
	})
	if now := get(t, c, key, &cnpgv1.Cluster{}); now.Spec.ReplicaCluster == nil || now.Spec.ReplicaCluster.Primary != "north" {
		t.Errorf("a site that follows lost its place: %+v", now.Spec.ReplicaCluster)
	}
	changed(t, c, cr, func() { cr.Spec.Topology = topology })
	hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, v1alpha1.ReasonTokenRequired)

	changed(t, c, cr, func() { cr.Annotations[naming.AnnotationPromote] = string(pg.UID) })
	hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, v1alpha1.ReasonPromoting)
	simulatedSite(t, c, key, true)
	hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonWriting)
	consentRemoved(t, c, cr)
	if now := get(t, c, key, &cnpgv1.Cluster{}); now.UID != pg.UID || now.Spec.Bootstrap.PgBaseBackup == nil || now.Spec.PostgresConfiguration.Parameters["pgstorage.epoch"] != "2" {
		t.Errorf("uid %s, bootstrap %+v, parameters %v", now.UID, now.Spec.Bootstrap, now.Spec.PostgresConfiguration.Parameters)
	}

	// A site that writes may become a database of its own again, and its watcher goes.
	changed(t, c, cr, func() { cr.Spec.Topology = nil })
	gone(t, c, client.ObjectKeyFromObject(watcher), &appsv1.StatefulSet{})
}

// A manager that is killed after any write of a promotion is followed by one that ends up in
// the same place.
func TestPromotionOfASiteSurvivesACrashAfterAnyWrite(t *testing.T) {
	c := apiserver.Client(t, config)
	consenting(t, c, "sites-cut")
	cuts := int64(0)
	for ended := false; !ended && !t.Failed(); {
		t.Run(fmt.Sprintf("write %d", cuts+1), func(t *testing.T) {
			stop := manager.Start(t, config)
			cr := south(namespace(t, c), "sites-cut")
			create(t, c, cr)
			key := client.ObjectKeyFromObject(cr)
			pg := get(t, c, key, &cnpgv1.Cluster{})
			simulatedSite(t, c, key, false)
			hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
			stop()

			w := &writes{failAfter: cuts + 1, within: "/namespaces/" + cr.Namespace + "/"}
			stop = manager.Start(t, w.into(config))
			changed(t, c, cr, func() {
				cr.Spec.Topology.Primary, cr.Annotations = "south", map[string]string{naming.AnnotationPromote: string(pg.UID)}
			})
			promoting := condition{v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, v1alpha1.ReasonPromoting}
			eventually(t, "the cut or the last write", func(ctx context.Context) error {
				if w.count.Load() > w.failAfter {
					return nil
				}
				_, err := promoting.on(ctx, c, cr)
				if err == nil && cr.Annotations[naming.AnnotationPromote] != "" {
					err = errors.New("the consent is there")
				}
				return err
			})
			ended = w.count.Load() <= w.failAfter && settled(t, w) <= w.failAfter
			stop()

			stop = manager.Start(t, config)
			eventually(t, "the promotion", func(ctx context.Context) error {
				if err := c.Get(ctx, key, pg); err != nil {
					return err
				}
				if pg.Spec.ReplicaCluster.Primary != "south" || pg.Spec.PostgresConfiguration.Parameters["pgstorage.epoch"] != "2" {
					return fmt.Errorf("%+v, %v", pg.Spec.ReplicaCluster, pg.Spec.PostgresConfiguration.Parameters)
				}
				return nil
			})
			simulatedSite(t, c, key, true)
			hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonWriting)
			consentRemoved(t, c, cr)
			stop()
		})
		cuts++
	}
	// The Cluster, the consent and a status at the least.
	if cuts < 3 {
		t.Errorf("a promotion took %d writes: too few to be all of them", cuts)
	}
	t.Logf("cut after each of %d writes", cuts-1)
}
