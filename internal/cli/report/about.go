package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/report"
)

// about returns what the benchmark measured.
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
	target(b, add)
	if b.Spec.Matrix == nil || len(b.Spec.Matrix.Scripts) == 0 {
		add("script", script(b.Spec.Pgbench))
	}
	workload(b.Spec.Pgbench, add)
	if m := b.Spec.Matrix; m == nil {
		add("repeats", strconv.Itoa(int(b.Spec.Pgbench.Repeats)))
	} else {
		add("repeats", strconv.Itoa(int(m.Repeats)))
		add("rest between runs", m.Rest)
		add("order seed", strconv.FormatInt(m.Seed, 10))
	}
	conditions(b, add)
	return out
}

// target adds the facts about the database.
func target(b *v1alpha1.PgBenchmark, add func(name, value string)) {
	add("cluster", b.Spec.Cluster)
	if t := b.Spec.Template; t != nil {
		add("clusters", "temporary")
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
}

// script returns the script of pgbench, by default the built-in TPC-B.
func script(p v1alpha1.PgbenchSpec) string {
	var custom []string
	for _, s := range p.CustomScripts {
		custom = append(custom, fmt.Sprintf("%s of ConfigMap %s (weight %d)", s.Key, s.ConfigMap, s.Weight))
	}
	return cmp.Or(strings.Join(custom, ", "), string(p.Script), string(v1alpha1.ScriptTPCB))
}

// workload adds the facts about the workload.
func workload(p v1alpha1.PgbenchSpec, add func(name, value string)) {
	add("scale", strconv.Itoa(int(p.Scale)))
	add("duration", p.Duration)
	if p.Transactions != nil {
		add("transactions per client", strconv.Itoa(int(*p.Transactions)))
	}
	add("warm-up", p.WarmUp)
	if p.ColdCache {
		add("caches", "emptied before each run")
	}
	if p.Rate != nil {
		add("rate", fmt.Sprintf("%d transactions per second", *p.Rate))
	}
	add("protocol", string(p.Protocol))
}

// gate of a benchmark; nil without one.
func gate(b *v1alpha1.PgBenchmark) *report.Gate {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionNotRegressed)
	switch {
	case c == nil && b.Spec.Gate == nil:
		return nil
	case c == nil:
		return &report.Gate{Reason: "Pending", Message: "the gate decides when all runs have ended"}
	}
	g := &report.Gate{Reason: c.Reason, Message: c.Message}
	if c.Status != metav1.ConditionUnknown {
		passed := c.Status == metav1.ConditionTrue
		g.Passed = &passed
	}
	return g
}

// conditions adds the conditions that summarise the benchmark.
func conditions(b *v1alpha1.PgBenchmark, add func(name, value string)) {
	for _, shown := range []struct{ name, condition string }{
		{"outcome", v1alpha1.ConditionComplete},
		{"integrity", v1alpha1.ConditionIntegrityVerified},
		{"believable", v1alpha1.ConditionBelievable},
	} {
		if c := meta.FindStatusCondition(b.Status.Conditions, shown.condition); c != nil {
			add(shown.name, c.Reason+": "+c.Message)
		}
	}
}
