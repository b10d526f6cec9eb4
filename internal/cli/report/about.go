package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/report"
)

// about says what was measured.
func about(b *v1alpha1.PgBenchmark) report.About {
	out := report.About{Name: b.Namespace + "/" + b.Name}
	if t := b.Status.CompletionTime; t != nil {
		out.Time = t.UTC().Format(time.RFC3339)
	}
	add := func(name, value string) {
		if value != "" {
			out.Facts = append(out.Facts, report.Fact{Name: name, Value: value})
		}
	}
	add("phase", b.Status.Phase)
	add("cluster", b.Spec.Cluster)
	if t := b.Spec.Template; t != nil {
		add("clusters", "made for it")
		add("profile", t.Profile)
		if t.Instances != nil {
			add("instances", strconv.Itoa(int(*t.Instances)))
		}
		add("Postgres", t.Postgres.Version)
	}
	if run := b.Status.Run; run != nil {
		add("Postgres", run.ServerVersion)
		add("synchronous_commit", run.SynchronousCommit)
	}
	if b.Spec.Matrix == nil || len(b.Spec.Matrix.Scripts) == 0 {
		add("script", script(b.Spec.Pgbench))
	}
	work(b.Spec.Pgbench, add)
	m := b.Spec.Matrix
	if m == nil {
		add("repeats", strconv.Itoa(int(b.Spec.Pgbench.Repeats)))
	} else {
		add("repeats", strconv.Itoa(int(m.Repeats)))
		add("rest between runs", m.Rest)
		add("seed of the order", strconv.FormatInt(m.Seed, 10))
	}
	verdicts(b, add)
	return out
}

// script of pgbench; the built-in one where none is named.
func script(p v1alpha1.PgbenchSpec) string {
	var custom []string
	for _, s := range p.CustomScripts {
		custom = append(custom, fmt.Sprintf("%s of ConfigMap %s (weight %d)", s.Key, s.ConfigMap, s.Weight))
	}
	return cmp.Or(strings.Join(custom, ", "), string(p.Script), string(v1alpha1.ScriptTPCB))
}

// work of pgbench.
func work(p v1alpha1.PgbenchSpec, add func(name, value string)) {
	add("scale", strconv.Itoa(int(p.Scale)))
	add("duration", p.Duration)
	if p.Transactions != nil {
		add("transactions of each client", strconv.Itoa(int(*p.Transactions)))
	}
	add("warm-up", p.WarmUp)
	if p.ColdCache {
		add("caches", "emptied before each run")
	}
	if p.Rate != nil {
		add("rate", fmt.Sprintf("%d transactions a second", *p.Rate))
	}
	add("protocol", string(p.Protocol))
}

// verdicts of checks after the runs, and of the gate.
func verdicts(b *v1alpha1.PgBenchmark, add func(name, value string)) {
	for _, shown := range []struct{ name, condition string }{
		{"outcome", v1alpha1.ConditionComplete},
		{"integrity", v1alpha1.ConditionIntegrityVerified},
		{"believable", v1alpha1.ConditionBelievable},
		{"gate", v1alpha1.ConditionNotRegressed},
	} {
		if c := meta.FindStatusCondition(b.Status.Conditions, shown.condition); c != nil {
			add(shown.name, c.Reason+": "+c.Message)
		}
	}
}
