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

// Assumptions are what a cluster would tell.
type Assumptions struct {
	// Nodes that have the labels of each profile's nodeSelector, beside those of the
	// documents.
	Nodes []string
	// Config and Operator as the manager was started with.
	Config   clusters.Config
	Operator observed.Operator
}

// Planned is what follows from one object.
type Planned struct {
	Kind, Namespace, Name string
	Plan                  plan.Plan
}

// Result of all documents.
type Result struct {
	Planned []Planned
	// Assumed says, in sentences, what was.
	Assumed []string
	// Notes name what is in the documents and has no effect.
	Notes []string
}

// apis of all that the operator can stand on.
var apis = observed.ForeignAPIs{
	CNPGInstalled: true, PodMonitors: true, ZFSLocalPV: true, ZFSQuotaType: true, VolumeSnapshots: true,
}

// builder collects the result and what is refused.
type builder struct {
	documents Documents
	assume    Assumptions
	result    Result
	refused   []error
	// images that clusters run, and the StorageClasses of their volumes, by namespace
	// and name.
	images    map[string]string
	scratches map[string]*observed.Scratch
}

// Build the plans of all documents. What the operator would refuse is the error.
func Build(d Documents, a Assumptions) (Result, error) {
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
	b.tellUIDs()
	for _, what := range d.Ignored {
		b.assumed("%s is not looked at", what)
	}
	return b.result, errors.Join(b.refused...)
}

func (b *builder) try(kind, name string, err error) {
	if err != nil {
		b.refused = append(b.refused, fmt.Errorf("%s %s: %w", kind, name, err))
	}
}

func (b *builder) assumed(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(b.result.Assumed, text) {
		b.result.Assumed = append(b.result.Assumed, text)
	}
}

// tellUIDs says that names and hashes differ where they follow from a UID.
func (b *builder) tellUIDs() {
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
		b.assumed("what the API server does not know yet has the UID %s; hashes in annotations, and the names of a benchmark's objects, follow from the real one", noUID)
	}
}

func (b *builder) add(kind, namespace, name string, p plan.Plan) {
	b.result.Planned = append(b.result.Planned, Planned{Kind: kind, Namespace: namespace, Name: name, Plan: p})
}

// refusal joins the outcomes that need a person: no fact could heal them.
func refusal(outcomes []outcome.Outcome) error {
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

// YAML of the result, with what is assumed and what is held back as comments.
func (r Result) YAML() (string, error) {
	var b strings.Builder
	for _, text := range r.Assumed {
		fmt.Fprintf(&b, "# assumed: %s\n", text)
	}
	for _, text := range r.Notes {
		fmt.Fprintf(&b, "# note: %s\n", view.Clean(text))
	}
	for i := range r.Planned {
		p := &r.Planned[i]
		text, err := p.Plan.YAML()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "# of %s %s:\n", p.Kind, strings.TrimPrefix(p.Namespace+"/"+p.Name, "/"))
		if len(p.Plan.Objects) == 0 {
			b.WriteString("#   nothing is made\n")
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// List of all objects, as kubectl prints several in JSON.
func (r Result) List() map[string]any {
	items := []any{}
	for i := range r.Planned {
		for _, o := range r.Planned[i].Plan.Objects {
			items = append(items, o.Content.Object)
		}
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
}
