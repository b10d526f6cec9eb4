package cephrbd

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// preparing: Rook is at its first step again, with fewer OSDs than declared.
func preparing(f *observed.Profile, attempts ...Attempt) {
	own(*f).Cluster.Status = rook.ClusterStatus{Phase: rook.PhaseProgressing, Message: "Detecting Ceph version"}
	own(*f).OSDs = own(*f).OSDs[:1]
	own(*f).Prepares = attempts
}

func TestAFailedPrepareJobIsTheReason(t *testing.T) {
	const text = `osd.0: "4b1a" belonging to a different ceph cluster "9c2e"`
	failed := Attempt{Job: "rook-ceph-osd-prepare-n2", Node: "n2", Failed: true, Text: text}
	p := onZFS(nil)
	facts := healthy(p, "n1", "n2", "n3")
	preparing(&facts, Attempt{Job: "rook-ceph-osd-prepare-n1", Node: "n1", Succeeded: true}, failed)
	o := outcomeOf(build(t, p, facts), v1alpha1.ConditionCephReady)
	const want = `Rook cannot prepare OSDs: job/rook-ceph-osd-prepare-n2 on node n2: ` + text + `. Correct the device, and Rook tries again automatically; see kubectl -n rook-ceph logs JOB --all-containers`
	if o.Reason != v1alpha1.ReasonOSDPrepareFailed || o.Kind != outcome.Invalid || o.Message != want {
		t.Fatalf("%+v\nwant %s", o, want)
	}

	t.Run("it stays while Rook creates the Job again", func(t *testing.T) {
		p := onZFS(nil)
		p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionCephReady, Reason: o.Reason, Message: o.Message}}
		for _, between := range [][]Attempt{
			nil,
			{{Job: "rook-ceph-osd-prepare-n1", Succeeded: true}},
			{{Job: "rook-ceph-osd-prepare-n2", Node: "n2"}},
		} {
			facts := healthy(p, "n1", "n2", "n3")
			preparing(&facts, between...)
			if again := outcomeOf(build(t, p, facts), v1alpha1.ConditionCephReady); again != o {
				t.Errorf("%+v: %+v", between, again)
			}
		}
	})
	t.Run("it ends when the Job succeeds", func(t *testing.T) {
		p := onZFS(nil)
		p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionCephReady, Reason: o.Reason, Message: o.Message}}
		facts := healthy(p, "n1", "n2", "n3")
		preparing(&facts, Attempt{Job: "rook-ceph-osd-prepare-n2", Node: "n2", Succeeded: true})
		if o := outcomeOf(build(t, p, facts), v1alpha1.ConditionCephReady); o.Reason != v1alpha1.ReasonCephProgressing {
			t.Errorf("%+v", o)
		}
	})
	t.Run("an old failure does not count once all OSDs exist", func(t *testing.T) {
		facts := healthy(p, "n1", "n2", "n3")
		own(facts).Prepares = []Attempt{failed}
		if o := outcomeOf(build(t, p, facts), v1alpha1.ConditionCephReady); o.Reason != v1alpha1.ReasonCephReady {
			t.Errorf("%+v", o)
		}
	})
	t.Run("many failures are counted", func(t *testing.T) {
		facts := healthy(p, "n1", "n2", "n3")
		preparing(&facts, failed, failed, failed, failed, failed, failed, failed)
		if o := outcomeOf(build(t, p, facts), v1alpha1.ConditionCephReady); !strings.Contains(o.Message, "; 2 more. Correct") {
			t.Errorf("%s", o.Message)
		}
	})
}

func pod(namespace, name, node string, labels map[string]string, phase corev1.PodPhase, statuses ...corev1.ContainerStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase, ContainerStatuses: statuses},
	}
}

func TestAttemptsAreTheLastPodsOfTheirJobs(t *testing.T) {
	labels := func(job string) map[string]string {
		return map[string]string{"app": appOSDPrepare, "batch.kubernetes.io/job-name": job}
	}
	ended := func(message string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: message}}
	}
	waiting := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	older := pod("rook-ceph", "e-1", "n1", labels("e"), corev1.PodFailed, corev1.ContainerStatus{State: ended("first")})
	newer := pod("rook-ceph", "e-0", "n2", labels("e"), corev1.PodFailed, corev1.ContainerStatus{State: ended("second")})
	newer.CreationTimestamp = metav1.Unix(10, 0)
	var objects profile.Objects
	objects.Add(pods,
		pod("rook-ceph", "a", "n1", labels("a"), corev1.PodSucceeded, corev1.ContainerStatus{LastTerminationState: ended("before")}),
		pod("rook-ceph", "b", "n2", labels("b"), corev1.PodRunning, corev1.ContainerStatus{LastTerminationState: ended("why"), State: waiting("CrashLoopBackOff", "")}),
		pod("rook-ceph", "c", "n3", labels("c"), corev1.PodRunning, corev1.ContainerStatus{State: ended("")}),
		pod("rook-ceph", "d", "", labels("d"), corev1.PodPending, corev1.ContainerStatus{State: waiting("CreateContainerConfigError", `secret "s" not found`)}),
		newer, older,
		pod("elsewhere", "f", "n1", labels("f"), corev1.PodFailed, corev1.ContainerStatus{State: ended("x")}),
		pod("rook-ceph", "g", "n1", map[string]string{"app": "rook-ceph-mon"}, corev1.PodFailed),
	)
	got := attempts(objects, "rook-ceph", appOSDPrepare)
	want := map[string]Attempt{
		"a": {Job: "a", Node: "n1", Succeeded: true},
		"b": {Job: "b", Node: "n2", Failed: true, Text: "why"},
		"c": {Job: "c", Node: "n3", Failed: true, Text: "Error, exit code 1"},
		"d": {Job: "d", Text: `CreateContainerConfigError: secret "s" not found`},
		"e": {Job: "e", Node: "n2", Failed: true, Text: "second"},
	}
	if len(got) != len(want) {
		t.Errorf("%+v", got)
	}
	for job, a := range want {
		if got[job] != a {
			t.Errorf("%+v, want %+v", got[job], a)
		}
	}
}
