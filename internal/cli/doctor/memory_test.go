package doctor

import (
	"slices"
	"strings"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// inMemory returns the facts of a cluster whose only profile is of type Memory.
func inMemory(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	p := v1alpha1.PgStorageProfile{ObjectMeta: named("", "fast", nil)}
	p.Spec = v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeMemory, NodeSelector: map[string]string{"pgstorage.dev/pool": "tank"}, Memory: &v1alpha1.MemoryProfile{}}
	s := v1alpha1.PgNodeStorage{ObjectMeta: named("", "fast.node-1", nil)}
	s.Spec = v1alpha1.PgNodeStorageSpec{NodeName: "node-1", Profile: "fast", Memory: &v1alpha1.NodeMemory{}}
	s.Status.Memory = &v1alpha1.ObservedMemory{Volumes: []v1alpha1.ObservedMemoryVolume{{Name: "pvc-1", State: v1alpha1.MemoryVolumeMounted}}}
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Ready"})
	p.Status.Conditions = s.Status.Conditions
	f.Profiles, f.Storages, f.Clusters = []v1alpha1.PgStorageProfile{p}, []v1alpha1.PgNodeStorage{s}, nil
	f.Drivers, f.CSINodes = []storagev1.CSIDriver{}, nil
	return f
}

// A node with volumes in memory needs no ZFS, and has no pool.
func TestVolumesInMemoryNeedNoZFS(t *testing.T) {
	findings := Check(inMemory(t), book(t))
	for _, f := range findings {
		if f.Level != OK && f.Level != Note {
			t.Errorf("%+v", f)
		}
	}
	want := Finding{Area: "Pools", Level: OK, Subject: "memory of profile fast on node node-1", Message: "1 volumes"}
	if !slices.Contains(findings, want) {
		t.Errorf("no %+v in %+v", want, findings)
	}
}

// Volumes in memory are mounted by the agent.
func TestVolumesInMemoryNeedTheAgent(t *testing.T) {
	facts := inMemory(t)
	facts.Agents = nil
	if !slices.ContainsFunc(Check(facts, book(t)), func(f Finding) bool {
		return f.Level == Failure && f.Subject == "agent" && strings.Contains(f.Message, "no DaemonSet found")
	}) {
		t.Error("a missing agent is not a failure")
	}
}
