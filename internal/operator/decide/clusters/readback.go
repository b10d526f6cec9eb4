package clusters

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// appliedOutcome compares what every instance reports with what was given. What
// cannot be read is said to be unknown, and does not keep a cluster from Ready.
func appliedOutcome(cr *v1alpha1.PgStorageCluster, parameters []postgres.Parameter, seen observed.ReadBack, database outcome.Outcome) outcome.Outcome {
	const cond = v1alpha1.ConditionParametersApplied
	if database.Kind != outcome.Done {
		o := outcome.WaitFor(cond, v1alpha1.ReasonNotReadBack, msgReadBackLater)
		o.Informative, o.Unknown = true, true
		return o
	}
	if len(parameters) == 0 {
		return outcome.DoneWith(cond, v1alpha1.ReasonApplied, msgNoParameters)
	}
	var differences []string
	compared := 0
	for _, instance := range slices.Sorted(maps.Keys(seen.Instances)) {
		n, differ := compare(major(cr.Spec.Postgres.Version), instance, parameters, seen.Instances[instance])
		compared += n
		differences = append(differences, differ...)
	}
	switch {
	case len(differences) > 0:
		return outcome.WaitFor(cond, v1alpha1.ReasonParametersDiffer, strings.Join(differences, "; ")+msgParametersDiffer)
	case len(seen.Errors) > 0 || compared == 0 || len(seen.Instances) < int(Instances(cr)):
		o := outcome.WaitFor(cond, v1alpha1.ReasonNotReadBack, msgParametersNotRead+joined(seen.Errors))
		o.Informative, o.Unknown = true, true
		return o
	}
	return outcome.DoneWith(cond, v1alpha1.ReasonApplied, fmt.Sprintf(msgParametersApplied, len(seen.Instances)))
}

func compare(major int, instance string, parameters []postgres.Parameter, have map[string]float64) (int, []string) {
	var differences []string
	compared := 0
	for _, p := range parameters {
		want, numeric := postgres.BaseValue(major, p.Name, p.Value)
		got, known := have[p.Name]
		if !numeric || !known {
			continue
		}
		compared++
		if got != want {
			differences = append(differences, fmt.Sprintf("%s has %s = %s, wanted %s (%s)", instance, p.Name, plain(got), plain(want), p.Value))
		}
	}
	return compared, differences
}

// plain as pg_settings shows it: %g would make 2.097152e+06 of shared_buffers.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func joined(errors map[string]string) string {
	if len(errors) == 0 {
		return "not every instance reports pg_settings yet; CloudNativePG's default monitoring queries are needed"
	}
	var out []string
	for _, instance := range slices.Sorted(maps.Keys(errors)) {
		out = append(out, instance+": "+errors[instance])
	}
	return strings.Join(out, "; ")
}
