package memoryvolumes

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/decide/memoryvolumes"
)

// sweepInterval is how often volumes are looked for whose claim was deleted while no
// manager ran.
const sweepInterval = 5 * time.Minute

// sweep removes orphans until the context ends, from the time on when both informers have
// everything.
func (p *Provisioner) sweep(ctx context.Context, claims, volumes cache.SharedIndexInformer) {
	if !cache.WaitForCacheSync(ctx.Done(), claims.HasSynced, volumes.HasSynced) {
		return
	}
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := p.removeOrphans(ctx, claims.GetStore(), volumes.GetStore()); err != nil {
			logr.FromContextOrDiscard(ctx).Error(err, "remove volumes without a claim")
		}
	}, sweepInterval)
}

func (p *Provisioner) removeOrphans(ctx context.Context, claims, volumes cache.Store) error {
	list := &v1alpha1.PgNodeStorageList{}
	// Before the informers are read: a volume that is in this list had its claim before.
	if err := p.Client.List(ctx, list); err != nil {
		return err
	}
	made := names(volumes, func(o metav1.Object) string { return o.GetName() })
	claimed := names(claims, func(o metav1.Object) string { return "pvc-" + string(o.GetUID()) })
	for i := range list.Items {
		for _, volume := range memoryvolumes.Orphans(&list.Items[i], made, claimed) {
			if err := p.removeOrphan(ctx, list.Items[i].Name, volume); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeOrphan removes a volume unless the API server has its PersistentVolume: the informers
// may lag, and the agent would unmount it.
func (p *Provisioner) removeOrphan(ctx context.Context, storage, volume string) error {
	made, err := get(ctx, p.Readers.Live, client.ObjectKey{Name: volume}, &corev1.PersistentVolume{})
	if err != nil || made != nil {
		return err
	}
	return p.edit(ctx, storage, func(s *v1alpha1.PgNodeStorage) { memoryvolumes.Remove(s, volume) })
}

// names of the objects of a store.
func names(of cache.Store, name func(metav1.Object) string) map[string]bool {
	out := map[string]bool{}
	for _, obj := range of.List() {
		if o, ok := obj.(metav1.Object); ok {
			out[name(o)] = true
		}
	}
	return out
}
