package clusters

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// overrides are what a Cluster has by spec.cnpg alone, rejected or not. They are empty
// where they are not an object, which another outcome reports.
func overrides(cr *v1alpha1.PgStorageCluster) map[string]any {
	spec := map[string]any{}
	if cr.Spec.CNPG != nil && cr.Spec.CNPG.Spec != nil && json.Unmarshal(cr.Spec.CNPG.Spec.Raw, &spec) != nil {
		spec = map[string]any{}
	}
	return map[string]any{"spec": spec}
}

func database(in cnpg.Inputs, allowed hatch.Consent) (plan.Object, []string, error) {
	object, err := plan.FromApply(plan.StageDatabase, cnpg.Cluster(in))
	if err != nil {
		return plan.Object{}, nil, err
	}
	refused := cnpg.Merge(object.Content.Object, in.CR.Spec.CNPG, allowed)
	cnpg.AddQueries(object.Content.Object, naming.DurabilityQueries(in.CR.Name, string(in.CR.UID)), naming.DurabilityQueriesKey)
	return plan.FromContent(plan.StageDatabase, object.Content.Object), refused, nil
}

func acceptance(refusals []postgres.Refusal, overridden []string) outcome.Outcome {
	const c = v1alpha1.ConditionParametersAccepted
	if len(refusals) > 0 {
		messages := make([]string, 0, len(refusals))
		for _, r := range refusals {
			messages = append(messages, r.Message)
		}
		return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidParameters, strings.Join(messages, "; "))
	}
	if len(overridden) > 0 {
		return outcome.InvalidBecause(c, v1alpha1.ReasonOverrideRefused, strings.Join(overridden, "; "))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonAccepted, msgAccepted)
}

// consent is what the profile of a cluster allows its authors.
func consent(cr *v1alpha1.PgStorageCluster, p *v1alpha1.PgStorageProfile) hatch.Consent {
	out := hatch.Consent{Profile: cr.Spec.Profile}
	if p != nil {
		out.Entries = p.Spec.AllowedOverrides
	}
	return out
}

// foreignImage refuses an image of another repository than the operator's without
// consent: it runs with the rights of the instances' ServiceAccount.
func foreignImage(cr *v1alpha1.PgStorageCluster, p *v1alpha1.PgStorageProfile, config Config) []string {
	image, allowed := cr.Spec.Postgres.Image, consent(cr, p)
	if image == "" || strings.HasPrefix(image, config.ImageRepository+":") || allowed.Allows(hatch.Image) {
		return nil
	}
	return []string{fmt.Sprintf(msgForeignImage, image, config.ImageRepository, allowed.Ask(hatch.Image))}
}
