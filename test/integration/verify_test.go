package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/verify"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/long"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// soundReport is what the checks of a restored database write.
const soundReport = `{"wal":"0000000000000008","size":1048576,"checks":[{"name":"SystemIdentifier","result":"Passed","message":"x"},{"name":"Amcheck","result":"Passed","message":"x"}]}`

// simulatedRestores is a CloudNativePG, a plugin and a kubelet for one database whose backups
// are verified. It has no Postgres.
type simulatedRestores struct {
	c      client.Client
	cr     *v1alpha1.PgStorageCluster
	report string
}

func (s *simulatedRestores) key() client.ObjectKey {
	return client.ObjectKey{Namespace: s.cr.Namespace, Name: naming.Verification(s.cr.Name, string(s.cr.UID))}
}

// recoverable has the database run, with a backup of an hour ago.
func (s *simulatedRestores) recoverable(t *testing.T) {
	t.Helper()
	key := client.ObjectKeyFromObject(s.cr)
	simulatedHealthy(t, s.c, key)
	simulatedArchiving(t, s.c, key, metav1.ConditionTrue, "")
	simulatedStatus(t, s.c, key, func(c *cnpgv1.ClusterStatus) { c.SystemID = "4242" })
	store := lake(s.cr.Namespace)
	changedStatus(t, s.c, store, func() error {
		return unstructured.SetNestedMap(store.Object, map[string]any{s.cr.Name: map[string]any{
			"firstRecoverabilityPoint": time.Now().Add(time.Second).UTC().Format(time.RFC3339), "lastSuccessfulBackupTime": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339),
		}}, "status", "serverRecoveryWindow")
	})
}

// advance does what is next: it starts the restored database, or ends the pod of the Job.
func (s *simulatedRestores) advance(ctx context.Context) error {
	pg := &cnpgv1.Cluster{}
	if err := s.c.Get(ctx, s.key(), pg); err != nil {
		return client.IgnoreNotFound(err)
	}
	if pg.Status.ReadyInstances == 0 {
		pg.Status.Phase, pg.Status.ReadyInstances = cnpgv1.PhaseHealthy, 1
		return s.c.Status().Update(ctx, pg)
	}
	job := &batchv1.Job{}
	if err := s.c.Get(ctx, s.key(), job); err != nil || job.DeletionTimestamp != nil {
		return client.IgnoreNotFound(err)
	}
	return s.ended(ctx, job)
}

// ended is the pod of the Job, with the report as its termination message.
func (s *simulatedRestores) ended(ctx context.Context, job *batchv1.Job) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: job.Name + "-pod", Labels: map[string]string{batchv1.JobNameLabel: job.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "check", Image: "x"}}},
	}
	// There is neither a kubelet nor garbage collection: a pod of the last run may be there.
	if err := client.IgnoreNotFound(s.c.Delete(ctx, pod.DeepCopy(), client.GracePeriodSeconds(0))); err != nil {
		return err
	}
	if err := s.c.Create(ctx, pod); err != nil {
		return err
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "check", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: s.report}}}}
	return s.c.Status().Update(ctx, pod)
}

// until the condition RestoreVerified has a reason, and nothing is left of the verification.
func (s *simulatedRestores) until(t *testing.T, reason string) *v1alpha1.BackupVerificationStatus {
	t.Helper()
	eventually(t, "the verification to end as "+reason, func(ctx context.Context) error {
		if err := errors.Join(s.advance(ctx), s.c.Get(ctx, client.ObjectKeyFromObject(s.cr), s.cr)); err != nil {
			return err
		}
		now, v := meta.FindStatusCondition(s.cr.Status.Conditions, v1alpha1.ConditionRestoreVerified), s.cr.Status.BackupVerification
		if now == nil || now.Reason != reason || v == nil || v.Step != "" {
			return fmt.Errorf("%+v, %+v", now, v)
		}
		return nil
	})
	absent(t, s.c, s.key(), &cnpgv1.Cluster{})
	absent(t, s.c, s.key(), &batchv1.Job{})
	return s.cr.Status.BackupVerification
}

// verifying is a database whose backups are to be verified.
func verifying(t *testing.T, c client.Client, ns, profile string) *simulatedRestores {
	t.Helper()
	cr := backedUp(ns, profile)
	cr.Spec.Backup.Verify = &v1alpha1.BackupVerifySpec{Schedule: "0 4 1 1 *"}
	create(t, c, lake(ns), cr)
	return &simulatedRestores{c: c, cr: cr, report: soundReport}
}

func TestBackupsAreVerified(t *testing.T) {
	c := apiserver.Client(t, config)
	ns := namespace(t, c)
	w := &writes{within: "/namespaces/" + ns + "/"}
	manager.Start(t, w.into(config))
	storage(t, c, "verifies")
	s := verifying(t, c, ns, "verifies")
	hasCondition(t, c, s.cr, v1alpha1.ConditionRestoreVerified, metav1.ConditionUnknown, v1alpha1.ReasonVerificationPending)
	s.recoverable(t)
	pg := get(t, c, s.key(), &cnpgv1.Cluster{})
	if r := pg.Spec.Bootstrap.Recovery; pg.Spec.Instances != 1 || cnpg.HasPlugin(pg) || r == nil || r.Database != "app" || pg.Spec.ExternalClusters[0].PluginConfiguration.Parameters["serverName"] != "shop" || *pg.Spec.StorageConfiguration.StorageClass != "verifies" || !metav1.IsControlledBy(pg, s.cr) {
		t.Errorf("it is restored into %+v", pg.Spec)
	}
	v := s.until(t, v1alpha1.ReasonVerified)
	if v.Last.Size.Value() != 1<<20 || v.Last.RestoredWAL != "0000000000000008" || v.LastVerified == nil || v.NextTime == nil {
		t.Errorf("%+v", v)
	}
	hasCondition(t, c, s.cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)

	rest := settled(t, w)
	changed(t, c, s.cr, func() { s.cr.Annotations = map[string]string{"example.com/note": "wake up"} })
	if n := settled(t, w) - rest; n != 0 {
		t.Errorf("%d writes at rest", n)
	}
	s.report = `{"checks":[{"name":"WAL","result":"Failed","message":"a file is missing"}]}`
	changed(t, c, s.cr, func() {
		s.cr.Annotations = map[string]string{naming.AnnotationVerify: time.Now().UTC().Format(time.RFC3339)}
	})
	if v := s.until(t, v1alpha1.ReasonRestoreDamaged); v.LastVerified == nil {
		t.Errorf("it forgot what was verified: %+v", v)
	}
	// The database serves, whatever its backups are.
	hasCondition(t, c, s.cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)

	changed(t, c, s.cr, func() { s.cr.Spec.Backup.Verify = nil })
	eventually(t, "no trace of verifications", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s.cr), s.cr); err != nil {
			return err
		}
		if v := s.cr.Status.BackupVerification; v != nil || meta.FindStatusCondition(s.cr.Status.Conditions, v1alpha1.ConditionRestoreVerified) != nil {
			return fmt.Errorf("%+v", v)
		}
		return nil
	})
}

// A Cluster that has the name and another owner is neither used nor deleted.
func TestVerificationLeavesAnotherDatabaseAlone(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "verifies-foreign")
	s := verifying(t, c, ns, "verifies-foreign")
	other := &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: s.key().Name, Labels: naming.VerifyLabels("shop")},
		Spec:       cnpgv1.ClusterSpec{Instances: 1, StorageConfiguration: cnpgv1.StorageConfiguration{Size: "1Gi"}},
	}
	create(t, c, other)
	s.recoverable(t)
	hasCondition(t, c, s.cr, v1alpha1.ConditionRestoreVerified, metav1.ConditionFalse, v1alpha1.ReasonClusterNotOwned)
	eventually(t, "the verification to end", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s.cr), s.cr); err != nil {
			return err
		}
		if v := s.cr.Status.BackupVerification; v.Step != "" {
			return fmt.Errorf("%+v", v)
		}
		return nil
	})
	if left := get(t, c, s.key(), &cnpgv1.Cluster{}); left.DeletionTimestamp != nil || left.UID != other.UID || left.Spec.Bootstrap != nil {
		t.Errorf("it became %+v", left.ObjectMeta)
	}
}

// A pool that fills has no backup restored onto it.
func TestVerificationLeavesAFullPoolAlone(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	const profile, node = "verifies-full", "full"
	create(t, c, zfsProfile(profile, nil))
	simulatedZFSDriver(t, c, simulatedNode(t, c, node, map[string]string{"test": profile}), "tank")
	healthy := metav1.Condition{Type: v1alpha1.ConditionCapacityHealthy, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonHealthy}
	full := metav1.Condition{Type: v1alpha1.ConditionCapacityHealthy, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonPoolNearlyFull}
	simulatedAgent(t, c, profile, node, agentReady(), full)
	s := verifying(t, c, ns, profile)
	s.recoverable(t)
	v := s.until(t, v1alpha1.ReasonNotEnoughSpace)
	if v.RestoredTime != nil || !strings.Contains(v.Last.Message, "PgNodeStorage verifies-full.full is PoolNearlyFull") {
		t.Errorf("%+v", v.Last)
	}
	first := v.StartTime
	simulatedAgent(t, c, profile, node, agentReady(), healthy)
	// The manager may hear of the request before it hears of the pool, and times have whole seconds.
	eventually(t, "a restore", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s.cr), s.cr); err != nil {
			return err
		}
		if v := s.cr.Status.BackupVerification; v.Step == "" {
			before := s.cr.DeepCopy()
			s.cr.Annotations = map[string]string{naming.AnnotationVerify: verify.Time(s.cr, time.Now()).Format(time.RFC3339)}
			if err := c.Patch(ctx, s.cr, client.MergeFrom(before)); err != nil {
				return err
			}
		}
		return c.Get(ctx, s.key(), &cnpgv1.Cluster{})
	})
	simulatedAgent(t, c, profile, node, agentReady(), full)
	eventually(t, "the restore that runs to be deleted", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s.cr), s.cr); err != nil {
			return err
		}
		if v := s.cr.Status.BackupVerification; v.Step != "" || v.StartTime.Equal(first) || v.Last.Reason != v1alpha1.ReasonNotEnoughSpace {
			return fmt.Errorf("%+v", v)
		}
		return nil
	})
	absent(t, c, s.key(), &cnpgv1.Cluster{})
}

// A manager is killed after any write of a verification. The next one ends it.
func TestVerificationSurvivesACrashAfterAnyWrite(t *testing.T) {
	long.Skip(t, "make test-integration")
	c := apiserver.Client(t, config)
	storage(t, c, "verifies-crash")
	cuts := int64(0)
	for whole := false; !whole && !t.Failed(); cuts++ {
		t.Run(fmt.Sprintf("write %d", cuts+1), func(t *testing.T) {
			ns := namespace(t, c)
			// The first writes are of the database itself.
			stop := manager.Start(t, config)
			s := verifying(t, c, ns, "verifies-crash")
			changed(t, c, s.cr, func() { s.cr.Spec.Backup.Verify.Suspend = new(true) })
			s.recoverable(t)
			hasCondition(t, c, s.cr, v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable)
			stop()
			cut := &writes{failAfter: cuts + 1, within: "/namespaces/" + ns + "/"}
			stop = manager.Start(t, cut.into(config))
			changed(t, c, s.cr, func() { s.cr.Spec.Backup.Verify.Suspend = nil })
			eventually(t, "the cut or the end", func(ctx context.Context) error {
				if cut.count.Load() > cut.failAfter {
					return nil
				}
				if err := errors.Join(s.advance(ctx), c.Get(ctx, client.ObjectKeyFromObject(s.cr), s.cr)); err != nil {
					return err
				}
				if v := s.cr.Status.BackupVerification; v == nil || v.Last == nil || v.Step != "" {
					return fmt.Errorf("%+v", v)
				}
				return nil
			})
			whole = cut.count.Load() <= cut.failAfter && settled(t, cut) <= cut.failAfter
			stop()
			manager.Start(t, config)
			if v := s.until(t, v1alpha1.ReasonVerified); v.Last.Checks == nil {
				t.Errorf("%+v", v)
			}
		})
	}
	if cuts < 6 {
		t.Errorf("it took %d writes, too few to be all of them", cuts-1)
	}
	t.Logf("cut after each of %d writes", cuts-1)
}
