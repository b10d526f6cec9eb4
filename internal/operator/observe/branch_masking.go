package observe

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// masking reads the SQL of spec.masking until it has run, and the Jobs that run it.
func (r Readers) masking(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch, live plan.Live) error {
	if b.Spec.Masking == nil || b.Status.Masked != "" {
		return nil
	}
	if err := r.maskingJobs(ctx, b, facts, live); err != nil {
		return err
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
	facts.ForeignJob = err == nil && job != nil && !metav1.IsControlledBy(job, b)
	return err
}

// maskingJobs are those of the branch, whatever SQL they run.
func (r Readers) maskingJobs(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch, live plan.Live) error {
	jobs := &batchv1.JobList{}
	if err := r.Live.List(ctx, jobs, client.InNamespace(b.Namespace), client.MatchingLabels(naming.BranchLabels(b.Name, string(b.UID))), client.Limit(maxClaims)); err != nil {
		return fmt.Errorf("list the Jobs of branch %s: %w", b.Name, err)
	}
	for i := range jobs.Items {
		if j := &jobs.Items[i]; metav1.IsControlledBy(j, b) {
			facts.Jobs = append(facts.Jobs, *j)
			live[keyOf(jobGVK, j)] = j
		}
	}
	return nil
}
