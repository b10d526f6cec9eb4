//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
)

// TestAdopt takes over a running Cluster of three instances under load, releases it, and
// takes it over again. No instance restarts, and no acknowledged row is lost.
func TestAdopt(t *testing.T) {
	ns := namespace(t)
	pg := foreignCluster(t, ns)
	shop := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: pg.Name}}
	shop.Status.Secrets = &v1alpha1.SecretNames{Application: pg.GetApplicationSecretName()}
	shop.Status.Database = &v1alpha1.DatabaseStatus{Image: pg.Spec.ImageName}
	client1(t, shop, "prepare", `psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE TABLE acked (id int PRIMARY KEY)"`)
	create(t, clientPod(shop, "loader", insertLoop))
	atLeast(t, shop, 50)
	pods, primary := podUIDs(t, shop), pg.Status.CurrentPrimary
	if len(pods) != 3 {
		t.Fatalf("pods %v", pods)
	}

	says(t, plugin(t, ns, "explain", "cluster.postgresql.cnpg.io/"+pg.Name), "PostgreSQL 17, 3 instances", "at least one standby", "standard", "work_mem")
	before := generation(t, pg)
	takeOver(t, shop, before)
	if shop.Spec.Durability != v1alpha1.DurabilityQuorum || shop.Spec.Postgres.Parameters["work_mem"] != "8MB" {
		t.Errorf("spec %+v", shop.Spec)
	}
	unsafeEditIsReverted(t, pg)
	release(t, shop, pg)
	atLeast(t, shop, len(acks.Rows(logs(t, ns, "loader")))+50)
	takeOver(t, shop, generation(t, pg))

	psql(t, ns, primary, "CREATE TABLE stop ()")
	clientEnded(t, ns, "loader")
	log := logs(t, ns, "loader")
	rows := len(acks.Rows(log))
	if lost := lacking(t, log, ns, primary); len(lost) > 0 {
		t.Errorf("%d acknowledged rows are lost: %v", len(lost), lost)
	}
	// The client stops waiting after 10 seconds, which a commit may take on a busy machine. A restart
	// or a switchover would make many fail, and show in the pods below.
	if failed := strings.Count(logs(t, ns, "loader"), "fail "); failed*20 > rows {
		t.Errorf("%d commits failed, and %d were acknowledged", failed, rows)
	}
	if after := podUIDs(t, shop); !maps.Equal(pods, after) {
		t.Errorf("pods %v, were %v", after, pods)
	}
	t.Logf("%d rows were acknowledged and none is lost; the pods are %v", rows, pods)
	release(t, shop, pg)
	profileGoes(t, shop.Spec.Profile)
}

// profileGoes deletes the profile that the adoption created, whose name a tutorial uses too.
func profileGoes(t *testing.T, name string) {
	t.Helper()
	p := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the profile to go", func(ctx context.Context) error { return gone(ctx, p) })
}

// foreignCluster is a Cluster as a user of CloudNativePG makes it.
func foreignCluster(t *testing.T, ns string) *cnpgv1.Cluster {
	t.Helper()
	pg := &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop"}}
	pg.Spec.Instances, pg.Spec.ImageName = 3, os.Getenv("PGSTORAGE_POSTGRES_REPOSITORY")+":17"
	pg.Spec.StorageConfiguration.Size = "1Gi"
	pg.Spec.PostgresConfiguration.Parameters = map[string]string{"work_mem": "8MB", "max_connections": "60"}
	pg.Spec.PostgresConfiguration.Synchronous = &cnpgv1.SynchronousReplicaConfiguration{Method: "any", Number: 1, DataDurability: "required", FailoverQuorum: true}
	create(t, pg)
	eventually(t, "three instances of CloudNativePG", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pg), pg); err != nil {
			return err
		}
		if pg.Status.ReadyInstances != 3 || pg.Status.Phase != cnpgv1.PhaseHealthy {
			return fmt.Errorf("%d ready: %s", pg.Status.ReadyInstances, pg.Status.Phase)
		}
		return nil
	})
	return pg
}

func generation(t *testing.T, pg *cnpgv1.Cluster) int64 {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pg), pg); err != nil {
		t.Fatal(err)
	}
	return pg.Generation
}

// takeOver adopts the Cluster by the plugin. Its generation shows that its spec stays.
func takeOver(t *testing.T, shop *v1alpha1.PgStorageCluster, before int64) {
	t.Helper()
	repository := "--postgres-image-repository=" + os.Getenv("PGSTORAGE_POSTGRES_REPOSITORY")
	says(t, plugin(t, shop.Namespace, "adopt", shop.Name, repository), "Unchanged", "No instance restarts.")
	says(t, plugin(t, shop.Namespace, "adopt", shop.Name, "--apply", repository), "Adopted")
	shop.ResourceVersion = ""
	ready(t, shop)
	pg := &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name}}
	if after := generation(t, pg); after != before {
		t.Errorf("the adoption changed the spec: generation %d, was %d", after, before)
	}
	if pg.Labels[naming.LabelOwnerUID] != string(shop.UID) || pg.Annotations[naming.AnnotationAdopt] != "" {
		t.Errorf("labels %v, annotations %v", pg.Labels, pg.Annotations)
	}
}

// unsafeEditIsReverted sets a value in the Cluster that the operator refuses.
func unsafeEditIsReverted(t *testing.T, pg *cnpgv1.Cluster) {
	t.Helper()
	generation(t, pg)
	before := pg.DeepCopy()
	pg.Spec.PostgresConfiguration.Parameters["zero_damaged_pages"] = "on"
	if err := c.Patch(t.Context(), pg, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "zero_damaged_pages to be off again", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pg), pg); err != nil {
			return err
		}
		if v := pg.Spec.PostgresConfiguration.Parameters["zero_damaged_pages"]; v != "off" {
			return fmt.Errorf("it is %q", v)
		}
		return nil
	})
}

// release deletes the PgStorageCluster. CloudNativePG's Cluster stays, without our labels.
func release(t *testing.T, shop *v1alpha1.PgStorageCluster, pg *cnpgv1.Cluster) {
	t.Helper()
	if err := c.Delete(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the release", func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(shop), &v1alpha1.PgStorageCluster{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is there"), err)
	})
	generation(t, pg)
	if pg.Labels[naming.LabelOwnerUID] != "" || pg.Labels[naming.LabelManagedBy] != "" || !pg.DeletionTimestamp.IsZero() {
		t.Errorf("the Cluster has labels %v", pg.Labels)
	}
}

// clientEnded waits for a client to end.
func clientEnded(t *testing.T, ns, name string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	eventually(t, "the client "+name+" to end", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return nil
	})
}
