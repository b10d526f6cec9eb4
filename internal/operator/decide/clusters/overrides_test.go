package clusters

import (
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/testing/hostile"
)

func TestAttacksByTheEscapeHatchAreRefused(t *testing.T) {
	for _, tc := range hostile.Overrides {
		t.Run(tc.Name, func(t *testing.T) {
			built, err := Build(shop(func(s *v1alpha1.PgStorageClusterSpec) {
				s.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(tc.Spec)}}
			}), facts(), catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			refusedBy(t, built, v1alpha1.ReasonOverrideRefused, "spec.cnpg.spec."+tc.Field)
		})
	}
}

func TestAnImageOfAnotherRepositoryNeedsConsent(t *testing.T) {
	for _, tc := range []struct {
		image   string
		entries []string
		refused bool
	}{
		{config.ImageRepository + ":17.6", nil, false},
		{"evil.example/postgresql:17", nil, true},
		{config.ImageRepository + "-evil:17", nil, true},
		{"evil.example/postgresql:17", []string{"priorityClassName"}, true},
		{"registry.example/postgis:17", []string{"imageName"}, false},
	} {
		f := facts()
		f.Profile.Spec.AllowedOverrides = tc.entries
		built, err := Build(shop(func(s *v1alpha1.PgStorageClusterSpec) { s.Postgres.Image = tc.image }), f, catalog.All(), config)
		if err != nil {
			t.Fatal(err)
		}
		if tc.refused {
			refusedBy(t, built, v1alpha1.ReasonOverrideRefused, "spec.postgres.image: "+tc.image+" is not an image of registry.example/postgresql, ")
		} else if _, held := built.Plan.GateOf(plan.StageDatabase); held {
			t.Errorf("%s %s is held back", tc.image, tc.entries)
		}
	}
}

// TestStatusNamesTheSecretsInUse: those that overrides name, else those that CloudNativePG
// makes.
func TestStatusNamesTheSecretsInUse(t *testing.T) {
	cr, f := shop(nil), facts()
	f.Cluster = &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	built, err := Build(cr, f, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	if got := *built.Status(cr, f).Secrets; got != (v1alpha1.SecretNames{Application: "shop-app", CertificateAuthority: "shop-ca"}) {
		t.Errorf("%+v", got)
	}
	f.Cluster.Spec.Bootstrap = &cnpgv1.BootstrapConfiguration{InitDB: &cnpgv1.BootstrapInitDB{Secret: &cnpgv1.LocalObjectReference{Name: "mine"}}}
	f.Cluster.Spec.Certificates = &cnpgv1.CertificatesConfiguration{ServerCASecret: "authority"}
	if got := *built.Status(cr, f).Secrets; got != (v1alpha1.SecretNames{Application: "mine", CertificateAuthority: "authority"}) {
		t.Errorf("%+v", got)
	}
}

// refusedBy fails the test unless the plan is held back for a reason whose message
// contains names.
func refusedBy(t *testing.T, built Cluster, reason, names string) {
	t.Helper()
	if _, held := built.Plan.GateOf(plan.StageDatabase); !held {
		t.Error("the database is not held back")
	}
	for _, o := range built.Outcomes {
		if o.Condition == v1alpha1.ConditionParametersAccepted && o.Kind == outcome.Invalid && o.Reason == reason && strings.Contains(o.Message, names) {
			return
		}
	}
	t.Errorf("no refusal %s names %s: %+v", reason, names, built.Outcomes)
}
