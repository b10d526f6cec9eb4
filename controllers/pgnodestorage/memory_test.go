package pgnodestorage

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
)

// fakeMemory has one volume, which cannot be unmounted while it is in use.
type fakeMemory struct {
	mounts []tmpfs.Mount
	inUse  bool
}

func (f *fakeMemory) List(context.Context, string) (tmpfs.Seen, error) {
	return tmpfs.Seen{Mounts: f.mounts}, nil
}

func (f *fakeMemory) Mount(context.Context, ...tmpfs.Volume) error { return nil }

func (f *fakeMemory) Unmount(context.Context, ...tmpfs.Place) error {
	if f.inUse {
		return fmt.Errorf("unmount volume a: %w", tmpfs.ErrInUse)
	}
	f.mounts = nil
	return nil
}

func inMemory() (*v1alpha1.PgNodeStorage, *fakeMemory) {
	s := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: "fast.n1"},
		Spec:       v1alpha1.PgNodeStorageSpec{NodeName: "n1", Profile: "fast", Memory: &v1alpha1.NodeMemory{}},
	}
	return s, &fakeMemory{mounts: []tmpfs.Mount{{Place: tmpfs.Place{Profile: "fast", Name: "a"}, Size: 1 << 30, Used: 1 << 20}}}
}

// The client is a fake: only finalizers matter.
func TestDeletionWaitsForVolumesInUse(t *testing.T) {
	s, memory := inMemory()
	now := metav1.NewTime(time.Unix(1000, 0))
	s.Finalizers, s.DeletionTimestamp, memory.inUse = []string{naming.NodeStorageFinalizer}, &now, true
	c := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(s).Build()
	recorded, forgotten := events.NewFakeRecorder(10), ""
	r := &Reconciler{
		Client: c, Node: &agent.Node{Memory: memory}, NodeName: "n1", Clock: clocktesting.NewFakePassiveClock(now.Time),
		Events: recorded, Forget: func(name string) { forgotten = name },
	}
	if _, err := r.Reconcile(t.Context(), s); err == nil || !strings.Contains(err.Error(), "unmount volume a: in use") {
		t.Errorf("error %v", err)
	}
	if event := <-recorded.Events; !strings.HasPrefix(event, "Warning VolumesNotReleased ") {
		t.Errorf("event %q", event)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil || len(s.Finalizers) != 1 || forgotten != "" {
		t.Errorf("error %v, finalizers %q, forgotten %q", err, s.Finalizers, forgotten)
	}
	memory.inUse = false
	if _, err := r.Reconcile(t.Context(), s); err != nil {
		t.Error(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), s); !apierrors.IsNotFound(err) || forgotten != s.Name {
		t.Errorf("error %v, forgotten %q", err, forgotten)
	}
}

// Without its finalizer the object is gone, and no budget would count the volumes.
func TestDryRunKeepsTheFinalizerOfMountedVolumes(t *testing.T) {
	s, memory := inMemory()
	now := metav1.NewTime(time.Unix(1000, 0))
	s.Finalizers, s.DeletionTimestamp = []string{naming.NodeStorageFinalizer}, &now
	c := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(s).Build()
	recorded := events.NewFakeRecorder(10)
	r := &Reconciler{
		Client: c, Node: &agent.Node{Memory: memory, DryRun: func([]string) {}}, NodeName: "n1", Clock: clocktesting.NewFakePassiveClock(now.Time),
		Events: recorded, Forget: func(name string) { t.Errorf("%s is forgotten", name) },
	}
	if _, err := r.Reconcile(t.Context(), s); err == nil {
		t.Error("the dry run let go of a mounted volume")
	}
	if event := <-recorded.Events; !strings.HasPrefix(event, "Warning VolumesNotReleased ") || !strings.Contains(event, "(dry run)") {
		t.Errorf("event %q", event)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil || len(s.Finalizers) != 1 || len(memory.mounts) != 1 {
		t.Errorf("error %v, finalizers %q, mounted %v", err, s.Finalizers, memory.mounts)
	}
}

func TestMetricsOfVolumesInMemory(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry, host.Counting(nil))
	s, memory := inMemory()
	r, err := (&agent.Node{Memory: memory}).Pass(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	m.Observe(s, r)
	want := []string{
		"pgstorage_memory_volume_size_bytes profile=fast storage=fast.n1 volume=a 1073741824",
		"pgstorage_memory_volume_used_bytes profile=fast storage=fast.n1 volume=a 1048576",
	}
	if diff := cmp.Diff(want, ofVolumes(t, registry)); diff != "" {
		t.Error(diff)
	}
	m.Forget(s.Name)
	if left := ofVolumes(t, registry); len(left) != 0 {
		t.Errorf("%q are left", left)
	}
}

// ofVolumes are the gauges of volumes in memory, with their labels and values.
func ofVolumes(t *testing.T, registry *prometheus.Registry) []string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "pgstorage_memory_volume_") {
			continue
		}
		for _, m := range f.GetMetric() {
			text := f.GetName()
			for _, l := range m.GetLabel() {
				text += " " + l.GetName() + "=" + l.GetValue()
			}
			out = append(out, fmt.Sprintf("%s %.0f", text, m.GetGauge().GetValue()))
		}
	}
	return out
}

// Its ZFS would panic.
func TestLatencyIsNotReadWithoutZFS(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&LatencyCollector{Loaded: func() bool { return false }})
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetMetric()[0].GetGauge().GetValue() != 0 {
		t.Errorf("gathered %v, %v", families, err)
	}
}
