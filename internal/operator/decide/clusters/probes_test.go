package clusters

import (
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

func TestProbesOutcome(t *testing.T) {
	limit := int32(300)
	asWanted := observed.Probes{Startup: observed.Probe{Timeout: 5, Period: 10, Attempts: 360}, Readiness: observed.Probe{Timeout: 5, Period: 10, Attempts: 3}, Liveness: observed.Probe{Timeout: 5, Period: 10, Attempts: 30}}
	earlier := asWanted
	earlier.Liveness.Attempts = 3
	healthy := outcome.DoneWith(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonHealthy, "")
	for _, tc := range []struct {
		name     string
		seen     map[string]observed.Probes
		database outcome.Outcome
		reason   string
		counts   bool
		says     string
	}{
		{"as declared", map[string]observed.Probes{"shop-1": asWanted}, healthy, v1alpha1.ReasonApplied, true, "1 instances"},
		{"a pod from before the change", map[string]observed.Probes{"shop-1": earlier}, healthy, v1alpha1.ReasonProbesDiffer, true, "shop-1: livenessProbe.failureThreshold is 3, wanted 30; "},
		{"no container of Postgres", map[string]observed.Probes{"shop-1": {}}, healthy, v1alpha1.ReasonProbesDiffer, true, "is 0, wanted 30"},
		{"no pod was read", nil, healthy, v1alpha1.ReasonNotReadBack, false, ""},
		{"the database is not ready", map[string]observed.Probes{"shop-1": earlier}, outcome.WaitFor(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonProgressing, ""), v1alpha1.ReasonNotReadBack, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := facts()
			f.Profile.Spec.InstanceProbes = &v1alpha1.InstanceProbes{Reason: "slow", Liveness: "5m"}
			f.Cluster = &cnpgv1.Cluster{Spec: cnpgv1.ClusterSpec{LivenessProbeTimeout: &limit}}
			f.ReadBack.Probes = tc.seen
			got := probesOutcome(shop(nil), f, tc.database)
			if got == nil || got.Reason != tc.reason || got.Informative == tc.counts || !strings.Contains(got.Message, tc.says) {
				t.Errorf("outcome %+v", got)
			}
		})
	}
}

func TestNoConditionWithoutProbesOfTheProfile(t *testing.T) {
	f := facts()
	f.Cluster = &cnpgv1.Cluster{}
	done := outcome.DoneWith(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonHealthy, "")
	if got := probesOutcome(shop(nil), f, done); got != nil {
		t.Errorf("a profile without the field: %+v", got)
	}
	f.Profile.Spec.InstanceProbes = &v1alpha1.InstanceProbes{Reason: "slow", Liveness: "5m"}
	asIs := shop(func(s *v1alpha1.PgStorageClusterSpec) { s.Defaults = v1alpha1.DefaultsCloudNativePG })
	if got := probesOutcome(asIs, f, done); got != nil {
		t.Errorf("CloudNativePG's own probes: %+v", got)
	}
}
