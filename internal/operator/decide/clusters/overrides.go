package clusters

import (
	"encoding/json"
	"fmt"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
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

// database is the CloudNativePG Cluster of the plan. live is the one that exists; nil if
// there is none.
func database(in cnpg.Inputs, allowed hatch.Consent, live *cnpgv1.Cluster) (plan.Object, []string, error) {
	object, err := plan.FromApply(plan.StageDatabase, cnpg.Cluster(in))
	if err != nil {
		return plan.Object{}, nil, err
	}
	content := object.Content.Object
	refused := cnpg.Merge(content, in.CR.Spec.CNPG, Setting(in.CR, in.Volumes), allowed)
	if label := cnpg.FailureDomain(in.CR); label != "" {
		refused = append(refused, cnpg.Spread(content, label)...)
	}
	if in.Closed {
		cnpg.Close(content, in.CR)
	}
	if AsIs(in.CR) {
		err = cnpg.AsItIs(in.CR, content, live)
	} else {
		cnpg.AddQueries(content, naming.DurabilityQueries(in.CR.Name, string(in.CR.UID)), naming.DurabilityQueriesKey)
	}
	return plan.FromContent(plan.StageDatabase, content), refused, err
}

// AsIs says that CloudNativePG decides what the spec does not set.
func AsIs(cr *v1alpha1.PgStorageCluster) bool {
	return cr.Spec.Defaults == v1alpha1.DefaultsCloudNativePG
}

// Setting is what decides which values of spec.cnpg.spec are safe.
func Setting(cr *v1alpha1.PgStorageCluster, v profile.Volumes) hatch.Setting {
	out := hatch.Setting{
		Database: cr.Spec.Postgres.Database, Owner: cr.Spec.Postgres.Owner, Major: major(cr.Spec.Postgres.Version),
		Image: cr.Spec.Postgres.Image != "", AsIs: AsIs(cr),
		Quorum:     cr.Spec.Durability == v1alpha1.DurabilityQuorum,
		PodMonitor: cr.Spec.Monitoring == nil || cr.Spec.Monitoring.PodMonitor != v1alpha1.PodMonitorDisabled,
		Volumes:    map[string]hatch.Volume{"storage": {Class: v.StorageClass, Size: cr.Spec.Storage.Size.String()}},
	}
	if w := cr.Spec.Storage.WALSize; w != nil {
		out.Volumes["walStorage"] = hatch.Volume{Class: v.WALStorageClass, Size: w.String()}
	}
	return out
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

// undeclaredMajor refuses another major than the instances run, where neither an image
// nor a catalogue of the spec decides it.
func undeclaredMajor(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) []string {
	spec, _ := overrides(cr)["spec"].(map[string]any)
	if c := facts.Cluster; c != nil && c.Spec.ImageName == "" && AsIs(cr) && cr.Spec.Postgres.Image == "" && spec["imageCatalogRef"] == nil {
		if text := otherMajor(cr, c); text != "" {
			return []string{text}
		}
	}
	return nil
}
