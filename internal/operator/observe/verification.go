package observe

import (
	"context"
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// mostTermination is how long a termination message can be, in bytes
// (https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure/).
const mostTermination = 4096

// Verification reads the facts about the verification of a database's backups, and its
// children. Objects of other owners that have the names of ours are not among them.
func (r Readers) Verification(ctx context.Context, cr *v1alpha1.PgStorageCluster, apis observed.ForeignAPIs) (observed.Verification, plan.Live, error) {
	facts, live := observed.Verification{ForeignAPIs: apis}, plan.Live{}
	if !facts.CNPGInstalled {
		return facts, live, nil
	}
	var err error
	if facts.Source, err = find(ctx, r.Cache, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{}); err != nil {
		return facts, nil, err
	}
	if facts.Source != nil && facts.Source.Labels[naming.LabelOwnerUID] != string(cr.UID) {
		facts.Source = nil
	}
	if facts.NoRoom, err = r.noRoom(ctx, cr.Spec.Profile); err != nil {
		return facts, nil, err
	}
	key := client.ObjectKey{Namespace: cr.Namespace, Name: naming.Verification(cr.Name, string(cr.UID))}
	if facts.Restored, err = own(ctx, r.Live, cr, key, &cnpgv1.Cluster{}, &facts.Foreign); err != nil {
		return facts, nil, err
	}
	if facts.Job, err = own(ctx, r.Live, cr, key, &batchv1.Job{}, &facts.Foreign); err != nil {
		return facts, nil, err
	}
	if facts.Restored != nil {
		live[keyOf(cnpgv1.SchemeGroupVersion.WithKind(cnpgv1.ClusterKind), facts.Restored)] = facts.Restored
	}
	if facts.Job != nil {
		live[keyOf(batchv1.SchemeGroupVersion.WithKind("Job"), facts.Job)] = facts.Job
	}
	return facts, live, r.restoring(ctx, key, &facts)
}

// noRoom names a PgNodeStorage of a profile whose storage is nearly full. Copies would take the
// space that databases need.
func (r Readers) noRoom(ctx context.Context, profile string) (string, error) {
	storages := &v1alpha1.PgNodeStorageList{}
	if err := r.Cache.List(ctx, storages, client.MatchingLabels{naming.LabelProfile: profile}); err != nil {
		return "", fmt.Errorf("list PgNodeStorages of profile %s: %w", profile, err)
	}
	return nearlyFull(profile, storages.Items), nil
}

// nearlyFull names one that has less free space than its headroom. A forecast (PoolFilling) does
// not count: each load of tables makes one for a day, on a pool that is nearly empty.
func nearlyFull(profile string, storages []v1alpha1.PgNodeStorage) string {
	for i := range storages {
		s := &storages[i]
		c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionCapacityHealthy)
		if nodevolumes.Genuine(profile, s) && c != nil && c.Status == metav1.ConditionFalse && c.Reason == v1alpha1.ReasonPoolNearlyFull {
			return fmt.Sprintf("PgNodeStorage %s is %s", s.Name, c.Reason)
		}
	}
	return ""
}

// restoring reads what shows how far the restore and its checks are.
func (r Readers) restoring(ctx context.Context, key client.ObjectKey, facts *observed.Verification) (err error) {
	claims := &corev1.PersistentVolumeClaimList{}
	if err := r.Live.List(ctx, claims, client.InNamespace(key.Namespace), client.MatchingLabels{"cnpg.io/cluster": key.Name}); err != nil {
		return fmt.Errorf("list the PersistentVolumeClaims of %s: %w", key.Name, err)
	}
	facts.Claims = len(claims.Items)
	recovery := client.ObjectKey{Namespace: key.Namespace, Name: key.Name + "-1-full-recovery"}
	if facts.Recovery, err = find(ctx, r.Live, recovery, &batchv1.Job{}); err != nil || facts.Job == nil {
		return err
	}
	pods := &corev1.PodList{}
	if err := r.Live.List(ctx, pods, client.InNamespace(key.Namespace), client.MatchingLabels{batchv1.JobNameLabel: key.Name}); err != nil {
		return fmt.Errorf("list the pods of Job %s: %w", key.Name, err)
	}
	for i := range pods.Items {
		if metav1.IsControlledBy(&pods.Items[i], facts.Job) {
			facts.Report, facts.Said = ended(pods.Items[i].Status)
		}
	}
	return nil
}

// ended is the termination message of the container that checks, and what any other container
// said that failed.
func ended(s corev1.PodStatus) (report, said string) {
	for _, c := range append(s.InitContainerStatuses, s.ContainerStatuses...) {
		switch t := c.State.Terminated; {
		case t == nil && c.State.Waiting != nil && c.State.Waiting.Message != "":
			said = excerpt.Truncate(c.Name+": "+c.State.Waiting.Reason+": "+c.State.Waiting.Message, mostSaid)
		case t == nil:
		case t.ExitCode == 0 && c.Name == "check":
			report = excerpt.Truncate(t.Message, mostTermination)
		case t.ExitCode != 0:
			said = excerpt.Truncate(fmt.Sprintf("%s: exit code %d: %s", c.Name, t.ExitCode, t.Message), mostSaid)
		}
	}
	return report, said
}

// mostSaid is how much of a text of a pod is kept, in bytes.
const mostSaid = 512

// own finds an object that a PgStorageCluster controls. One of another owner is noted as
// foreign.
func own[T client.Object](ctx context.Context, r client.Reader, cr *v1alpha1.PgStorageCluster, key client.ObjectKey, o T, foreign *string) (T, error) {
	var none T
	found, err := find(ctx, r, key, o)
	if err != nil || !metav1.IsControlledBy(o, cr) {
		if err == nil && o.GetUID() != "" {
			*foreign = fmt.Sprintf("%T %s", o, key.Name)
		}
		return none, err
	}
	return found, nil
}
