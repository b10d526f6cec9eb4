package status

import (
	"fmt"
	"slices"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// Labels of what CloudNativePG makes (its pkg/utils/labels_annotations.go).
const (
	labelInstance = "cnpg.io/instanceName"
	labelRole     = "cnpg.io/instanceRole"
)

// Cluster is the tree of a PgStorageCluster.
func (b Builder) Cluster(c snapshot.Cluster) Item {
	cr := c.Cluster
	i := b.own("PgStorageCluster", cr, cr.Status.ObservedGeneration, cr.Status.Conditions)
	details := []string{"durability " + string(cr.Spec.Durability)}
	if d := cr.Status.Database; d != nil && d.Primary != "" {
		details = append(details, "primary "+d.Primary)
	}
	i.Details = append(details, i.Details...)
	i.Children = append(i.Children, b.Profile(c.Profile), database(c))
	if o := c.PodMonitor; o != nil {
		i.Children = append(i.Children, foreign(o))
	}
	for n := range c.Benchmarks {
		i.Children = append(i.Children, b.benchmark(&c.Benchmarks[n]))
	}
	i.Children = append(i.Children, unread(c.Unread)...)
	return i
}

// database is CloudNativePG's Cluster with its pods and their claims.
func database(c snapshot.Cluster) Item {
	const kind = "Cluster (CloudNativePG)"
	if c.Database == nil {
		return missing(kind, c.Cluster.Namespace, c.Cluster.Name, "it does not exist; the condition DatabaseReady above says why")
	}
	pg := c.Database
	i := Item{Kind: kind, Namespace: pg.Namespace, Name: pg.Name, State: view.Waits, Reason: "NotHealthy", Message: pg.Status.Phase}
	if pg.Status.PhaseReason != "" {
		i.Message += ": " + pg.Status.PhaseReason
	}
	i.Details = []string{fmt.Sprintf("%d of %d instances ready", pg.Status.ReadyInstances, clusters.Instances(c.Cluster))}
	if pg.Labels[naming.LabelOwnerUID] != string(c.Cluster.UID) {
		i.Details = append(i.Details, "not of this PgStorageCluster")
	}
	if clusters.Healthy(c.Cluster, pg) {
		i.State, i.Reason = view.Ready, ""
	}
	if i.Message == "" {
		i.Message = "nothing is reported yet; does the operator of CloudNativePG run?"
	}
	i.Children = instances(c, pg)
	return i
}

// instances are the pods, each with its claims, and then claims without a pod.
func instances(c snapshot.Cluster, pg *cnpgv1.Cluster) []Item {
	var out []Item
	var shown []string
	for n := range c.Pods {
		p := pod(&c.Pods[n])
		for m := range c.Claims {
			if instance := c.Claims[m].Labels[labelInstance]; instance != "" && instance == c.Pods[n].Name {
				p.Children = append(p.Children, claim(c, &c.Claims[m], pg))
				shown = append(shown, c.Claims[m].Name)
			}
		}
		out = append(out, p)
	}
	for m := range c.Claims {
		if !slices.Contains(shown, c.Claims[m].Name) {
			out = append(out, claim(c, &c.Claims[m], pg))
		}
	}
	return out
}

func pod(p *corev1.Pod) Item {
	i := Item{Kind: "Pod", Name: p.Name, State: view.Waits, Reason: string(p.Status.Phase)}
	if role := p.Labels[labelRole]; role != "" {
		i.Details = append(i.Details, role)
	}
	if p.Spec.NodeName != "" {
		i.Details = append(i.Details, "node "+p.Spec.NodeName)
	}
	if p.Status.Phase == corev1.PodSucceeded {
		i.State = view.Exists
		return i
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			i.State, i.Reason = view.Ready, ""
			return i
		}
	}
	i.Reason, i.Message = podWaits(p)
	return i
}

// podWaits says why a pod is not ready: it has no node, or a container waits.
func podWaits(p *corev1.Pod) (reason, message string) {
	reason = string(p.Status.Phase)
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			reason, message = c.Reason, c.Message
		}
	}
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil && w.Reason != "PodInitializing" {
			reason, message = w.Reason, fmt.Sprintf("container %s: %s", s.Name, view.Or(w.Message))
		}
	}
	return reason, message
}

// claim with the volume beneath it, as its node's agent has read it back.
func claim(c snapshot.Cluster, pvc *corev1.PersistentVolumeClaim, pg *cnpgv1.Cluster) Item {
	i := Item{Kind: "PersistentVolumeClaim", Name: pvc.Name, State: view.Waits, Reason: string(pvc.Status.Phase)}
	if pvc.Status.Phase == corev1.ClaimBound {
		i.State, i.Reason = view.Ready, ""
		size := pvc.Status.Capacity[corev1.ResourceStorage]
		i.Details = append(i.Details, size.String())
	}
	if pvc.Spec.StorageClassName != nil {
		i.Details = append(i.Details, "class "+*pvc.Spec.StorageClassName)
	}
	if slices.Contains(pg.Status.DanglingPVC, pvc.Name) {
		i.Details = append(i.Details, "dangling: no instance uses it")
	}
	for _, v := range c.Cluster.Status.Volumes {
		if v.Claim == pvc.Name && v.Dataset != "" {
			i.Details = append(i.Details, "dataset "+v.Dataset, fmt.Sprintf("recordsize %dk", v.Recordsize/1024), "node "+v.Node)
		}
	}
	return i
}

// benchmark is the line of a PgBenchmark.
func (b Builder) benchmark(p *v1alpha1.PgBenchmark) Item {
	i := b.own("PgBenchmark", p, p.Status.ObservedGeneration, p.Status.Conditions)
	if p.Status.Phase != "" {
		i.Details = append(i.Details, p.Status.Phase)
	}
	if p.Status.BestTPS != "" {
		i.Details = append(i.Details, fmt.Sprintf("%s TPS (%s)", p.Status.BestTPS, view.Or(string(p.Status.Durability))))
	}
	return i
}

// Benchmark is the tree of a PgBenchmark.
func (b Builder) Benchmark(s snapshot.Benchmark) Item {
	i := b.benchmark(s.Benchmark)
	if s.Target == nil {
		i.Children = append(i.Children, missing("PgStorageCluster", s.Benchmark.Namespace, s.Benchmark.Spec.Cluster, "it does not exist; see kubectl get pgsc"))
	} else {
		target := b.own("PgStorageCluster", s.Target, s.Target.Status.ObservedGeneration, s.Target.Status.Conditions)
		i.Children = append(i.Children, target)
	}
	for n := range s.Pods {
		i.Children = append(i.Children, pod(&s.Pods[n]))
	}
	i.Children = append(i.Children, unread(s.Unread)...)
	return i
}
