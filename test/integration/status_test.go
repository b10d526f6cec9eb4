package integration

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// The manager restores a status that differs from the result of the last pass, though nothing
// else of the object or around it changes. A pass with a stale cache leaves such a status.
func TestEditedStatusIsRestored(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "mended")
	p := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "mended"}}
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	cr := cluster(ns, "shop", "mended")
	create(t, c, cr)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy)
	const strange = 99
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"observedGeneration":%d}}`, strange))
	for _, tc := range []struct {
		object   client.Object
		observed func() int64
	}{
		{p, func() int64 { return p.Status.ObservedGeneration }},
		{cr, func() int64 { return cr.Status.ObservedGeneration }},
	} {
		if err := c.Status().Patch(t.Context(), tc.object, patch); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the status of "+tc.object.GetName()+" as it is", func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(tc.object), tc.object); err != nil {
				return err
			}
			if got := tc.observed(); got == strange {
				return fmt.Errorf("observedGeneration %d", got)
			}
			return nil
		})
	}
}
