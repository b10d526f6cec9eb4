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

// servers that a profile runs in the operator's namespace: their DaemonSets, Pods and
// ConfigMaps. Secrets are not read: the kubelet reports which one is missing.
func (r Readers) servers(ctx context.Context, p *v1alpha1.PgStorageProfile, configs []string, facts *observed.Profile, live plan.Live) error {
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
	return r.serverConfigs(ctx, configs, facts.Operator.Namespace, live)
}

// serverConfigs are read by name: ConfigMaps are not cached.
func (r Readers) serverConfigs(ctx context.Context, names []string, namespace string, live plan.Live) error {
	for _, name := range names {
		key := client.ObjectKey{Namespace: namespace, Name: name}
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

// others are the other profiles of the same kind.
func (r Readers) others(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile) error {
	list := &v1alpha1.PgStorageProfileList{}
	if err := r.Cache.List(ctx, list); err != nil {
		return fmt.Errorf("list PgStorageProfiles: %w", err)
	}
	for i := range list.Items {
		q := &list.Items[i]
		if q.Spec.Type == p.Spec.Type && q.Name != p.Name {
			facts.Others = append(facts.Others, q)
		}
	}
	slices.SortFunc(facts.Others, func(a, b *v1alpha1.PgStorageProfile) int { return strings.Compare(a.Name, b.Name) })
	return nil
}
