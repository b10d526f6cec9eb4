// Package observe reads the cluster into facts. It writes nothing.
package observe

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// The CRDs of other operators that we look at.
const (
	crdClusters    = "clusters.postgresql.cnpg.io"
	crdDatabases   = "databases.postgresql.cnpg.io"
	crdRoles       = "databaseroles.postgresql.cnpg.io"
	crdStores      = "objectstores.barmancloud.cnpg.io"
	crdPodMonitors = "podmonitors.monitoring.coreos.com"
	crdZFSVolumes  = "zfsvolumes.zfs.openebs.io"
	crdSnapshots   = "volumesnapshotclasses.snapshot.storage.k8s.io"
)

// required are the fields that we set in a CloudNativePG Cluster and that older
// versions do not have.
var required = []string{
	"spec.bootstrap.initdb.dataChecksums",
	"spec.postgresql.synchronous.dataDurability",
	"spec.postgresql.synchronous.failoverQuorum",
}

// fresh is how long a finding is believed. CRDs are not watched: only a few of
// them matter, and an unfiltered watch would hold every CRD of the cluster.
const fresh = 30 * time.Second

// ForeignAPIs finds out what other operators offer.
type ForeignAPIs struct {
	Reader client.Reader
	Clock  clock.PassiveClock
	// CRDs that kinds of storage use, by name.
	CRDs []string

	mu   sync.Mutex
	at   time.Time
	last observed.ForeignAPIs
}

// Get returns what is offered, at most half a minute old.
func (f *ForeignAPIs) Get(ctx context.Context) (observed.ForeignAPIs, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.at.IsZero() && f.Clock.Since(f.at) < fresh {
		return f.last, nil
	}
	found, err := f.look(ctx)
	if err != nil {
		return observed.ForeignAPIs{}, err
	}
	f.at, f.last = f.Clock.Now(), found
	return found, nil
}

func (f *ForeignAPIs) look(ctx context.Context) (observed.ForeignAPIs, error) {
	var out observed.ForeignAPIs
	clusters, err := f.crd(ctx, crdClusters)
	if err != nil {
		return out, err
	}
	out.CNPGInstalled = clusters != nil
	if clusters != nil {
		out.CNPGMissing = lacking(clusters, required...)
	}
	for _, name := range []string{crdDatabases, crdRoles} {
		crd, err := f.crd(ctx, name)
		if err != nil {
			return out, err
		}
		if crd == nil && out.CNPGInstalled {
			out.CNPGMissingForBenchmarks = append(out.CNPGMissingForBenchmarks, name)
		}
	}
	monitors, err := f.crd(ctx, crdPodMonitors)
	if err != nil {
		return out, err
	}
	out.PodMonitors = monitors != nil
	stores, err := f.crd(ctx, crdStores)
	if err != nil {
		return out, err
	}
	out.ObjectStores = stores != nil
	return out, f.storage(ctx, &out)
}

// storage looks at the CRDs that volumes are made with.
func (f *ForeignAPIs) storage(ctx context.Context, out *observed.ForeignAPIs) error {
	volumes, err := f.crd(ctx, crdZFSVolumes)
	if err != nil {
		return err
	}
	out.ZFSLocalPV = volumes != nil
	out.ZFSQuotaType = volumes != nil && len(lacking(volumes, "spec.quotaType")) == 0
	snapshots, err := f.crd(ctx, crdSnapshots)
	if err != nil {
		return err
	}
	out.VolumeSnapshots = snapshots != nil
	out.CRDs = map[string]bool{}
	for _, name := range f.CRDs {
		if _, read := out.CRDs[name]; read {
			continue
		}
		crd, err := f.crd(ctx, name)
		if err != nil {
			return err
		}
		out.CRDs[name] = crd != nil
	}
	return nil
}

// crd returns a CRD that is served, or nil.
func (f *ForeignAPIs) crd(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := f.Reader.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("read CRD %s: %w", name, err)
	}
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
			return crd, nil
		}
	}
	return nil, nil
}

// lacking lists the fields that version v1 of a kind does not have.
func lacking(crd *apiextensionsv1.CustomResourceDefinition, fields ...string) []string {
	var out []string
	for _, v := range crd.Spec.Versions {
		if v.Name != "v1" || v.Schema == nil {
			continue
		}
		for _, path := range fields {
			if !defined(v.Schema.OpenAPIV3Schema, strings.Split(path, ".")) {
				out = append(out, path)
			}
		}
		return out
	}
	return []string{"version v1"}
}

func defined(schema *apiextensionsv1.JSONSchemaProps, path []string) bool {
	if schema == nil || len(path) == 0 {
		return schema != nil
	}
	next, ok := schema.Properties[path[0]]
	return ok && defined(&next, path[1:])
}
