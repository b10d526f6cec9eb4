package s3nbd

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/nodes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// server of a store on a node, and what is wrong with it.
type server struct {
	node, store string
	// reason is empty for one that runs.
	reason, message string
	kind            outcome.Kind
	// note about one that runs.
	note string
}

// serversOf a store: one on each node, whether its pod is there or not.
func serversOf(store, revision string, nodes []string, facts observed.Profile) []server {
	var out []server
	for _, node := range nodes {
		s := server{node: node, store: store}
		s.judge(podOf(facts.Servers, store, node), revision, serverOn(facts.Storages, store, node))
		out = append(out, s)
	}
	return out
}

// podOf a store on a node: the one that is not being deleted, where there are two.
func podOf(pods []*corev1.Pod, store, node string) *corev1.Pod {
	var found *corev1.Pod
	for _, p := range pods {
		if p.Labels[naming.LabelStore] != store || p.Spec.NodeName != node {
			continue
		}
		if found == nil || !found.DeletionTimestamp.IsZero() {
			found = p
		}
	}
	return found
}

// observed of a store's server by the agent of its node; nothing where none did.
func serverOn(storages []*v1alpha1.PgNodeStorage, store, node string) v1alpha1.ObservedServer {
	for _, s := range storages {
		if s.Spec.NodeName != node {
			continue
		}
		for _, o := range s.Status.Servers {
			if o.Name == store {
				return o
			}
		}
	}
	return v1alpha1.ObservedServer{}
}

func (s *server) judge(pod *corev1.Pod, revision string, says v1alpha1.ObservedServer) {
	switch {
	case pod == nil:
		s.waits("has no pod yet; if it stays, see the events of its DaemonSet in the operator's namespace")
	case !pod.DeletionTimestamp.IsZero():
		s.waits("is being stopped")
	case s.failed(pod, stopped), s.notStarted(pod):
	case ready(pod):
		if pod.Annotations[naming.AnnotationRevision] != revision {
			s.note = fmt.Sprintf("store %s: the pod of its server was made before the last change of image or settings. They reach it when it is next stopped cleanly", s.store)
		}
	default:
		s.notServing(pod, says)
	}
}

// notServing judges a server that runs and is not ready, in its own words. One that
// starts after a failure may fail again: until it is ready, the failure stays in the
// status.
func (s *server) notServing(pod *corev1.Pod, says v1alpha1.ObservedServer) {
	switch zerofs.Phase(says.Phase) {
	case zerofs.PhaseHolding:
		s.waits("holds what the pool asks until its store answers: %s", says.Message)
		s.reason = v1alpha1.ReasonStoreUnavailable
	case zerofs.PhaseFenced:
		s.waits("holds every request of the pool, because another writer opened its prefix: %s", says.Message)
		s.reason, s.kind = v1alpha1.ReasonFenced, outcome.Invalid
	default:
		if !s.failed(pod, endedLast) {
			s.waits("is starting")
		}
	}
}

func (s *server) waits(format string, args ...any) {
	s.reason, s.message, s.kind = v1alpha1.ReasonServerNotRunning, fmt.Sprintf(format, args...), outcome.Wait
}

// passing are failures that time or the network can heal; the others need an
// administrator.
var passing = []string{zerofs.ReasonEndpointUnreachable, zerofs.ReasonClockSkew, zerofs.ReasonStoreLost, zerofs.ReasonServerFailed, v1alpha1.ReasonServerNotRunning}

// failed judges what the check before the server, or the server itself, said when
// it ended, and says whether it found fault. End is how a container ended.
func (s *server) failed(pod *corev1.Pod, end func(corev1.ContainerStatus) *corev1.ContainerStateTerminated) bool {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		ended := end(c)
		if c.Ready || ended == nil || ended.ExitCode == 0 {
			continue
		}
		why := zerofs.ParseFailure(ended.Message)
		if why == nil || !slices.Contains(failures, why.Reason) {
			why = &zerofs.Failure{Reason: v1alpha1.ReasonServerNotRunning, Message: fmt.Sprintf("container %s of pod %s ended with exit code %d; see its log", c.Name, pod.Name, ended.ExitCode)}
		}
		s.reason, s.message, s.kind = why.Reason, why.Message, outcome.Invalid
		if slices.Contains(passing, why.Reason) {
			s.kind = outcome.Wait
		}
		return true
	}
	return false
}

// stopped is the end of a container that does not run.
func stopped(c corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	switch {
	case c.State.Running != nil:
		return nil
	case c.State.Terminated != nil:
		return c.State.Terminated
	default:
		return endedLast(c)
	}
}

// endedLast is how a container ended before it started for the last time.
func endedLast(c corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	return c.LastTerminationState.Terminated
}

// failures that are reported by their own reason.
var failures = []string{
	zerofs.ReasonEndpointUnreachable, zerofs.ReasonCredentialsRejected, zerofs.ReasonClockSkew, zerofs.ReasonBucketNotFound,
	zerofs.ReasonPrefixNotEmpty, zerofs.ReasonConditionalPutUnsupported, zerofs.ReasonPasswordInvalid, zerofs.ReasonPasswordWrong,
	zerofs.ReasonConfigRejected, zerofs.ReasonStoreLost, zerofs.ReasonFenced, zerofs.ReasonServerFailed,
}

// notStarted judges why the kubelet, or the scheduler, does not start the pod.
// The kubelet names a Secret or key that is missing, so that the operator need not
// be able to read any.
func (s *server) notStarted(pod *corev1.Pod) bool {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		w := c.State.Waiting
		switch {
		case w == nil || w.Reason == "PodInitializing" || w.Reason == "ContainerCreating":
			continue
		case w.Reason == "CreateContainerConfigError":
			s.waits("waits for a Secret in namespace %s: %s", pod.Namespace, w.Message)
			s.reason = v1alpha1.ReasonSecretNotFound
		default:
			s.waits("does not start: container %s of pod %s: %s: %s", c.Name, pod.Name, w.Reason, w.Message)
		}
		return true
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			s.waits("is not given to the node: %s", c.Message)
			return true
		}
	}
	return false
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// serversOutcome is the condition ServersReady. While every pool serves without a
// server, as a mirror does, it takes no part in Ready. A node's own verdict names
// its servers.
func serversOutcome(servers []server, judged []nodes.Verdict, facts observed.Profile) outcome.Outcome {
	o := outcome.Outcome{Condition: v1alpha1.ConditionServersReady}
	if facts.Operator.Namespace == "" {
		return outcome.InvalidBecause(o.Condition, v1alpha1.ReasonInvalidSpec, "the operator does not know its namespace, where servers run; start it with --namespace")
	}
	var messages []string
	for _, s := range servers {
		tell(judged, s)
		if s.reason == "" {
			continue
		}
		if o.Reason == "" || s.kind > o.Kind {
			o.Kind, o.Reason = s.kind, s.reason
		}
		messages = append(messages, fmt.Sprintf("%s: the server of store %s %s", s.node, s.store, s.message))
	}
	if len(messages) == 0 {
		return outcome.DoneWith(o.Condition, v1alpha1.ReasonServersReady, fmt.Sprintf("%d ZeroFS servers run", len(servers)))
	}
	o.Message = fmt.Sprintf("%d of %d servers do not serve: %s", len(messages), len(servers), strings.Join(messages, "; "))
	o.Informative = len(judged) > 0 && !slices.ContainsFunc(judged, nodes.Verdict.StorageFails)
	return o
}

// note a node's verdict about its server.
func tell(judged []nodes.Verdict, s server) {
	for i := range judged {
		if judged[i].Name != s.node {
			continue
		}
		text := s.note
		if s.reason != "" {
			text = fmt.Sprintf("the server of store %s %s", s.store, s.message)
		}
		judged[i].Remark(text)
	}
}
