package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Assumptions replace what the operator would read from a cluster.
type Assumptions struct {
	// Nodes match the nodeSelector of each profile, in addition to those of the documents.
	Nodes []string
	// Config and Operator are the settings of the manager.
	Config   clusters.Config
	Operator observed.Operator
}

// ObjectPlan is the plan of one object.
type ObjectPlan struct {
	Kind, Namespace, Name string
	Plan                  plan.Plan
}

// Output has the plans of all documents.
type Output struct {
	Plans []ObjectPlan
	// Assumed has a sentence for each assumption about the cluster.
	Assumed []string
	// Warnings name what has no effect in the documents.
	Warnings []string
}

// apis assumes that every other operator is installed.
var apis = observed.ForeignAPIs{
	CNPGInstalled: true, PodMonitors: true, ZFSLocalPV: true, ZFSQuotaType: true, VolumeSnapshots: true,
}

// builder collects the output and the rejections.
type builder struct {
	documents Documents
	assume    Assumptions
	out       Output
	rejected  []error
	// images and scratches have the images of clusters, and the StorageClasses of their
	// volumes, by namespace and name.
	images    map[string]string
	scratches map[string]*observed.Scratch
}

// Build returns the plans of all documents. The error has what the operator would reject.
func Build(d Documents, a Assumptions) (Output, error) {
	a.Config.ReadPools, a.Config.Sites = true, true // as profiles of every type are rendered, whatever their gates
	b := &builder{documents: d, assume: a, images: map[string]string{}, scratches: map[string]*observed.Scratch{}}
	b.assumed("CloudNativePG, prometheus-operator, zfs-localpv, volume snapshots and Rook are installed")
	for _, p := range d.Profiles {
		b.try("PgStorageProfile", p.Name, b.profile(p))
	}
	for _, cr := range d.Clusters {
		b.try("PgStorageCluster", cr.Namespace+"/"+cr.Name, b.cluster(cr))
	}
	for _, pb := range d.Benchmarks {
		b.try("PgBenchmark", pb.Namespace+"/"+pb.Name, b.benchmark(pb))
	}
	b.assumeUIDs()
	for _, what := range d.Ignored {
		b.assumed("%s of the files is not read", what)
	}
	return b.out, errors.Join(b.rejected...)
}

// try records a rejection.
func (b *builder) try(kind, name string, err error) {
	if err != nil {
		b.rejected = append(b.rejected, fmt.Errorf("%s %s: %w", kind, name, err))
	}
}

// assumed records an assumption, once.
func (b *builder) assumed(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(b.out.Assumed, text) {
		b.out.Assumed = append(b.out.Assumed, text)
	}
}

// assumeUIDs notes that names and hashes depend on the UIDs of the API server.
func (b *builder) assumeUIDs() {
	var uids []types.UID
	for _, p := range b.documents.Profiles {
		uids = append(uids, p.UID)
	}
	for _, cr := range b.documents.Clusters {
		uids = append(uids, cr.UID)
	}
	for _, pb := range b.documents.Benchmarks {
		uids = append(uids, pb.UID)
	}
	if slices.Contains(uids, noUID) {
		b.assumed("objects that do not exist yet have the UID %s. Hashes in annotations and the names of objects of a benchmark depend on the real one", noUID)
	}
}

func (b *builder) add(kind, namespace, name string, p plan.Plan) {
	b.out.Plans = append(b.out.Plans, ObjectPlan{Kind: kind, Namespace: namespace, Name: name, Plan: p})
}

// rejection returns the outcomes that only a change of the spec can resolve.
func rejection(outcomes []outcome.Outcome) error {
	var text []string
	for _, o := range outcomes {
		if o.Kind == outcome.Invalid && !o.Informative {
			text = append(text, o.Reason+": "+o.Message)
		}
	}
	if len(text) == 0 {
		return nil
	}
	return errors.New(strings.Join(text, "; "))
}

// YAML returns the plans as YAML, with assumptions, warnings and held stages as comments.
func (o Output) YAML() (string, error) {
	var b strings.Builder
	for _, text := range o.Assumed {
		fmt.Fprintf(&b, "# assumed: %s\n", text)
	}
	for _, text := range o.Warnings {
		fmt.Fprintf(&b, "# warning: %s\n", view.Clean(text))
	}
	for i := range o.Plans {
		p := &o.Plans[i]
		text, err := p.Plan.YAML()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "# plan of %s %s:\n", p.Kind, strings.TrimPrefix(p.Namespace+"/"+p.Name, "/"))
		if len(p.Plan.Objects) == 0 {
			b.WriteString("#   creates nothing\n")
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// List returns all objects as a List, as kubectl prints several objects in JSON.
func (o Output) List() map[string]any {
	items := []any{}
	for i := range o.Plans {
		for _, object := range o.Plans[i].Plan.Objects {
			items = append(items, object.Content.Object)
		}
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
}
