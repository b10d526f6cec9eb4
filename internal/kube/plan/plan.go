// Package plan holds what a pass wants the API server to hold: objects in
// stages, and gates that hold a stage back. A plan always lists every wanted
// object, gated or not, so that pruning never takes a child whose stage waits.
package plan

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Stage orders the objects of a plan.
type Stage int

// The stages, the first one first.
const (
	StageAccess Stage = iota
	StageServers
	StageNodes
	StageBacking
	StageCeph
	StageCephPool
	StagePool
	StageProbe
	StageStorage
	StageDatabase
	StageBackups
	StageReadPools
	StageSites
	StageMonitors
	// StageBenchmark has the Job or the runs of a PgBenchmark, and the Job of a verification.
	StageBenchmark
	// StageInlineBenchmark has the PgBenchmark of a PgStorageCluster.
	StageInlineBenchmark
)

func (s Stage) String() string {
	return [...]string{"access", "servers", "nodes", "backing", "ceph", "ceph-pool", "pool", "probe", "storage", "database", "backups", "read-pools", "sites", "monitors", "benchmark", "inline-benchmark"}[s]
}

// Alone says that no stage builds on this one. Neither its gate nor an object of it that
// the API server rejects holds another stage back.
func (s Stage) Alone() bool {
	switch s {
	case StageBackups, StageReadPools, StageSites, StageMonitors, StageInlineBenchmark:
		return true
	}
	return false
}

// Key identifies an object.
type Key struct {
	schema.GroupVersionKind
	Namespace, Name string
}

func (k Key) String() string {
	return fmt.Sprintf("%s %s", k.Kind, strings.TrimPrefix(k.Namespace+"/"+k.Name, "/"))
}

// Object is one wanted object: the fields we claim, and no others.
type Object struct {
	Stage   Stage
	Content *unstructured.Unstructured
}

// Key of the object.
func (o Object) Key() Key {
	return Key{GroupVersionKind: o.Content.GroupVersionKind(), Namespace: o.Content.GetNamespace(), Name: o.Content.GetName()}
}

// Intent is the hash of what the object claims, without the annotation that
// stores it.
func (o Object) Intent() string { return o.Content.GetAnnotations()[naming.AnnotationIntent] }

// FromApply makes an object of a generated apply configuration. The hash of the
// intent is written into its annotations.
func FromApply(stage Stage, configuration any) (Object, error) {
	raw, err := json.Marshal(configuration)
	if err != nil {
		return Object{}, fmt.Errorf("marshal %T: %w", configuration, err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		return Object{}, fmt.Errorf("unmarshal %T: %w", configuration, err)
	}
	return FromContent(stage, content), nil
}

// Convert what the API has into an apply configuration of the same fields.
func Convert(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("marshal %T: %w", from, err)
	}
	return json.Unmarshal(raw, to)
}

// FromContent makes an object of plain content.
func FromContent(stage Stage, content map[string]any) Object {
	u := &unstructured.Unstructured{Object: content}
	annotations := u.GetAnnotations()
	delete(annotations, naming.AnnotationIntent)
	if len(annotations) == 0 {
		annotations = map[string]string{}
		unstructured.RemoveNestedField(content, "metadata", "annotations")
	} else {
		u.SetAnnotations(annotations)
	}
	annotations[naming.AnnotationIntent] = naming.Hash(content)[:16]
	u.SetAnnotations(annotations)
	return Object{Stage: stage, Content: u}
}

// Seen is an object as it was read.
type Seen interface {
	metav1.Object
	runtime.Object
}

// Live maps what a plan may want to what was seen of it.
type Live map[Key]Seen

// Gate holds a stage back, for a reason that becomes a condition.
type Gate struct {
	Stage           Stage
	Reason, Message string
}

// Plan is all that a pass wants.
type Plan struct {
	Objects []Object
	Gates   []Gate
	applied map[Stage]bool
}

// Applied notes that a stage was applied whole by an earlier pass and cannot
// have changed since, so that it is not written again.
func (p *Plan) Applied(stage Stage) {
	if p.applied == nil {
		p.applied = map[Stage]bool{}
	}
	p.applied[stage] = true
}

// Add appends objects.
func (p *Plan) Add(objects ...Object) { p.Objects = append(p.Objects, objects...) }

// AddGate closes the gate of a stage.
func (p *Plan) AddGate(stage Stage, reason, message string) {
	p.Gates = append(p.Gates, Gate{Stage: stage, Reason: reason, Message: message})
}

// GateOf returns the gate that holds a stage back: its own, or that of an earlier one
// which is not alone.
func (p *Plan) GateOf(stage Stage) (Gate, bool) {
	for _, g := range p.Gates {
		if g.Stage == stage || (g.Stage < stage && !g.Stage.Alone()) {
			return g, true
		}
	}
	return Gate{}, false
}

// Open returns the objects whose stage is not held, in order of stage.
func (p *Plan) Open() []Object {
	var open []Object
	for _, o := range p.Objects {
		if _, held := p.GateOf(o.Stage); !held && !p.applied[o.Stage] {
			open = append(open, o)
		}
	}
	sort.SliceStable(open, func(i, j int) bool { return open[i].Stage < open[j].Stage })
	return open
}

// Has says whether the plan wants an object.
func (p *Plan) Has(key Key) bool {
	for _, o := range p.Objects {
		if o.Key() == key {
			return true
		}
	}
	return false
}

// YAML renders the plan for people and golden tests.
func (p *Plan) YAML() (string, error) {
	var b strings.Builder
	for _, g := range p.Gates {
		fmt.Fprintf(&b, "# held: stage %s: %s: %s\n", g.Stage, g.Reason, g.Message)
	}
	for _, o := range p.Objects {
		raw, err := yaml.Marshal(o.Content.Object)
		if err != nil {
			return "", fmt.Errorf("render %s: %w", o.Key(), err)
		}
		fmt.Fprintf(&b, "---\n# stage: %s\n%s", o.Stage, raw)
	}
	return b.String(), nil
}

// ControllerReference of a disposable child. It does not block the owner's
// deletion, which would need the right to update the owner's finalizers where
// OwnerReferencesPermissionEnforcement is on.
func ControllerReference(kind string, owner metav1.Object) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(v1alpha1.GroupVersion.String()).
		WithKind(kind).
		WithName(owner.GetName()).
		WithUID(owner.GetUID()).
		WithController(true)
}
