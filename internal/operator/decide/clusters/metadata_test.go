package clusters

import (
	"maps"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// outcome of a cluster about one condition; nil where it has none.
func conditionOf(t *testing.T, cr *v1alpha1.PgStorageCluster, f observed.Cluster, condition string) *outcome.Outcome {
	t.Helper()
	built, err := Build(cr, f, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range built.AllOutcomes(cr, f) {
		if o.Condition == condition {
			return &o
		}
	}
	return nil
}

func TestAnnotationsForwarded(t *testing.T) {
	cr := shop(nil)
	if o := conditionOf(t, cr, facts(), v1alpha1.ConditionAnnotationsForwarded); o != nil {
		t.Errorf("without annotations: %+v", o)
	}
	cr.Annotations = map[string]string{"cnpg.io/hibernation": "on", "example.com/team": "a"}
	if o := conditionOf(t, cr, facts(), v1alpha1.ConditionAnnotationsForwarded); o == nil || o.Kind != outcome.Done || !o.Informative || !strings.Contains(o.Message, "cnpg.io/hibernation") {
		t.Errorf("forwarded: %+v", o)
	}
	cr.Annotations["cnpg.io/podPatch"] = "[]"
	if o := conditionOf(t, cr, facts(), v1alpha1.ConditionAnnotationsForwarded); o == nil || o.Reason != v1alpha1.ReasonNotForwarded || !o.Informative || !strings.Contains(o.Message, "metadata.annotations[cnpg.io/podPatch]") {
		t.Errorf("not forwarded: %+v", o)
	}
}

// A database that an annotation stops, or that CloudNativePG skips because of one, is
// not called healthy, whatever set the annotation.
func TestHaltedDatabases(t *testing.T) {
	for name, tc := range map[string]struct {
		annotations map[string]string
		conditions  []metav1.Condition
		reason      string
		message     string
	}{
		"healthy":        {nil, nil, v1alpha1.ReasonHealthy, "primary shop-1"},
		"off":            {map[string]string{"cnpg.io/hibernation": "off"}, nil, v1alpha1.ReasonHealthy, ""},
		"asked":          {map[string]string{"cnpg.io/hibernation": "on"}, nil, v1alpha1.ReasonHibernated, "has not acted on it yet"},
		"stopping":       {map[string]string{"cnpg.io/hibernation": "on"}, []metav1.Condition{{Type: conditionHibernation, Status: metav1.ConditionFalse, Message: "Hibernation is in progress"}}, v1alpha1.ReasonHibernated, "Hibernation is in progress"},
		"hibernated":     {map[string]string{"cnpg.io/hibernation": "on"}, []metav1.Condition{{Type: conditionHibernation, Status: metav1.ConditionTrue}}, v1alpha1.ReasonHibernated, "no instance runs, and the volumes are kept"},
		"not reconciled": {map[string]string{"cnpg.io/reconciliationLoop": "disabled"}, nil, v1alpha1.ReasonReconciliationDisabled, "neither replaces a lost primary"},
	} {
		t.Run(name, func(t *testing.T) {
			cr, f := shop(nil), facts()
			cr.Annotations = tc.annotations
			built, err := Build(cr, f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			f.Cluster = &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cr.Name, Annotations: map[string]string{naming.AnnotationIntent: built.intent(cr.Name)}}}
			maps.Copy(f.Cluster.Annotations, tc.annotations)
			f.Cluster.Status = cnpgv1.ClusterStatus{Instances: 1, ReadyInstances: 1, CurrentPrimary: "shop-1"}
			f.Cluster.Status.Conditions = append(tc.conditions, metav1.Condition{Type: string(cnpgv1.ConditionClusterReady), Status: metav1.ConditionTrue})
			o := conditionOf(t, cr, f, v1alpha1.ConditionDatabaseReady)
			if o == nil || o.Reason != tc.reason || !strings.Contains(o.Message, tc.message) || (o.Kind == outcome.Done) != (tc.reason == v1alpha1.ReasonHealthy) {
				t.Errorf("%+v", o)
			}
		})
	}
}
