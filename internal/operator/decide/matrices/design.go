package matrices

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/pgbench"
)

// Axes that are not Postgres parameters. No parameter has one of these names: the
// CRD refuses it.
const (
	axisProfile    = "profile"
	axisDurability = "durability"
	axisScript     = "script"
	axisClients    = "clients"
)

// The estimate assumes that a cluster is created and deleted in targetTime. A run's
// database and Job take startTime, and fillTime for each unit of scale.
const (
	targetTime = 5 * time.Minute
	startTime  = time.Minute
	fillTime   = time.Second
)

// settings of a variant. What is zero is as the template or spec.pgbench has it.
type settings struct {
	profile    string
	durability v1alpha1.DurabilityTier
	parameters map[string]string
	script     v1alpha1.Script
	clients    int32
}

// design is the plan of a matrix with what each of its variants and targets sets.
type design struct {
	*matrix.Plan
	b        *v1alpha1.PgBenchmark
	settings map[string]settings
	// targets by variant, and the names of the clusters that are made for targets.
	targets map[string]string
	made    map[string]string
}

// newDesign of a benchmark with a matrix; a budget of zero is none.
func newDesign(b *v1alpha1.PgBenchmark, budget time.Duration) (*design, error) {
	m := b.Spec.Matrix
	p, err := matrix.New(matrix.Spec{
		Axes:        axes(b),
		Variants:    named(b),
		Repeats:     int(m.Repeats),
		Seed:        uint64(m.Seed), //nolint:gosec // G115: the CRD bounds it from 1
		MaxFailures: int(m.MaxFailures),
		Timing:      timing(b),
		Budget:      budget,
	})
	if err != nil {
		return nil, fmt.Errorf("spec.matrix: %w", err)
	}
	d := &design{Plan: p, b: b, settings: map[string]settings{}, targets: map[string]string{}, made: map[string]string{}}
	for _, v := range p.Variants {
		if d.settings[v.Name], err = read(v.Values); err != nil {
			return nil, fmt.Errorf("spec.matrix: variant %q: %w", v.Name, err)
		}
	}
	for _, r := range p.Runs {
		d.targets[r.Variant] = r.Target
		if b.Spec.Template != nil {
			d.made[r.Target] = naming.MatrixCluster(b.Name, string(b.UID), r.Target)
		}
	}
	return d, nil
}

// run is the name of the PgBenchmark of a run.
func (d *design) run(id matrix.ID) string {
	return naming.MatrixRun(d.b.Name, string(d.b.UID), id.Variant, id.Repeat)
}

// cluster that a target is measured on.
func (d *design) cluster(target string) string {
	if d.b.Spec.Template == nil {
		return d.b.Spec.Cluster
	}
	return d.made[target]
}

// axes of the product; of named variants they only say what needs a cluster.
func axes(b *v1alpha1.PgBenchmark) []matrix.Axis {
	m := b.Spec.Matrix
	var all []matrix.Axis
	add := func(name string, values []string, target bool) {
		if len(values) > 0 || len(m.Variants) > 0 {
			all = append(all, matrix.Axis{Name: name, Values: values, Target: target})
		}
	}
	add(axisProfile, m.Profiles, true)
	add(axisDurability, words(m.Durability), true)
	for _, p := range m.Parameters {
		add(p.Name, p.Values, true)
	}
	for _, name := range namedParameters(m.Variants) {
		add(name, nil, true)
	}
	add(axisScript, words(m.Scripts), false)
	add(axisClients, counts(b), false)
	return all
}

func namedParameters(variants []v1alpha1.MatrixVariant) []string {
	var names []string
	for _, v := range variants {
		for _, p := range v.Parameters {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// named variants, each by each count of clients. One count is not worth a name.
func named(b *v1alpha1.PgBenchmark) []matrix.Variant {
	var all []matrix.Variant
	for _, v := range b.Spec.Matrix.Variants {
		for _, count := range counts(b) {
			name := v.Name
			if len(b.Spec.Pgbench.Clients) > 1 {
				name += " " + axisClients + "=" + count
			}
			all = append(all, matrix.Variant{Name: name, Values: valuesOf(v, count)})
		}
	}
	return all
}

func valuesOf(v v1alpha1.MatrixVariant, clients string) map[string]string {
	all := map[string]string{axisClients: clients}
	for axis, value := range map[string]string{axisProfile: v.Profile, axisDurability: string(v.Durability), axisScript: string(v.Script)} {
		if value != "" {
			all[axis] = value
		}
	}
	for _, p := range v.Parameters {
		all[p.Name] = p.Value
	}
	return all
}

// read the values of a variant.
func read(values map[string]string) (settings, error) {
	s := settings{parameters: map[string]string{}}
	for axis, value := range values {
		switch axis {
		case axisProfile:
			s.profile = value
		case axisDurability:
			s.durability = v1alpha1.DurabilityTier(value)
		case axisScript:
			s.script = v1alpha1.Script(value)
		case axisClients:
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				return settings{}, fmt.Errorf("clients: %w", err)
			}
			s.clients = int32(n)
		default:
			s.parameters[axis] = value
		}
	}
	return s, nil
}

// timing of a run. One that is counted in transactions is taken for a minute.
func timing(b *v1alpha1.PgBenchmark) matrix.Timing {
	t := matrix.Timing{
		Prepare:  startTime + time.Duration(b.Spec.Pgbench.Scale)*fillTime + spec.LayersTime(b.Spec.Layers),
		WarmUp:   pgbench.WarmUp(b.Spec.Pgbench),
		Duration: pgbench.Duration(b.Spec.Pgbench),
		Rest:     period(b.Spec.Matrix.Rest),
	}
	if b.Spec.Template != nil {
		t.Target = targetTime
	}
	return t
}

// period of a field that the CRD has checked; of an empty one, zero.
func period(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

func counts(b *v1alpha1.PgBenchmark) []string {
	var all []string
	for _, n := range b.Spec.Pgbench.Clients {
		all = append(all, strconv.Itoa(int(n)))
	}
	return all
}

func words[T ~string](values []T) []string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}
