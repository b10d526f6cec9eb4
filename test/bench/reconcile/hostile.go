package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// hostileNamespace is a tenant's.
const hostileNamespace = "hostile"

// besieged is what objects of one kind cost, each as large as its bounds allow.
type besieged struct {
	kind    string
	objects int
	// bytes of JSON of one object.
	bytes int
	// heap that is alive with all of them; peak is the most memory of a process that
	// started while they were there.
	heap, peak float64
}

// memoryLimit of the manager, as the chart has it.
func memoryLimit() (float64, error) {
	text, err := os.ReadFile(filepath.Join(repository.Root(), "charts/pgstorage/values.yaml"))
	if err != nil {
		return 0, fmt.Errorf("chart: %w", err)
	}
	values := struct {
		Resources corev1.ResourceRequirements `json:"resources"`
	}{}
	if err := yaml.Unmarshal(text, &values); err != nil {
		return 0, fmt.Errorf("chart: %w", err)
	}
	limit := values.Resources.Limits.Memory()
	if limit.IsZero() {
		return 0, fmt.Errorf("chart: resources.limits.memory is not set")
	}
	return limit.AsApproximateFloat64(), nil
}

// text that no two objects share.
func text(i, n int) string {
	return strings.Repeat(fmt.Sprintf("%016x", i), n/16)
}

func hostileMeta(kind string, i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: hostileNamespace, Name: fmt.Sprintf("%s-%03d", kind, i),
		Labels:      map[string]string{naming.LabelManagedBy: naming.ManagedBy, naming.LabelCluster: "nobody"},
		Annotations: map[string]string{"big": text(i, 200<<10)},
	}
}

// hostileKinds are what a tenant may create, with a maker of the i-th. Those of other
// APIs carry the operator's label, and are just below what the cache keeps whole.
var hostileKinds = []struct {
	name string
	make func(i int) client.Object
}{
	{"pgstoragecluster", func(i int) client.Object {
		c := cluster("")
		c.ObjectMeta = hostileMeta("pgsc", i)
		c.Spec.CNPG = overrides(i)
		c.Spec.Postgres.Parameters = map[string]string{}
		for n := range 15 {
			c.Spec.Postgres.Parameters["app.setting"+strconv.Itoa(n)] = text(i, 1024)
		}
		return c
	}},
	{"pgbenchmark", func(i int) client.Object {
		t := cluster("").Spec
		b := &v1alpha1.PgBenchmark{ObjectMeta: hostileMeta("pgb", i), Spec: v1alpha1.PgBenchmarkSpec{
			Template: &v1alpha1.ClusterTemplate{Profile: profile, Postgres: t.Postgres, Storage: t.Storage, Resources: t.Resources, Instances: t.Instances, Durability: t.Durability, CNPG: overrides(i)},
			Matrix:   &v1alpha1.BenchmarkMatrix{},
		}}
		run := &v1alpha1.BenchmarkRun{SynchronousStandbyNames: text(i, 4096)}
		for clients := range 12 {
			result := v1alpha1.BenchmarkResult{Clients: int32(clients + 1), TPS: "1"}
			for n := range 40 {
				result.Statements = append(result.Statements, v1alpha1.StatementLatency{SQL: text(i, 256), LatencyAverage: strconv.Itoa(n)})
			}
			for n := range 32 {
				result.Findings = append(result.Findings, v1alpha1.BenchmarkFinding{Check: strconv.Itoa(n), Verdict: "Caution", Reason: "None", Message: text(i, 496)})
			}
			run.Results = append(run.Results, result)
		}
		b.Status.Run = run
		return b
	}},
	{"pgscheduledbenchmark", func(i int) client.Object {
		t := cluster("").Spec
		s := &v1alpha1.PgScheduledBenchmark{ObjectMeta: hostileMeta("pgsb", i), Spec: v1alpha1.PgScheduledBenchmarkSpec{Schedule: "@yearly", Suspend: true}}
		s.Spec.Template.Spec = v1alpha1.PgBenchmarkSpec{
			Template: &v1alpha1.ClusterTemplate{Profile: profile, Postgres: t.Postgres, Storage: t.Storage, Resources: t.Resources, Instances: t.Instances, Durability: t.Durability, CNPG: overrides(i)},
			Matrix:   &v1alpha1.BenchmarkMatrix{},
		}
		s.Spec.Template.Metadata.Annotations = map[string]string{}
		for n := range 16 {
			s.Spec.Template.Metadata.Annotations["example.com/"+strconv.Itoa(n)] = text(i, 1024)
		}
		return s
	}},
	{"pgstoragebranch", func(i int) client.Object {
		return &v1alpha1.PgStorageBranch{ObjectMeta: hostileMeta("pgbr", i), Spec: v1alpha1.PgStorageBranchSpec{Source: v1alpha1.BranchSource{Cluster: "nobody"}}}
	}},
	{"volumesnapshot", func(i int) client.Object {
		return &snapshotv1.VolumeSnapshot{ObjectMeta: hostileMeta("vs", i), Spec: snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: new("nobody")}}}
	}},
	{"cluster", func(i int) client.Object {
		return &cnpgv1.Cluster{ObjectMeta: hostileMeta("cluster", i), Spec: cnpgv1.ClusterSpec{Instances: 1, Description: text(i, 250<<10), StorageConfiguration: cnpgv1.StorageConfiguration{Size: "1Gi"}}}
	}},
	{"job", func(i int) client.Object {
		j := &batchv1.Job{ObjectMeta: hostileMeta("job", i), Spec: batchv1.JobSpec{Suspend: new(true)}}
		j.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "none", Args: []string{text(i, 250<<10)}}}}
		return j
	}},
	{"configmap", func(i int) client.Object {
		return &corev1.ConfigMap{ObjectMeta: hostileMeta("cm", i), Data: map[string]string{"a": text(i, 800<<10)}}
	}},
	{"pod", func(i int) client.Object {
		p := &corev1.Pod{ObjectMeta: hostileMeta("pod", i), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none", Args: []string{text(i, 250<<10)}}}}}
		p.Labels["cnpg.io/cluster"] = "c-00000"
		return p
	}},
}

// overrides as large as they may be.
func overrides(i int) *v1alpha1.CNPGOverrides {
	return &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"description":%q}`, text(i, v1alpha1.MaxOverridesBytes-100))}}
}

// besiege measures what each kind costs. A kind is gone before the next comes, because
// they would fill etcd.
func (s *scene) besiege(ctx context.Context, f *figures) error {
	if s.hostile == 0 {
		return nil
	}
	if err := s.c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hostileNamespace}}); err != nil {
		return fmt.Errorf("namespace: %w", err)
	}
	for _, kind := range hostileKinds {
		progress("%d hostile objects: %s", s.hostile, kind.name)
		b, err := s.besiegedBy(ctx, kind.name, kind.make)
		if err != nil {
			return fmt.Errorf("hostile %s: %w", kind.name, err)
		}
		f.hostile = append(f.hostile, b)
		progress("%s: heap %.1f MiB, peak %.1f MiB", kind.name, b.heap/mebibyte, b.peak/mebibyte)
	}
	return nil
}

func (s *scene) besiegedBy(ctx context.Context, kind string, build func(int) client.Object) (besieged, error) {
	b := besieged{kind: kind, objects: s.hostile}
	var all []client.Object
	for i := range s.hostile {
		o := build(i)
		if content, err := json.Marshal(o); err == nil {
			b.bytes = len(content)
		}
		wanted, _ := o.DeepCopyObject().(client.Object)
		if err := s.c.Create(ctx, o); err != nil {
			return b, fmt.Errorf("create: %w", err)
		}
		if benchmark, ok := wanted.(*v1alpha1.PgBenchmark); ok {
			benchmark.ResourceVersion = ""
			if err := s.c.Status().Patch(ctx, benchmark, client.Merge); err != nil {
				return b, fmt.Errorf("write a status: %w", err)
			}
		}
		o.SetAnnotations(nil)
		all = append(all, o)
	}
	if err := s.quiet(ctx); err != nil {
		return b, err
	}
	var err error
	if b.heap, err = s.manager.liveHeap(ctx); err != nil {
		return b, err
	}
	if err := s.manager.restart(ctx); err != nil {
		return b, err
	}
	if err := s.quiet(ctx); err != nil {
		return b, err
	}
	live, err := s.manager.liveHeap(ctx)
	if err != nil {
		return b, err
	}
	b.heap = max(b.heap, live)
	if b.peak, err = s.manager.peak(); err != nil {
		return b, err
	}
	for _, o := range all {
		if err := s.c.Delete(ctx, o, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return b, fmt.Errorf("delete: %w", err)
		}
	}
	return b, s.quiet(ctx)
}

// instancesRun makes the pods of a Cluster, as CloudNativePG and a kubelet would.
func (s *scene) instancesRun(ctx context.Context, pg *cnpgv1.Cluster) error {
	for name := range pg.Status.InstancesReportedState {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: pg.Namespace, Name: string(name), Labels: map[string]string{"cnpg.io/cluster": pg.Name},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: cnpgv1.SchemeGroupVersion.String(), Kind: "Cluster", Name: pg.Name, UID: pg.UID, Controller: new(true)}},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "postgres", Image: "none", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}},
		}
		if err := s.c.Create(ctx, pod); err != nil {
			return fmt.Errorf("simulate an instance: %w", err)
		}
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: s.instances.ip, PodIPs: []corev1.PodIP{{IP: s.instances.ip}}, StartTime: &metav1.Time{Time: time.Now()}}
		if err := s.c.Status().Update(ctx, pod); err != nil {
			return fmt.Errorf("simulate an instance's status: %w", err)
		}
	}
	return nil
}
