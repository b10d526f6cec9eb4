package integration

import (
	"context"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// simulatedHealthy writes what CloudNativePG reports of a healthy Cluster.
func simulatedHealthy(t *testing.T, c client.Client, key client.ObjectKey) {
	t.Helper()
	eventually(t, "the simulated status of "+key.String(), func(ctx context.Context) error {
		pg := &cnpgv1.Cluster{}
		if err := c.Get(ctx, key, pg); err != nil {
			return err
		}
		before := pg.DeepCopy()
		pg.Status.Phase = cnpgv1.PhaseHealthy
		pg.Status.Instances, pg.Status.ReadyInstances = pg.Spec.Instances, pg.Spec.Instances
		pg.Status.CurrentPrimary, pg.Status.TargetPrimary = key.Name+"-1", key.Name+"-1"
		pg.Status.Image = pg.Spec.ImageName
		pg.Status.Conditions = []metav1.Condition{{Type: string(cnpgv1.ConditionClusterReady), Status: metav1.ConditionTrue, Reason: "ClusterIsReady", Message: "simulated", LastTransitionTime: metav1.Now()}}
		return c.Status().Patch(ctx, pg, client.MergeFrom(before))
	})
}

// controlled is the reference to the database's Cluster that CloudNativePG gives to its
// claims.
func controlled(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster) []metav1.OwnerReference {
	t.Helper()
	pg := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	return []metav1.OwnerReference{*metav1.NewControllerRef(pg, cnpgv1.SchemeGroupVersion.WithKind("Cluster"))}
}

// simulatedStatus changes what CloudNativePG reports of a Cluster.
func simulatedStatus(t *testing.T, c client.Client, key client.ObjectKey, change func(*cnpgv1.ClusterStatus)) {
	t.Helper()
	eventually(t, "the simulated status of "+key.String(), func(ctx context.Context) error {
		pg := &cnpgv1.Cluster{}
		if err := c.Get(ctx, key, pg); err != nil {
			return err
		}
		before := pg.DeepCopy()
		change(&pg.Status)
		return c.Status().Patch(ctx, pg, client.MergeFrom(before))
	})
}

// simulatedPhase writes a phase that CloudNativePG reports.
func simulatedPhase(t *testing.T, c client.Client, key client.ObjectKey, phase, reason string) {
	t.Helper()
	eventually(t, "the simulated phase of "+key.String(), func(ctx context.Context) error {
		pg := &cnpgv1.Cluster{}
		if err := c.Get(ctx, key, pg); err != nil {
			return err
		}
		before := pg.DeepCopy()
		pg.Status.Phase, pg.Status.PhaseReason = phase, reason
		pg.Status.Conditions = []metav1.Condition{{Type: string(cnpgv1.ConditionClusterReady), Status: metav1.ConditionFalse, Reason: "ClusterIsNotReady", Message: "simulated", LastTransitionTime: metav1.Now()}}
		return c.Status().Patch(ctx, pg, client.MergeFrom(before))
	})
}

// simulatedApplied writes what CloudNativePG reports of DatabaseRoles and
// Databases that it has made.
func simulatedApplied(t *testing.T, c client.Client, namespace string) func(ctx context.Context) error {
	t.Helper()
	yes := true
	return func(ctx context.Context) error {
		roles := &cnpgv1.DatabaseRoleList{}
		if err := c.List(ctx, roles, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range roles.Items {
			r := &roles.Items[i]
			before := r.DeepCopy()
			r.Status.Applied, r.Status.ObservedGeneration = &yes, r.Generation
			if err := c.Status().Patch(ctx, r, client.MergeFrom(before)); err != nil {
				return err
			}
		}
		databases := &cnpgv1.DatabaseList{}
		if err := c.List(ctx, databases, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range databases.Items {
			d := &databases.Items[i]
			before := d.DeepCopy()
			d.Status.Applied, d.Status.ObservedGeneration = &yes, d.Generation
			if err := c.Status().Patch(ctx, d, client.MergeFrom(before)); err != nil {
				return err
			}
		}
		return nil
	}
}
