package adoption

import (
	"fmt"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// Plan returns the CloudNativePG Cluster that the operator applies when a PgStorageCluster
// adopts the live one, and what it refuses. cr has the defaults of the API server.
func Plan(cr *v1alpha1.PgStorageCluster, p *v1alpha1.PgStorageProfile, live *unstructured.Unstructured, config clusters.Config) (*unstructured.Unstructured, []string, error) {
	typed := &cnpgv1.Cluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, typed); err != nil {
		return nil, nil, fmt.Errorf("read CloudNativePG Cluster %s: %w", live.GetName(), err)
	}
	p = p.DeepCopy()
	p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady, ObservedGeneration: p.Generation}}
	facts := observed.Cluster{
		ForeignAPIs: observed.ForeignAPIs{CNPGInstalled: true, PodMonitors: true},
		Profile:     p, Adoptee: typed, Namesake: &observed.Namesake{UID: string(typed.UID), AdoptBy: cr.Name},
	}
	built, err := clusters.Build(cr, facts, catalog.All(), config)
	if err != nil {
		return nil, nil, err
	}
	var refused []string
	for _, g := range built.Plan.Gates {
		if g.Stage <= plan.StageDatabase && !slices.Contains(refused, g.Message) {
			refused = append(refused, g.Message)
		}
	}
	for _, o := range built.Plan.Objects {
		if o.Stage == plan.StageDatabase && o.Content.GetKind() == "Cluster" {
			return o.Content, refused, nil
		}
	}
	return nil, append(refused, "the operator plans no Cluster"), nil
}

// Profile of type External that a Cluster is described on, with the consent that its
// fields need.
func Profile(d Description) *v1alpha1.PgStorageProfile {
	p := &v1alpha1.PgStorageProfile{}
	p.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PgStorageProfile"))
	p.Name = d.Class
	p.Spec.Type = v1alpha1.ProfileTypeExternal
	p.Spec.External = &v1alpha1.ExternalProfile{StorageClassName: d.Class}
	if d.WALClass != "" && d.WALClass != d.Class {
		p.Name += "-wal-" + d.WALClass
		p.Spec.External.WALStorageClassName = d.WALClass
	}
	p.Spec.AllowedOverrides = d.Needs
	return p
}

// Serves says whether an existing profile has the StorageClasses of a description.
func Serves(p *v1alpha1.PgStorageProfile, d Description) bool {
	e := p.Spec.External
	if p.Spec.Type != v1alpha1.ProfileTypeExternal || e == nil || e.StorageClassName != d.Class || !p.DeletionTimestamp.IsZero() {
		return false
	}
	wal := e.WALStorageClassName
	return d.WALClass == "" || wal == d.WALClass || wal == "" && d.WALClass == d.Class
}

// Lacks are the entries of spec.allowedOverrides that a description needs and a profile
// does not have.
func Lacks(p *v1alpha1.PgStorageProfile, needs []string) []string {
	var out []string
	for _, n := range needs {
		if !slices.ContainsFunc(p.Spec.AllowedOverrides, func(e string) bool { return n == e || strings.HasPrefix(n, e+".") }) {
			out = append(out, n)
		}
	}
	return out
}
