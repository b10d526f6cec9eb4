package cephrbd

import (
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// Anybody who may create pods in a namespace writes them as large as the API allows. The
// cache keeps of a pod a few labels, its node, its claims and how its containers ended.
const (
	maxClaims     = 16
	maxContainers = 16
	// maxJob is the JSON of a Job that the cache keeps whole. That of a probe has 4 KiB.
	maxJob = 64 << 10
)

var keptLabels = []string{naming.LabelApp, labelOSD, naming.LabelCNPGCluster, batchv1.JobNameLabel}

func trimPod(object profile.Object) (profile.Object, error) {
	o, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	out := &corev1.Pod{ObjectMeta: profile.TrimMeta(o)}
	out.CreationTimestamp = o.CreationTimestamp
	for _, name := range keptLabels {
		if value, found := o.Labels[name]; found {
			if out.Labels == nil {
				out.Labels = map[string]string{}
			}
			out.Labels[name] = value
		}
	}
	out.Spec.NodeName, out.Status.Phase = o.Spec.NodeName, o.Status.Phase
	for _, v := range o.Spec.Volumes {
		if c := v.PersistentVolumeClaim; c != nil && len(out.Spec.Volumes) < maxClaims {
			kept := corev1.Volume{Name: v.Name}
			kept.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.ClaimName}
			out.Spec.Volumes = append(out.Spec.Volumes, kept)
		}
	}
	if o.Labels[naming.LabelCNPGCluster] == "" {
		out.Status.InitContainerStatuses = trimContainers(o.Status.InitContainerStatuses)
		out.Status.ContainerStatuses = trimContainers(o.Status.ContainerStatuses)
	}
	return out, nil
}

func trimContainers(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range all[:min(len(all), maxContainers)] {
		out = append(out, corev1.ContainerStatus{State: trimState(c.State), LastTerminationState: trimState(c.LastTerminationState)})
	}
	return out
}

// trimState keeps how a container failed, without when, and why it cannot start. Other
// messages of one that waits count seconds.
func trimState(s corev1.ContainerState) corev1.ContainerState {
	var out corev1.ContainerState
	if e := s.Terminated; e != nil && e.ExitCode != 0 {
		out.Terminated = &corev1.ContainerStateTerminated{ExitCode: e.ExitCode, Reason: excerpt.LastLine(e.Reason, rook.MaxText), Message: excerpt.LastLine(e.Message, rook.MaxText)}
	}
	if w := s.Waiting; w != nil {
		out.Waiting = &corev1.ContainerStateWaiting{Reason: excerpt.LastLine(w.Reason, rook.MaxText)}
		if w.Reason == "CreateContainerConfigError" {
			out.Waiting.Message = excerpt.LastLine(w.Message, rook.MaxText)
		}
	}
	return out
}

// trimJob keeps the spec, which is compared with what the profile wants.
func trimJob(object profile.Object) (profile.Object, error) {
	o, ok := object.(*batchv1.Job)
	if !ok {
		return object, nil
	}
	out := &batchv1.Job{ObjectMeta: profile.TrimMeta(o), Spec: o.Spec}
	out.Labels = profile.TrimLabels(o.Labels)
	if intent, found := o.Annotations[naming.AnnotationIntent]; found {
		out.Annotations = map[string]string{naming.AnnotationIntent: intent}
	}
	for _, c := range o.Status.Conditions {
		if c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed {
			out.Status.Conditions = append(out.Status.Conditions, batchv1.JobCondition{Type: c.Type, Status: c.Status, Reason: excerpt.LastLine(c.Reason, rook.MaxText)})
		}
	}
	raw, err := json.Marshal(out.Spec)
	if err != nil || len(raw) > maxJob {
		out.Spec, out.Annotations = batchv1.JobSpec{}, nil
	}
	return out, nil
}
