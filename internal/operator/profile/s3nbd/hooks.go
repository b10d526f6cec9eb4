package s3nbd

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Hooks of S3NBD: it runs servers, and two profiles must not share a prefix of a bucket.
func (Type) Hooks() profile.Hooks {
	return profile.Hooks{
		Alpha:    "docs/adr/0020-relay.md lists their limits",
		Nodes:    true,
		Servers:  serverConfigs,
		Peers:    true,
		Teardown: teardown,
		AbandonedGUIDs: func(p *v1alpha1.PgStorageProfile) []v1alpha1.PoolGUID {
			return storage(p).Abandoned
		},
		Plugin: profile.Plugin{
			Shown: []profile.Shown{
				{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "DaemonSet"}},
				{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}},
				{Kind: zfsvolumes.SnapshotClassKind},
			},
			Field: zfsvolumes.Field("s3NBD"),
		},
	}
}

// serverConfigs are the ConfigMaps of the servers, one for each store.
func serverConfigs(p *v1alpha1.PgStorageProfile) []string {
	if p.Spec.S3NBD == nil {
		return nil
	}
	var out []string
	for _, store := range p.Spec.S3NBD.Stores {
		out = append(out, naming.Server(p.Name, store.Name))
	}
	return out
}

// teardown waits while a volume needs the servers: a database that outlived its
// PgStorageCluster does. No watch covers PersistentVolumes of other drivers.
func teardown(_ *v1alpha1.PgStorageProfile, facts observed.Profile) profile.Teardown {
	if len(facts.ClassesInUse) == 0 {
		return profile.Teardown{}
	}
	return profile.Teardown{
		Reason:    v1alpha1.ReasonInUse,
		Waits:     "deletion waits for the volumes of these StorageClasses, whose pools this profile's servers carry: " + strings.Join(facts.ClassesInUse, ", ") + "; delete them, or what they belong to, once nothing of it is needed",
		Unwatched: true,
	}
}
