package observe

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
)

// Promise is memory in bytes that a node gives to others than pods: the limit of its ARC,
// and volumes in memory.
type Promise struct{ ARC, Volumes int64 }

// Promises of memory by node, by what every PgNodeStorage declares and reports.
func (r Readers) Promises(ctx context.Context) (map[string]Promise, error) {
	list := &v1alpha1.PgNodeStorageList{}
	if err := r.Cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list PgNodeStorages: %w", err)
	}
	out := map[string]Promise{}
	for i := range list.Items {
		s := &list.Items[i]
		if !nodevolumes.Genuine(s.Spec.Profile, s) {
			continue
		}
		p := out[s.Spec.NodeName]
		if s.Status.ARC != nil && s.Status.ARC.Max != nil {
			p.ARC = max(p.ARC, s.Status.ARC.Max.Value())
		}
		p.Volumes += nodevolumes.InMemory(s)
		out[s.Spec.NodeName] = p
	}
	return out, nil
}
