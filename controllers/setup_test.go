package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What moves on a Node at rest does not reach the cache.
func TestSlimNodeDropsWhatMoves(t *testing.T) {
	since := metav1.NewTime(time.Unix(1000, 0))
	at := func(beat int64) *corev1.Node {
		heartbeat := metav1.NewTime(time.Unix(beat, 0))
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"beat": heartbeat.String()}},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: *resource.NewQuantity(beat, resource.DecimalSI)},
				Images:      []corev1.ContainerImage{{SizeBytes: beat}},
				Conditions: []corev1.NodeCondition{
					{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, LastHeartbeatTime: heartbeat},
					{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: "PLEG was last seen active " + heartbeat.String(), LastHeartbeatTime: heartbeat, LastTransitionTime: since},
				},
			},
		}
	}
	slim := func(beat int64) *corev1.Node {
		out, err := slimNode(at(beat))
		if err != nil {
			t.Fatal(err)
		}
		return out.(*corev1.Node)
	}
	if diff := cmp.Diff(slim(2000), slim(3000)); diff != "" {
		t.Errorf("a heartbeat moves %s", diff)
	}
	want := []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", LastTransitionTime: since}}
	if diff := cmp.Diff(want, slim(2000).Status.Conditions); diff != "" {
		t.Error(diff)
	}
	if other, err := slimNode(&corev1.Pod{}); err != nil || other == nil {
		t.Errorf("another kind: %v, %v", other, err)
	}
}
