package pgstoragecluster

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// deleteBackups deletes the Backups that are older than those that their schedule keeps. Each
// owns its VolumeSnapshots. One that changed since it was read is deleted by a later pass.
func (r *Reconciler) deleteBackups(ctx context.Context, p *pass) {
	if clusters.Suspended(p.cr) || p.failure != nil {
		return
	}
	var names []string
	for _, b := range p.built.OldBackups {
		err := apply.Delete(ctx, r.Client, b)
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil {
			p.failure = err
			break
		}
		names = append(names, b.GetName())
	}
	if len(names) > 0 {
		r.Events.Eventf(p.cr, nil, corev1.EventTypeNormal, "BackupsDeleted", "Delete", "deleted %s with their VolumeSnapshots: their schedule keeps newer ones (spec.backup.schedules[].keep)", strings.Join(names, ", "))
	}
}
