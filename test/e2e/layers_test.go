//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// layersOfTheStorage measures the layers beside a primary on kind's own StorageClass,
// without an image of fio.
func layersOfTheStorage(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	b := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "layers"},
		Spec: v1alpha1.PgBenchmarkSpec{
			Cluster: shop.Name,
			Layers:  &v1alpha1.BenchmarkLayers{Duration: "1s", Repeats: 3},
			Pgbench: v1alpha1.PgbenchSpec{Scale: 1, Clients: []int32{1}, Duration: "3s", WarmUp: "1s"},
		},
	}
	create(t, b)
	scratch := map[string]bool{}
	eventually(t, "the result of the layers", func(ctx context.Context) error {
		claims := &corev1.PersistentVolumeClaimList{}
		if err := c.List(ctx, claims, client.InNamespace(b.Namespace), client.MatchingLabels(naming.BenchmarkLabels(b.Name))); err != nil {
			return err
		}
		for _, claim := range claims.Items {
			scratch[claim.Name] = true
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.Phase != "Succeeded" || meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionLayersMeasured) == nil {
			return fmt.Errorf("phase %s: %+v", b.Status.Phase, b.Status.Conditions)
		}
		return nil
	})
	if len(scratch) != 1 {
		t.Errorf("scratch volumes that were seen: %v", scratch)
	}
	told := 0
	for _, l := range b.Status.Run.Layers {
		t.Logf("%s: %s ms by %s; for a transaction %s B, %s writes, %s flushes; %s", l.Name, l.Milliseconds, l.Method,
			l.BytesPerTransaction, l.RequestsPerTransaction, l.FlushesPerTransaction, l.Note)
		switch l.Name {
		case v1alpha1.LayerWALFlush, v1alpha1.LayerUnlogged, v1alpha1.LayerLogged:
			told++
			if l.Milliseconds == "" {
				t.Errorf("%+v", l)
			}
		case v1alpha1.LayerVolume:
			if l.Milliseconds != "" || l.Note != "spec.layers.fioImage is not set" {
				t.Errorf("%+v", l)
			}
		case v1alpha1.LayerDevice:
			// What pgbench's transactions write reaches the disk of the node.
			bytes, err := strconv.ParseFloat(l.BytesPerTransaction, 64)
			if err != nil || bytes <= 0 || l.Milliseconds != "" {
				t.Errorf("%+v: %v", l, err)
			}
			told++
		}
	}
	if told != 4 || !strings.HasPrefix(b.Status.Run.LayersVerdict, "a transaction of 1 client takes") {
		t.Errorf("%+v: %q", b.Status.Run.Layers, b.Status.Run.LayersVerdict)
	}
	t.Log(b.Status.Run.LayersVerdict)
	if got := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionLayersMeasured); got.Message != "not measured: Volume: spec.layers.fioImage is not set" {
		t.Errorf("%+v", got)
	}
	eventually(t, "the scratch volume to be gone", func(ctx context.Context) error {
		claims := &corev1.PersistentVolumeClaimList{}
		if err := c.List(ctx, claims, client.InNamespace(b.Namespace), client.MatchingLabels(naming.BenchmarkLabels(b.Name))); err != nil {
			return err
		}
		if len(claims.Items) > 0 {
			return fmt.Errorf("%d claims", len(claims.Items))
		}
		return nil
	})
}
