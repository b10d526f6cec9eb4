package pgstoragecluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// fence writes the fences that follow from the nodes' devices. Users write the same list,
// so the write fails unless the list is the one that was read.
func (r *Reconciler) fence(ctx context.Context, p *pass) error {
	f := clusters.Fence(p.facts)
	if !f.Changed() {
		return nil
	}
	cluster := p.facts.Cluster.DeepCopy()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": cluster.UID, "resourceVersion": cluster.ResourceVersion, "annotations": f.Annotations(),
	}})
	if err != nil {
		return fmt.Errorf("marshal fences of %s: %w", p.cr.Name, err)
	}
	if err := r.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("fence instances of Cluster %s: %w", p.cr.Name, err)
	}
	if len(f.Fenced) > 0 {
		r.Events.Eventf(p.cr, nil, corev1.EventTypeWarning, "InstanceFenced", "Fence", "fenced %s: the devices of its volumes were lost; see the condition VolumesAttached", strings.Join(f.Fenced, ", "))
	}
	if len(f.Lifted) > 0 {
		r.Events.Eventf(p.cr, nil, corev1.EventTypeNormal, "FenceLifted", "Fence", "lifted the fence of %s: the devices are attached and the pool is online, or the instance is gone", strings.Join(f.Lifted, ", "))
	}
	return nil
}
