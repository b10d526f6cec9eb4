package observe

import (
	"context"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// masking reads the SQL of spec.masking until it has run, and the Job that runs it.
func (r Readers) masking(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch, live plan.Live) error {
	if b.Spec.Masking == nil || b.Status.Masked != "" {
		return nil
	}
	from := b.Spec.Masking.ConfigMap
	found, err := find(ctx, r.Live, client.ObjectKey{Namespace: b.Namespace, Name: from.Name}, &corev1.ConfigMap{})
	if err != nil || found == nil {
		return err
	}
	sql, has := found.Data[from.Key]
	if !has || strings.TrimSpace(sql) == "" {
		return nil
	}
	facts.SQL = &sql
	key := client.ObjectKey{Namespace: b.Namespace, Name: naming.BranchMasking(b.Name, string(b.UID), sql)}
	job, err := find(ctx, r.Live, key, &batchv1.Job{})
	if err != nil || job == nil {
		return err
	}
	if job.Labels[naming.LabelOwnerUID] != string(b.UID) {
		facts.ForeignJob = true
		return nil
	}
	facts.Job = job
	live[keyOf(jobGVK, job)] = job
	return nil
}
