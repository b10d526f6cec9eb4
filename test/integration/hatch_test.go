package integration

import (
	"fmt"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/hostile"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// overridden is a cluster with fields of CloudNativePG.
func overridden(ns, name, profile, spec string) *v1alpha1.PgStorageCluster {
	cr := cluster(ns, name, profile)
	cr.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(spec)}}
	return cr
}

// TestEscapeHatchRefusesAttacks: each is stored, refused by a condition that names its field,
// and makes nothing.
func TestEscapeHatchRefusesAttacks(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "hostile")
	var all []*v1alpha1.PgStorageCluster
	for i, attack := range hostile.Overrides {
		cr := overridden(ns, fmt.Sprintf("attack-%d", i), "hostile", attack.Spec)
		create(t, c, cr)
		all = append(all, cr)
	}
	for i, attack := range hostile.Overrides {
		got := hasCondition(t, c, all[i], v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonOverrideRefused)
		if !strings.Contains(got.Message, "spec.cnpg.spec."+attack.Field) {
			t.Errorf("%s: the message does not name %s: %s", attack.Name, attack.Field, got.Message)
		}
		absent(t, c, client.ObjectKeyFromObject(all[i]), &cnpgv1.Cluster{})
	}
}

// TestConsentOpensAField: the manager applies what a profile allows. A withdrawn consent keeps
// the database as it is, and what no profile can allow stays refused.
func TestConsentOpensAField(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "consent")
	cr := overridden(ns, "shop", "consent", `{"priorityClassName": "high"}`)
	create(t, c, cr)
	got := hasCondition(t, c, cr, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOverrideRefused)
	if want := "ask a cluster administrator to add priorityClassName to spec.allowedOverrides of PgStorageProfile consent"; !strings.Contains(got.Message, want) {
		t.Errorf("%s lacks %s", got.Message, want)
	}
	p := get(t, c, client.ObjectKey{Name: "consent"}, &v1alpha1.PgStorageProfile{})
	allow := func(entries ...string) {
		t.Helper()
		changed(t, c, p, func() { p.Spec.AllowedOverrides = entries })
	}
	allow("priorityClassName", "postgresql")
	hasCondition(t, c, cr, v1alpha1.ConditionParametersAccepted, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
	pg := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	if pg.Spec.PriorityClassName != "high" {
		t.Errorf("priorityClassName %q", pg.Spec.PriorityClassName)
	}
	allow()
	hasCondition(t, c, cr, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOverrideRefused)
	if pg = get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{}); pg.Spec.PriorityClassName != "high" {
		t.Error("the database was changed when its consent was withdrawn")
	}
	allow("priorityClassName", "postgresql")
	closed := overridden(ns, "closed", "consent", `{"postgresql": {"parameters": {"fsync": "off"}}}`)
	create(t, c, closed)
	hasCondition(t, c, closed, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOverrideRefused)
	absent(t, c, client.ObjectKeyFromObject(closed), &cnpgv1.Cluster{})
}

// TestRestoreKeepsDatabaseAndOwner: the API server takes a restore with our names.
func TestRestoreKeepsDatabaseAndOwner(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "restore")
	p := get(t, c, client.ObjectKey{Name: "restore"}, &v1alpha1.PgStorageProfile{})
	changed(t, c, p, func() { p.Spec.AllowedOverrides = []string{"bootstrap.recovery"} })
	cr := overridden(ns, "shop", "restore", `{"bootstrap": {"recovery": {"backup": {"name": "last"}}}}`)
	cr.Spec.Postgres.Database, cr.Spec.Postgres.Owner = "store", "keeper"
	create(t, c, cr)
	hasCondition(t, c, cr, v1alpha1.ConditionParametersAccepted, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
	b := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{}).Spec.Bootstrap
	if b.InitDB != nil || b.Recovery == nil || b.Recovery.Database != "store" || b.Recovery.Owner != "keeper" {
		t.Errorf("bootstrap %+v", b)
	}
}
