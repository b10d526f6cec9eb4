package clusters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// probes that a profile gives the instances on it; nil for those of CloudNativePG.
func probes(p *v1alpha1.PgStorageProfile) *v1alpha1.InstanceProbes {
	if p == nil {
		return nil
	}
	return p.Spec.InstanceProbes
}

// probesOutcome compares the probes of every pod with what the Cluster leads to. It is nil
// where the profile gives none. spec.cnpg.spec has priority over the profile, so the
// Cluster is what decides.
func probesOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, database outcome.Outcome) *outcome.Outcome {
	if probes(facts.Profile) == nil || AsIs(cr) {
		return nil
	}
	const cond = v1alpha1.ConditionProbesApplied
	want, seen := cnpg.DeclaredProbes(facts.Cluster), facts.ReadBack.Probes
	var differences []string
	for _, instance := range slices.Sorted(maps.Keys(seen)) {
		for _, difference := range probesDiffer(want, seen[instance]) {
			differences = append(differences, instance+": "+difference)
		}
	}
	var o outcome.Outcome
	switch {
	case database.Kind != outcome.Done || len(seen) < int(Instances(cr)):
		o = outcome.WaitFor(cond, v1alpha1.ReasonNotReadBack, msgProbesNotRead)
		o.Informative, o.Unknown = true, true
	case len(differences) > 0:
		o = outcome.WaitFor(cond, v1alpha1.ReasonProbesDiffer, strings.Join(differences, "; ")+msgProbesDiffer)
	default:
		o = outcome.DoneWith(cond, v1alpha1.ReasonApplied, fmt.Sprintf(msgProbesApplied, len(seen)))
	}
	return &o
}

func probesDiffer(want, have observed.Probes) []string {
	var out []string
	for _, p := range []struct {
		name       string
		want, have observed.Probe
	}{
		{"startupProbe", want.Startup, have.Startup},
		{"readinessProbe", want.Readiness, have.Readiness},
		{"livenessProbe", want.Liveness, have.Liveness},
	} {
		for _, field := range []struct {
			name       string
			want, have int32
		}{
			{"timeoutSeconds", p.want.Timeout, p.have.Timeout},
			{"periodSeconds", p.want.Period, p.have.Period},
			{"failureThreshold", p.want.Attempts, p.have.Attempts},
		} {
			if field.want != 0 && field.want != field.have {
				out = append(out, fmt.Sprintf("%s.%s is %d, wanted %d", p.name, field.name, field.have, field.want))
			}
		}
	}
	return out
}
