package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// claimOfClass is a claim of the primary, as CloudNativePG makes it, bound to a
// volume that is bound to a node.
func claimOfClass(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster, role, class string) {
	t.Helper()
	instance := cr.Name + "-1"
	name := instance + "-" + strings.ToLower(strings.ReplaceAll(role, "_", "-"))
	create(t, c, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: name, OwnerReferences: controlled(t, c, cr), Labels: map[string]string{
			"cnpg.io/cluster": cr.Name, "cnpg.io/instanceName": instance, "cnpg.io/pvcRole": role,
		}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, VolumeName: "pv-" + name, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	})
	create(t, c, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: class, PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"n1"}},
			}}}}},
		},
	})
}

func layered(cr *v1alpha1.PgStorageCluster, name string) *v1alpha1.PgBenchmark {
	b := benchmark(cr, name)
	b.Spec.Layers = &v1alpha1.BenchmarkLayers{FioImage: "registry.example/fio:3.39"}
	return b
}

// layersSpec is what the manager passes to the runner of the layers.
func layersSpec(t *testing.T, c client.Client, b *v1alpha1.PgBenchmark) *spec.Layers {
	t.Helper()
	cm := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkObject(b.Name, string(b.UID))}, cm); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{}
	if err := json.Unmarshal([]byte(cm.Data["spec.json"]), &s); err != nil {
		t.Fatal(err)
	}
	return s.Layers
}

func TestLayersAreMeasuredOnVolumesLikeThePrimarys(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "layered")
	waits := storagev1.VolumeBindingWaitForFirstConsumer
	wal := storageClass("layered-wal")
	wal.VolumeBindingMode = &waits
	data := storageClass("layered-data")
	data.VolumeBindingMode = &waits
	create(t, c, wal)
	create(t, c, data)
	claimOfClass(t, c, cr, "PG_DATA", data.Name)
	claimOfClass(t, c, cr, "PG_WAL", wal.Name)
	b := layered(cr, "layers")
	create(t, c, b)

	pod := startedJob(t, c, b).Spec.Template.Spec
	classes := map[string]string{}
	for _, v := range pod.Volumes {
		if v.Ephemeral == nil {
			continue
		}
		claim := v.Ephemeral.VolumeClaimTemplate.Spec
		size := claim.Resources.Requests[corev1.ResourceStorage]
		if size.String() != "1Gi" {
			t.Errorf("%s has %s", v.Name, size.String())
		}
		classes[v.Name] = *claim.StorageClassName
	}
	if len(classes) != 2 || classes["scratch"] != wal.Name || classes["scratch-data"] != data.Name {
		t.Errorf("scratch volumes %v", classes)
	}
	if pod.Affinity == nil || pod.Affinity.PodAffinity == nil || pod.NodeName != "" {
		t.Errorf("the pod is not placed beside the primary: %+v", pod.Affinity)
	}
	if len(pod.InitContainers) != 3 || pod.InitContainers[1].Image != b.Spec.Layers.FioImage {
		t.Errorf("init containers %+v", pod.InitContainers)
	}
	if l := layersSpec(t, c, b); len(l.Scratch) != 2 || l.NoScratch != "" || l.FioResult == "" || l.Duration != "5s" || l.Repeats != 3 {
		t.Errorf("the runner is told %+v", l)
	}

	report := succeeded()
	report["layers"] = []any{map[string]any{"name": "WALFlush", "milliseconds": "3.200"}, map[string]any{"name": "Volume", "note": "fio left no result"}}
	simulatedReport(t, c, b, report)
	hasPhase(t, c, b, "Succeeded")
	eventually(t, "the layers to be judged", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		got := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionLayersMeasured)
		if got == nil || got.Status != metav1.ConditionFalse || got.Reason != v1alpha1.ReasonLayersNotMeasured || got.Message != "not measured: Volume: fio left no result" {
			return fmt.Errorf("conditions %+v", b.Status.Conditions)
		}
		// It keeps the benchmark from nothing.
		if !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionReady) {
			return fmt.Errorf("not Ready: %+v", b.Status.Conditions)
		}
		return nil
	})
}

// Without a volume, the benchmark continues without layers.
func TestLayersWithoutADisposableVolumeAreNotMeasured(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	retain := corev1.PersistentVolumeReclaimRetain
	for name, tc := range map[string]struct {
		change func(*storagev1.StorageClass)
		want   string
	}{
		"kept-volumes":  {func(s *storagev1.StorageClass) { s.ReclaimPolicy = &retain }, "has reclaimPolicy Retain"},
		"bound-early":   {func(*storagev1.StorageClass) {}, "has volumeBindingMode Immediate, and its volumes are bound to nodes"},
		"made-by-hand":  {func(s *storagev1.StorageClass) { s.Provisioner = "kubernetes.io/no-provisioner" }, "makes no volumes"},
		"without-claim": {nil, "no claim with the data of the primary was found"},
	} {
		t.Run(name, func(t *testing.T) {
			cr := readyCluster(t, c, name)
			if tc.change != nil {
				class := storageClass(name + "-class")
				tc.change(class)
				create(t, c, class)
				claimOfClass(t, c, cr, "PG_DATA", class.Name)
			}
			b := layered(cr, "layers")
			create(t, c, b)
			pod := startedJob(t, c, b).Spec.Template.Spec
			for _, v := range pod.Volumes {
				if v.Ephemeral != nil {
					t.Errorf("volume %s is of a class that %s", v.Name, tc.want)
				}
			}
			if pod.Affinity != nil || len(pod.InitContainers) != 2 || pod.InitContainers[1].Name != "observer" {
				t.Errorf("%+v %+v", pod.Affinity, pod.InitContainers)
			}
			if l := layersSpec(t, c, b); !strings.Contains(l.NoScratch, tc.want) || len(l.Scratch) != 0 || l.FioResult != "" {
				t.Errorf("the runner is told %+v", l)
			}
		})
	}
}
