package pgbench

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// ConfigMapInputs are the inputs of ConfigMap.
type ConfigMapInputs struct {
	Benchmark *v1alpha1.PgBenchmark
	// Target that is measured; nil where it does not exist.
	Target *v1alpha1.PgStorageCluster
	// Scratch is where spec.layers can be measured.
	Scratch *observed.Scratch
	// Space of the target's volumes, and SourceSpace of those of the cluster that it follows;
	// nil where they are not known.
	Space, SourceSpace *spec.Space
}

// ConfigMap has the runner's instructions.
func ConfigMap(in ConfigMapInputs) (*corev1ac.ConfigMapApplyConfiguration, error) {
	b := in.Benchmark
	raw, err := json.MarshalIndent(instructions(in), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("instructions of PgBenchmark %s: %w", b.Name, err)
	}
	return corev1ac.ConfigMap(naming.BenchmarkObject(b.Name, string(b.UID)), b.Namespace).
		WithLabels(naming.BenchmarkLabels(b.Name)).
		WithOwnerReferences(plan.ControllerReference(kind, b)).
		WithData(map[string]string{specFile: string(raw)}), nil
}

func instructions(in ConfigMapInputs) spec.Spec {
	b, target := in.Benchmark, in.Target
	out := spec.Spec{Cluster: b.Spec.Cluster, Pgbench: b.Spec.Pgbench, ScriptsDir: scriptsDir, Layers: layers(b, in.Scratch), Space: in.Space}
	if target == nil {
		return out
	}
	out.Durability, out.Settings = Tier(target), settings(target)
	if limit, declared := target.Spec.Resources.Limits[corev1.ResourceCPU]; declared {
		out.CPULimit = &limit
	}
	if source := Source(target); source != "" {
		out.Source = &spec.Source{Cluster: source, Space: in.SourceSpace}
	}
	return out
}

// Tier of the figures of a cluster: the one that it declares. A cluster that follows another
// one acknowledges no commit, whatever it declares.
func Tier(target *v1alpha1.PgStorageCluster) v1alpha1.DurabilityTier {
	if Source(target) != "" {
		return v1alpha1.DurabilityReadOnly
	}
	return target.Spec.Durability
}

// Source names the cluster that a target follows, which has the tables of its benchmarks, or
// is "".
func Source(target *v1alpha1.PgStorageCluster) string {
	if target == nil || target.Spec.Follow == nil {
		return ""
	}
	return target.Spec.Follow.Cluster
}

// settings of a cluster that its server does not report: those of its storage, where
// they were read back, and the image of its instances.
func settings(target *v1alpha1.PgStorageCluster) fingerprint.Settings {
	s := fingerprint.Settings{}
	s.Set(fingerprint.Storage, "profile", target.Spec.Profile)
	s.Set(fingerprint.Storage, "size", target.Spec.Storage.Size.String())
	if wal := target.Spec.Storage.WALSize; wal != nil {
		s.Set(fingerprint.Storage, "WAL size", wal.String())
	}
	db := target.Status.Database
	if db == nil {
		return s
	}
	if db.Image != "" {
		s.Set(fingerprint.Images, "postgres", db.Image)
	}
	for _, v := range target.Status.Volumes {
		if v.Instance != db.Primary {
			continue
		}
		if v.Recordsize > 0 {
			s.Set(fingerprint.Storage, strings.ToLower(v.Role)+" recordsize", strconv.FormatInt(v.Recordsize, 10))
		}
		if v.Node != "" {
			s.Set(fingerprint.Node, "name", v.Node)
		}
	}
	return s
}

// Record is where the runner keeps the runs: made empty, since the runner can make
// none. It is not removed with the rest and goes with the PgBenchmark.
func Record(b *v1alpha1.PgBenchmark) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(naming.BenchmarkRecord(b.Name, string(b.UID)), b.Namespace).
		WithLabels(naming.BenchmarkLabels(b.Name)).
		WithOwnerReferences(plan.ControllerReference(kind, b))
}
