package integration

import (
	"context"
	"fmt"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// An adopted Cluster with CloudNativePG's defaults keeps its spec: when it is taken over,
// when it is released, and when it is taken over again. Unsafe values are taken back.
func TestAdoptedClusterKeepsItsSpec(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "keep")
	pg := &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop"}}
	pg.Spec.Instances, pg.Spec.StorageConfiguration = 3, cnpgv1.StorageConfiguration{Size: "1024Mi"}
	pg.Spec.PostgresConfiguration.Parameters = map[string]string{"work_mem": "8192kB", "fsync": "true"}
	create(t, c, pg)
	key, spec := client.ObjectKeyFromObject(pg), pg.Spec
	for range 2 {
		three := int32(3)
		cr := cluster(ns, "shop", "keep")
		cr.Spec.Instances, cr.Spec.Defaults, cr.Spec.Resources = &three, v1alpha1.DefaultsCloudNativePG, v1alpha1.ClusterResources{}
		cr.Spec.Durability = v1alpha1.DurabilityLocal
		cr.Spec.Postgres.Parameters = map[string]string{"work_mem": "8192kB", "fsync": "true"}
		cr.Spec.Monitoring = &v1alpha1.Monitoring{PodMonitor: v1alpha1.PodMonitorDisabled}
		cr.Spec.Storage = v1alpha1.ClusterStorage{Size: resource.MustParse("1Gi")}
		create(t, c, cr)
		adoptBy(t, c, key, "shop")
		owned := func(uid string) {
			eventually(t, "owner "+uid, func(ctx context.Context) error {
				pg = &cnpgv1.Cluster{}
				if err := c.Get(ctx, key, pg); err != nil {
					return err
				}
				if pg.Labels[naming.LabelOwnerUID] != uid {
					return fmt.Errorf("labels %v", pg.Labels)
				}
				return nil
			})
		}
		owned(string(cr.UID))
		if diff := cmp.Diff(spec, pg.Spec); diff != "" {
			t.Errorf("the adoption changed the Cluster: %s", diff)
		}
		before := pg.DeepCopy()
		pg.Spec.PostgresConfiguration.Parameters["zero_damaged_pages"] = "on"
		if err := c.Patch(t.Context(), pg, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the safe value", func(ctx context.Context) error {
			if err := c.Get(ctx, key, pg); err != nil {
				return err
			}
			if v := pg.Spec.PostgresConfiguration.Parameters["zero_damaged_pages"]; v != "off" {
				return fmt.Errorf("it is %q", v)
			}
			return nil
		})
		spec = *pg.Spec.DeepCopy()
		if err := c.Delete(t.Context(), cr); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the release", func(ctx context.Context) error {
			if err := c.Get(ctx, key, &v1alpha1.PgStorageCluster{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is there: %w", err)
			}
			return nil
		})
		owned("")
		if diff := cmp.Diff(spec, pg.Spec); diff != "" {
			t.Errorf("the release changed the Cluster: %s", diff)
		}
	}
}

// adoptBy annotates a Cluster with the consent to its adoption.
func adoptBy(t *testing.T, c client.Client, key client.ObjectKey, name string) {
	t.Helper()
	pg := get(t, c, key, &cnpgv1.Cluster{})
	before := pg.DeepCopy()
	if pg.Annotations == nil {
		pg.Annotations = map[string]string{}
	}
	pg.Annotations[naming.AnnotationAdopt] = name
	if err := c.Patch(t.Context(), pg, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}
