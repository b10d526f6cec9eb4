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

// ConfigMap has the runner's instructions.
func ConfigMap(b *v1alpha1.PgBenchmark, target *v1alpha1.PgStorageCluster, scratch *observed.Scratch, space *spec.Space) (*corev1ac.ConfigMapApplyConfiguration, error) {
	raw, err := json.MarshalIndent(instructions(b, target, scratch, space), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("instructions of PgBenchmark %s: %w", b.Name, err)
	}
	return corev1ac.ConfigMap(naming.BenchmarkObject(b.Name, string(b.UID)), b.Namespace).
		WithLabels(naming.BenchmarkLabels(b.Name)).
		WithOwnerReferences(plan.ControllerReference(kind, b)).
		WithData(map[string]string{specFile: string(raw)}), nil
}

func instructions(b *v1alpha1.PgBenchmark, target *v1alpha1.PgStorageCluster, scratch *observed.Scratch, space *spec.Space) spec.Spec {
	out := spec.Spec{Cluster: b.Spec.Cluster, Pgbench: b.Spec.Pgbench, ScriptsDir: scriptsDir, Layers: layers(b, scratch), Space: space}
	if target != nil {
		out.Durability, out.Settings = target.Spec.Durability, settings(target)
		if limit, declared := target.Spec.Resources.Limits[corev1.ResourceCPU]; declared {
			out.CPULimit = &limit
		}
	}
	return out
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
