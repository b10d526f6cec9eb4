package pgstoragecluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// sitesInterval is how often the watcher of the other sites is asked. It asks them every 5
// seconds itself.
const sitesInterval = 10 * time.Second

// fenceSite stops every instance of a site while another one writes that was promoted after
// it, and lifts the fence once that cannot be. Users write the same list of fences, so the
// write fails unless the Cluster is the one that was read.
func (r *Reconciler) fenceSite(ctx context.Context, p *pass) error {
	fence, lift := clusters.SiteFence(p.cr, p.facts)
	if !fence && !lift {
		return nil
	}
	cluster := p.facts.Cluster.DeepCopy()
	annotations := clusters.SiteFenceAnnotations(cluster, fence)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": cluster.UID, "resourceVersion": cluster.ResourceVersion, "annotations": annotations,
	}})
	if err != nil {
		return fmt.Errorf("marshal fence of %s: %w", p.cr.Name, err)
	}
	if err := r.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("fence Cluster %s: %w", p.cr.Name, err)
	}
	if fence {
		r.Events.Eventf(p.cr, nil, corev1.EventTypeWarning, "SiteFenced", "Fence", "fenced every instance: another site writes; see the condition SitesAgree")
	} else {
		r.Events.Eventf(p.cr, nil, corev1.EventTypeNormal, "SiteFenceLifted", "Fence", "lifted the fence of all instances: this site follows another one, or all others follow")
	}
	return nil
}
