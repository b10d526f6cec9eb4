package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// servers of an S3NBD profile: what was made of them, their pods, and the other
// profiles that keep data in buckets. Secrets are not read: the kubelet says which
// one is missing.
func (r Readers) servers(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, live plan.Live) error {
	ours := []client.ListOption{client.InNamespace(facts.Operator.Namespace), client.MatchingLabels{naming.LabelProfile: p.Name}}
	sets := &appsv1.DaemonSetList{}
	if err := r.Cache.List(ctx, sets, ours...); err != nil {
		return fmt.Errorf("list DaemonSets of profile %s: %w", p.Name, err)
	}
	for i := range sets.Items {
		live[keyOf(appsv1.SchemeGroupVersion.WithKind("DaemonSet"), &sets.Items[i])] = &sets.Items[i]
	}
	pods := &corev1.PodList{}
	if err := r.Cache.List(ctx, pods, ours...); err != nil {
		return fmt.Errorf("list Pods of profile %s: %w", p.Name, err)
	}
	for i := range pods.Items {
		facts.Servers = append(facts.Servers, &pods.Items[i])
	}
	slices.SortFunc(facts.Servers, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	if err := r.serverConfigs(ctx, p, facts, live); err != nil {
		return err
	}
	return r.others(ctx, p, facts)
}

// serverConfigs are asked for by name: ConfigMaps are not cached.
func (r Readers) serverConfigs(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, live plan.Live) error {
	for _, store := range p.Spec.S3NBD.Stores {
		key := client.ObjectKey{Namespace: facts.Operator.Namespace, Name: naming.Server(p.Name, store.Name)}
		found, err := find(ctx, r.Live, key, &corev1.ConfigMap{})
		if err != nil {
			return err
		}
		if found != nil {
			live[keyOf(corev1.SchemeGroupVersion.WithKind("ConfigMap"), found)] = found
		}
	}
	return nil
}

func (r Readers) others(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile) error {
	list := &v1alpha1.PgStorageProfileList{}
	if err := r.Cache.List(ctx, list); err != nil {
		return fmt.Errorf("list PgStorageProfiles: %w", err)
	}
	for i := range list.Items {
		q := &list.Items[i]
		if q.Spec.Type == v1alpha1.ProfileTypeS3NBD && q.Name != p.Name {
			facts.Others = append(facts.Others, q)
		}
	}
	slices.SortFunc(facts.Others, func(a, b *v1alpha1.PgStorageProfile) int { return strings.Compare(a.Name, b.Name) })
	return nil
}
