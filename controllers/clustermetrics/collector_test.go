package clustermetrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
)

func shop(name string, status metav1.ConditionStatus, reason string) *v1alpha1.PgStorageCluster {
	cr := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name}}
	cr.Spec.Durability = v1alpha1.DurabilityLocal
	cr.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionDurabilityVerified, Status: status, Reason: reason}}
	return cr
}

func TestWeakenedDatabasesAreReported(t *testing.T) {
	reader := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(
		shop("good", metav1.ConditionTrue, v1alpha1.ReasonVerified),
		shop("unread", metav1.ConditionUnknown, v1alpha1.ReasonNotReadBack),
		shop("weak", metav1.ConditionFalse, v1alpha1.ReasonDurabilityWeakened),
		shop("partly", metav1.ConditionFalse, v1alpha1.ReasonDurabilityOverridden),
		&v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "new"}},
	).Build()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&Collector{Reader: reader})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			got = append(got, fmt.Sprintf("%s{%s} %v", f.GetName(), strings.Join(labels, ","), m.GetGauge().GetValue()))
		}
	}
	want := []string{
		"pgstorage_cluster_durability_weakened{durability=Local,name=partly,namespace=prod,reason=DurabilityOverridden} 1",
		"pgstorage_cluster_durability_weakened{durability=Local,name=weak,namespace=prod,reason=DurabilityWeakened} 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
