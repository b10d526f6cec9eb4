package observe

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// space that the volumes of the branch take beyond what they share with the source, as the
// agents read it back.
func (r Readers) space(ctx context.Context, facts *observed.Branch) error {
	if facts.Cluster == nil {
		return nil
	}
	volumes, err := r.observedVolumes(ctx, facts.Cluster)
	if err != nil || len(volumes) == 0 {
		return err
	}
	total := resource.NewQuantity(0, resource.BinarySI)
	for _, v := range volumes {
		total.Add(*v.Used)
		if v.UsedBySnapshots != nil {
			total.Sub(*v.UsedBySnapshots)
		}
	}
	facts.Space = total
	return nil
}

// tight notes the datasets of the source that a branch can fill.
func (r Readers) tight(ctx context.Context, facts *observed.Branch) error {
	if facts.ZFSQuotaType {
		return nil
	}
	volumes, err := r.observedVolumes(ctx, facts.Source)
	if err != nil {
		return err
	}
	for _, c := range facts.Source.Status.Volumes {
		v, read := volumes[c.Dataset]
		size := facts.Source.Spec.Storage.Size
		if wal := facts.Source.Spec.Storage.WALSize; c.Role == "WAL" && wal != nil {
			size = *wal
		}
		if read && 2*v.Used.Value() > size.Value() {
			facts.Tight = append(facts.Tight, c.Dataset)
		}
	}
	return nil
}

// observedVolumes of a database as the agents of its nodes report them, by dataset.
func (r Readers) observedVolumes(ctx context.Context, cr *v1alpha1.PgStorageCluster) (map[string]v1alpha1.ObservedVolume, error) {
	out := map[string]v1alpha1.ObservedVolume{}
	if len(cr.Status.Volumes) == 0 {
		return out, nil
	}
	storages := &v1alpha1.PgNodeStorageList{}
	if err := r.Cache.List(ctx, storages, client.MatchingLabels{naming.LabelProfile: cr.Spec.Profile}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list PgNodeStorages of profile %s: %w", cr.Spec.Profile, err)
	}
	for i := range storages.Items {
		s := &storages.Items[i]
		if !nodevolumes.Genuine(cr.Spec.Profile, s) {
			continue
		}
		for _, v := range s.Status.Volumes {
			if v.Used != nil && slices.ContainsFunc(cr.Status.Volumes, func(c v1alpha1.VolumeStatus) bool {
				return c.Node == s.Spec.NodeName && c.Dataset == v.Name
			}) {
				out[v.Name] = v
			}
		}
	}
	return out, nil
}
