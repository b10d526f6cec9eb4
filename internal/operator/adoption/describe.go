package adoption

import (
	"encoding/json"
	"fmt"
	"slices"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Classes of the volumes of a Cluster that names none, as far as they are known.
type Classes struct {
	// Data and WAL of its claims.
	Data, WAL string
	// Default of the Kubernetes cluster.
	Default string
}

// Description of a Cluster.
type Description struct {
	Cluster *v1alpha1.PgStorageCluster
	// Class and WALClass are the StorageClasses of its volumes.
	Class, WALClass string
	// Needs are the entries of spec.allowedOverrides that its fields need.
	Needs []string
	// Notes say what the description leaves to CloudNativePG, and what was assumed.
	Notes []string
	// Refused names what cannot be described.
	Refused []string
}

// describer collects a description from the spec of a Cluster.
type describer struct {
	live *cnpgv1.Cluster
	// rest of the spec, of which each step takes what it describes.
	rest map[string]any
	out  Description
	spec *v1alpha1.PgStorageClusterSpec
}

// Describe a Cluster as it is. The error is of content that JSON cannot express.
func Describe(live *unstructured.Unstructured, classes Classes) (Description, error) {
	typed := &cnpgv1.Cluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, typed); err != nil {
		return Description{}, fmt.Errorf("read CloudNativePG Cluster %s: %w", live.GetName(), err)
	}
	rest, err := custom(live, typed)
	if err != nil {
		return Description{}, err
	}
	cr := &v1alpha1.PgStorageCluster{}
	cr.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PgStorageCluster"))
	cr.Namespace, cr.Name = live.GetNamespace(), live.GetName()
	d := &describer{live: typed, rest: rest, out: Description{Cluster: cr}, spec: &cr.Spec}
	d.instances()
	d.image()
	d.volumes(classes)
	d.resources()
	d.names()
	d.parameters()
	d.durability()
	d.spec.Monitoring = &v1alpha1.Monitoring{PodMonitor: v1alpha1.PodMonitorDisabled}
	d.spec.Defaults = v1alpha1.DefaultsCloudNativePG
	return d.out, d.overrides()
}

func (d *describer) refuse(format string, args ...any) {
	d.out.Refused = append(d.out.Refused, fmt.Sprintf(format, args...))
}

func (d *describer) note(format string, args ...any) {
	d.out.Notes = append(d.out.Notes, fmt.Sprintf(format, args...))
}

// take removes a field from the rest.
func (d *describer) take(path ...string) {
	unstructured.RemoveNestedField(d.rest, path...)
	for n := len(path) - 1; n > 0; n-- {
		if m, found, err := unstructured.NestedMap(d.rest, path[:n]...); err == nil && found && len(m) == 0 {
			unstructured.RemoveNestedField(d.rest, path[:n]...)
		}
	}
}

func (d *describer) instances() {
	n := int32(d.live.Spec.Instances) //nolint:gosec // admission bounds it
	d.spec.Instances = &n
	d.take("instances")
}

// resources of the instances, as they are requested.
func (d *describer) resources() {
	r := d.live.Spec.Resources
	if len(r.Claims) > 0 {
		d.refuse("spec.resources.claims: a PgStorageCluster has no such field; remove it")
	}
	d.spec.Resources = v1alpha1.ClusterResources{Requests: r.Requests, Limits: r.Limits}
	if len(r.Requests) == 0 && len(r.Limits) == 0 {
		d.spec.Resources = v1alpha1.ClusterResources{}
	}
	d.take("resources")
}

// names of the first database and its owner. CloudNativePG's default is app.
func (d *describer) names() {
	database, owner := "", ""
	if b := d.live.Spec.Bootstrap; b != nil {
		switch {
		case b.InitDB != nil:
			database, owner = b.InitDB.Database, b.InitDB.Owner
		case b.Recovery != nil:
			database, owner = b.Recovery.Database, b.Recovery.Owner
		case b.PgBaseBackup != nil:
			database, owner = b.PgBaseBackup.Database, b.PgBaseBackup.Owner
		}
	}
	if database == "" {
		database = "app"
	}
	if owner == "" {
		owner = database
	}
	d.spec.Postgres.Database, d.spec.Postgres.Owner = database, owner
	d.take("bootstrap", "initdb", "database")
	d.take("bootstrap", "initdb", "owner")
}

// overrides puts the rest into spec.cnpg.spec, and lists the consent that it needs.
func (d *describer) overrides() error {
	d.out.Refused = append(d.out.Refused, d.closed()...)
	of := clusters.Setting(d.out.Cluster, profile.Volumes{StorageClass: d.out.Class, WALStorageClass: d.out.WALClass})
	d.out.Needs = hatch.Needs(d.rest, of)
	slices.Sort(d.out.Needs)
	if len(d.rest) == 0 {
		return nil
	}
	raw, err := json.Marshal(d.rest)
	if err != nil {
		return fmt.Errorf("write spec.cnpg.spec of %s: %w", d.live.Name, err)
	}
	d.spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: raw}}
	return nil
}

// closed refuses fields of the Cluster by their own names.
func (d *describer) closed() []string {
	var out []string
	if d.live.Spec.ReplicaCluster != nil {
		out = append(out, "spec.replica: the Cluster follows another one, whose durability the operator cannot verify; promote it and remove the field")
		d.take("replica")
	}
	if d.rest["bootstrap"] != nil && d.live.Spec.Bootstrap.InitDB != nil && len(d.live.Spec.Bootstrap.InitDB.Options) > 0 { //nolint:staticcheck // deprecated, and still in use
		out = append(out, "spec.bootstrap.initdb.options: the options of initdb could turn checksums off; replace it with the single fields of bootstrap.initdb, which CloudNativePG reads at creation only")
		d.take("bootstrap", "initdb", "options")
	}
	return out
}
