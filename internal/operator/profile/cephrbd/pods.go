package cephrbd

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Values of naming.LabelApp of Rook's pods.
const (
	appOSD        = "rook-ceph-osd"
	appOSDPrepare = "rook-ceph-osd-prepare"
)

// podsOf an app in Rook's namespace, the oldest first.
func podsOf(objects profile.Objects, namespace, app string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range profile.List[*corev1.Pod](objects, pods) {
		if pod.Namespace == namespace && pod.Labels[naming.LabelApp] == app {
			out = append(out, pod)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return out
}

// runs reports whether a pod is on a node and has not ended.
func runs(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// osdPods are those of OSDs that are on a node and have not ended, by the ID of the OSD.
func osdPods(objects profile.Objects, namespace string) map[int]*corev1.Pod {
	out := map[int]*corev1.Pod{}
	for _, pod := range podsOf(objects, namespace, appOSD) {
		if id, err := strconv.Atoi(pod.Labels[labelOSD]); err == nil && runs(pod) {
			out[id] = pod
		}
	}
	return out
}

// failure says how a container of a pod ended, or why it cannot start; empty: it starts.
func failure(pod *corev1.Pod) string {
	a := attempt("", pod)
	if !a.Failed && (a.Text == "PodInitializing" || a.Text == "ContainerCreating") {
		return ""
	}
	return a.Text
}

// attempts are the last pods of the Jobs of an app, by Job.
func attempts(objects profile.Objects, namespace, app string) map[string]Attempt {
	out := map[string]Attempt{}
	for _, pod := range podsOf(objects, namespace, app) {
		if job := pod.Labels[batchv1.JobNameLabel]; job != "" && pod.DeletionTimestamp == nil {
			out[job] = attempt(job, pod)
		}
	}
	return out
}

// attempt that a pod is. A container that starts again keeps how it ended before.
func attempt(job string, pod *corev1.Pod) Attempt {
	a := Attempt{Job: job, Node: pod.Spec.NodeName, Succeeded: pod.Status.Phase == corev1.PodSucceeded}
	if a.Succeeded {
		return a
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		for _, state := range []corev1.ContainerState{c.LastTerminationState, c.State} {
			if ended := state.Terminated; ended != nil && ended.ExitCode != 0 {
				a.Failed, a.Text = true, cmp.Or(ended.Message, fmt.Sprintf("%s, exit code %d", cmp.Or(ended.Reason, "Error"), ended.ExitCode))
			}
		}
		if waits := c.State.Waiting; waits != nil && !a.Failed {
			a.Text = strings.TrimSuffix(waits.Reason+": "+waits.Message, ": ")
		}
	}
	return a
}

// readJobs reads what became of Rook's jobs that prepare devices, and of the profile's
// probes.
func (f *Facts) readJobs(namespace, uid string, objects profile.Objects) {
	for _, a := range attempts(objects, namespace, appOSDPrepare) {
		f.Prepares = append(f.Prepares, a)
	}
	slices.SortFunc(f.Prepares, func(a, b Attempt) int { return strings.Compare(a.Job, b.Job) })
	f.Probes = map[string]Probe{}
	last := attempts(objects, namespace, naming.ProbeApp)
	for _, job := range profile.List[*batchv1.Job](objects, jobs) {
		if job.Namespace != namespace || job.Labels[naming.LabelOwnerUID] != uid || job.DeletionTimestamp != nil {
			continue
		}
		probe := Probe{Last: last[job.Name]}
		for _, c := range job.Status.Conditions {
			switch {
			case c.Status != corev1.ConditionTrue:
			case c.Type == batchv1.JobComplete:
				probe.Complete = true
			case c.Type == batchv1.JobFailed:
				probe.Failed = cmp.Or(c.Reason, string(c.Type))
			}
		}
		f.Probes[job.Name] = probe
	}
}
