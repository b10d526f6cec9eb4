package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// A reviewed annotation reaches the database and leaves it again. Others never do, and
// the status names them.
func TestAnnotationsReachTheDatabase(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "annotations")
	cr := cluster(ns, "shop", "annotations")
	cr.Annotations = map[string]string{naming.AnnotationHibernation: "on", "cnpg.io/podPatch": `[{"op": "add"}]`, "example.com/team": "a"}
	create(t, c, cr)
	pg := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	for key := range pg.Annotations {
		if key != naming.AnnotationHibernation && key != naming.AnnotationIntent {
			t.Errorf("annotation %s is on the database", key)
		}
	}
	if pg.Annotations[naming.AnnotationHibernation] != "on" {
		t.Errorf("%v", pg.Annotations)
	}
	told := hasCondition(t, c, cr, v1alpha1.ConditionAnnotationsForwarded, metav1.ConditionFalse, v1alpha1.ReasonNotForwarded)
	if !strings.Contains(told.Message, "cnpg.io/podPatch") || strings.Contains(told.Message, "example.com") {
		t.Error(told.Message)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionDatabaseReady, metav1.ConditionFalse, v1alpha1.ReasonHibernated)

	changed(t, c, cr, func() { cr.Annotations = map[string]string{} })
	eventually(t, "the annotation leaves the database", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), pg); err != nil {
			return err
		}
		if value, has := pg.Annotations[naming.AnnotationHibernation]; has {
			return fmt.Errorf("it is %q", value)
		}
		return nil
	})
	eventually(t, "the condition goes", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return err
		}
		for _, condition := range cr.Status.Conditions {
			if condition.Type == v1alpha1.ConditionAnnotationsForwarded {
				return errors.New(condition.Message)
			}
		}
		return nil
	})
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
}
