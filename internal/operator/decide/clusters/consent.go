package clusters

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
)

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
	return []string{fmt.Sprintf("spec.postgres.image: %s is not an image of %s, and what it runs gets the rights of the instances in the namespace; use one of that repository, or %s", image, config.ImageRepository, allowed.Ask(hatch.Image))}
}
