package pgbench

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

func podOf(t *testing.T, b *v1alpha1.PgBenchmark) corev1.PodSpec {
	t.Helper()
	raw, err := json.Marshal(Job(JobInputs{Benchmark: b, Image: "server", RunnerImage: "runner", Scratch: &observed.Scratch{WAL: "fast"}}))
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	if err := json.Unmarshal(raw, &job); err != nil {
		t.Fatal(err)
	}
	return job.Spec.Template.Spec
}

func hostile(change func(*v1alpha1.PgBenchmarkSpec)) *v1alpha1.PgBenchmark {
	b := &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "nightly", UID: "1"}, Spec: v1alpha1.PgBenchmarkSpec{
		Cluster: "shop", Layers: &v1alpha1.BenchmarkLayers{FioImage: "theirs"},
		Pgbench: v1alpha1.PgbenchSpec{CustomScripts: []v1alpha1.CustomScript{{ConfigMap: "a", Key: "a.sql"}}},
	}}
	change(&b.Spec)
	return b
}

// The password of the superuser is in one container of the operator's own image. That
// container shares neither processes nor files with those that run users' scripts.
func TestSuperuserIsApartFromScripts(t *testing.T) {
	b := hostile(func(*v1alpha1.PgBenchmarkSpec) {})
	spec := podOf(t, b)
	if spec.ShareProcessNamespace != nil {
		t.Error("processes are shared")
	}
	secret := naming.BenchmarkChecker(b.Name, string(b.UID))
	var order []string
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		order = append(order, c.Name)
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if c.Name != "observer" {
			if text := string(raw); strings.Contains(text, secret) || strings.Contains(text, naming.BenchmarkCheckRole(string(b.UID))) {
				t.Errorf("container %s knows the superuser: %s", c.Name, text)
			}
			continue
		}
		if c.Image != "runner" || c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
			t.Errorf("%s", raw)
		}
		var mounts []string
		for _, m := range c.VolumeMounts {
			mounts = append(mounts, m.Name)
		}
		if diff := cmp.Diff([]string{"observe", "ca", "no-token"}, mounts); diff != "" {
			t.Error(diff)
		}
		for _, e := range c.Env {
			if e.Name == "PGDATABASE" && e.Value != "postgres" {
				t.Errorf("the superuser connects to %s", e.Value)
			}
		}
		if strings.Contains(string(raw), "--cold") {
			t.Error("caches may be emptied")
		}
	}
	if diff := cmp.Diff([]string{"runner", "fio", "observer", "pgbench"}, order); diff != "" {
		t.Error(diff)
	}
	for _, v := range spec.Volumes {
		if v.Secret != nil && v.Secret.SecretName == secret {
			t.Errorf("volume %s holds the superuser's Secret", v.Name)
		}
	}
	for _, m := range spec.Containers[0].VolumeMounts {
		if m.Name == "observe" && !m.ReadOnly {
			t.Error("the container of the scripts may replace the socket")
		}
	}
}

func TestNoSuperuserWithBasic(t *testing.T) {
	raw, err := json.Marshal(podOf(t, hostile(func(s *v1alpha1.PgBenchmarkSpec) { s.Pgbench.Integrity = v1alpha1.IntegrityBasic })))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(raw); strings.Contains(text, "observe") || strings.Contains(text, "pgstorage_check") {
		t.Error(text)
	}
}

func TestColdCacheIsAllowedByTheJob(t *testing.T) {
	spec := podOf(t, hostile(func(s *v1alpha1.PgBenchmarkSpec) { s.Pgbench.ColdCache = true }))
	command := spec.InitContainers[len(spec.InitContainers)-1].Command
	if command[len(command)-1] != "--cold" {
		t.Errorf("%v", command)
	}
}
