package pgstoragecluster

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// removePromotionConsent removes the annotation by which a site was promoted without a
// token. Otherwise it would allow the next promotion, too.
func (r *Reconciler) removePromotionConsent(ctx context.Context, p *pass) error {
	if !clusters.PromotionConsentUsed(p.cr, p.facts) {
		return nil
	}
	before, after := p.cr.DeepCopy(), p.cr.DeepCopy()
	delete(after.Annotations, naming.AnnotationPromote)
	if err := r.Patch(ctx, after, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("remove %s from %s: %w", naming.AnnotationPromote, p.cr.Name, err)
	}
	return nil
}
