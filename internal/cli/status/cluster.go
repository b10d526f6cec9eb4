package status

import (
	"fmt"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// Cluster returns the tree of a PgStorageCluster.
func (b Builder) Cluster(c snapshot.Cluster) Tree {
	cr := c.Cluster
	i := b.own("PgStorageCluster", cr, cr.Status.ObservedGeneration, cr.Status.Conditions)
	details := []string{"durability " + string(cr.Spec.Durability)}
	if d := cr.Status.Database; d != nil && d.Primary != "" {
		details = append(details, "primary "+d.Primary)
	}
	if f := cr.Spec.Follow; f != nil {
		details[0] = "follows " + f.Cluster
	}
	if t, now := cr.Spec.Topology, cr.Status.Topology; t != nil && now != nil {
		details = append(details, "site "+t.Self, site(t, now))
	}
	details = append(details, branchDetail(c)...)
	details = append(details, protection(cr)...)
	i.Details = append(details, i.Details...)
	i.Children = append(i.Children, b.Profile(c.Profile), database(c))
	for _, p := range cr.Status.ReadPools {
		i.Children = append(i.Children, readPool(cr.Namespace, p))
	}
	if o := c.PodMonitor; o != nil {
		i.Children = append(i.Children, foreign(o))
	}
	for n := range c.Benchmarks {
		i.Children = append(i.Children, b.benchmark(&c.Benchmarks[n]))
	}
	i.Children = append(i.Children, b.branches(c.Branches, cr.Namespace, cr.Name, nil)...)
	i.Children = append(i.Children, unread(c.Unread, snapshot.Database)...)
	return i
}

// site says what a site does.
func site(t *v1alpha1.TopologySpec, now *v1alpha1.TopologyStatus) string {
	switch now.Role {
	case v1alpha1.SiteWrites:
		return "writes"
	case v1alpha1.SiteFollows:
		return "follows site " + t.Primary
	case "":
		return "does not run yet"
	default:
		return "is " + strings.ToLower(string(now.Role))
	}
}

// readPool returns a read pool as its cluster reports it. Its PgStorageCluster has a tree of
// its own.
func readPool(namespace string, p v1alpha1.ReadPoolStatus) Tree {
	i := Tree{Kind: "Read pool", Namespace: namespace, Name: p.Cluster, State: view.Waiting, Reason: p.Reason, Details: []string{"profile " + p.Profile}}
	if p.Ready != nil && *p.Ready {
		i.State, i.Reason = view.Ready, ""
	}
	if p.ReadyInstances != nil {
		i.Details = append(i.Details, fmt.Sprintf("%d instances ready", *p.ReadyInstances))
	}
	if f := p.Follower; f != nil && f.Lag != nil && f.Lag.Bytes != nil && f.Lag.Seconds != nil {
		i.Details = append(i.Details, fmt.Sprintf("at most %s and %ds behind", resource.NewQuantity(*f.Lag.Bytes, resource.BinarySI), *f.Lag.Seconds))
	}
	if i.State != view.Ready {
		i.Message = "see kubectl pgstorage status " + p.Cluster
	}
	return i
}

// database returns the CloudNativePG Cluster with its pods and their claims.
func database(c snapshot.Cluster) Tree {
	const kind = "Cluster (CloudNativePG)"
	if c.Database == nil {
		return missing(kind, c.Cluster.Namespace, c.Cluster.Name, "the Cluster does not exist; see condition DatabaseReady for the cause").orNotRead(c.Unread, snapshot.Database)
	}
	pg := c.Database
	i := Tree{Kind: kind, Namespace: pg.Namespace, Name: pg.Name, State: view.Waiting, Reason: "NotHealthy", Message: pg.Status.Phase}
	if pg.Status.PhaseReason != "" {
		i.Message += ": " + pg.Status.PhaseReason
	}
	i.Details = []string{fmt.Sprintf("%d of %d instances ready", pg.Status.ReadyInstances, clusters.Instances(c.Cluster))}
	if pg.Labels[naming.LabelOwnerUID] != string(c.Cluster.UID) {
		i.Details = append(i.Details, "not owned by this PgStorageCluster")
	}
	if clusters.Healthy(c.Cluster, pg) {
		i.State, i.Reason = view.Ready, ""
	}
	if i.Message == "" {
		i.Message = "CloudNativePG has not reported a status yet; check that its operator is running"
	}
	i.Children = instances(c, pg)
	return i
}

// instances returns the pods, each with its claims, and then the claims without a pod.
func instances(c snapshot.Cluster, pg *cnpgv1.Cluster) []Tree {
	var out []Tree
	var shown []string
	for n := range c.Pods {
		p := pod(&c.Pods[n])
		for m := range c.Claims {
			if instance := c.Claims[m].Labels[naming.LabelCNPGInstance]; instance != "" && instance == c.Pods[n].Name {
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

// pod returns a pod with its role and node.
func pod(p *corev1.Pod) Tree {
	i := Tree{Kind: "Pod", Name: p.Name, State: view.Waiting, Reason: string(p.Status.Phase)}
	if role := p.Labels[naming.LabelCNPGInstanceRole]; role != "" {
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
	i.Reason, i.Message = podWaitsFor(p)
	return i
}

// podWaitsFor returns why a pod is not ready: it has no node, or a container waits.
func podWaitsFor(p *corev1.Pod) (reason, message string) {
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

// claim returns a claim with its volume, as the agent of the node observes it.
func claim(c snapshot.Cluster, pvc *corev1.PersistentVolumeClaim, pg *cnpgv1.Cluster) Tree {
	i := Tree{Kind: "PersistentVolumeClaim", Name: pvc.Name, State: view.Waiting, Reason: string(pvc.Status.Phase)}
	if pvc.Status.Phase == corev1.ClaimBound {
		i.State, i.Reason = view.Ready, ""
		size := pvc.Status.Capacity[corev1.ResourceStorage]
		i.Details = append(i.Details, size.String())
	}
	if pvc.Spec.StorageClassName != nil {
		i.Details = append(i.Details, "class "+*pvc.Spec.StorageClassName)
	}
	if slices.Contains(pg.Status.DanglingPVC, pvc.Name) {
		i.Details = append(i.Details, "dangling (no instance uses it)")
	}
	for _, v := range c.Cluster.Status.Volumes {
		if v.Claim == pvc.Name && v.Dataset != "" {
			i.Details = append(i.Details, "dataset "+v.Dataset, fmt.Sprintf("recordsize %dk", v.Recordsize/1024), "node "+v.Node)
		}
	}
	return i
}

// benchmark returns a PgBenchmark without what it depends on.
func (b Builder) benchmark(p *v1alpha1.PgBenchmark) Tree {
	i := b.own("PgBenchmark", p, p.Status.ObservedGeneration, p.Status.Conditions)
	if p.Status.Phase != "" {
		i.Details = append(i.Details, p.Status.Phase)
	}
	if p.Status.BestTPS != "" {
		i.Details = append(i.Details, fmt.Sprintf("%s TPS (%s)", p.Status.BestTPS, view.Or(string(p.Status.Durability))))
		if cpuLimited(p.Status) {
			i.Details = append(i.Details, "set by the declared CPU limit")
		}
	}
	return i
}

// cpuLimited reports whether a CPU limit that the cluster declares set a rate of the benchmark.
func cpuLimited(s v1alpha1.PgBenchmarkStatus) bool {
	var reasons []string
	if s.Run != nil {
		for _, result := range s.Run.Results {
			for _, f := range result.Findings {
				reasons = append(reasons, f.Reason)
			}
		}
	}
	if s.Matrix != nil {
		for _, v := range s.Matrix.Variants {
			for _, run := range v.Runs {
				reasons = append(reasons, run.Findings...)
			}
		}
	}
	return slices.Contains(reasons, validity.ReasonCPULimitReached)
}

// Benchmark returns the tree of a PgBenchmark.
func (b Builder) Benchmark(s snapshot.Benchmark) Tree {
	i := b.benchmark(s.Benchmark)
	what := snapshot.NamedCluster + s.Benchmark.Spec.Cluster
	switch {
	case s.Target == nil && s.Benchmark.Spec.Cluster == "":
	case s.Target == nil:
		target := missing("PgStorageCluster", s.Benchmark.Namespace, s.Benchmark.Spec.Cluster, "the PgStorageCluster does not exist; list the existing ones with kubectl get pgsc")
		i.Children = append(i.Children, target.orNotRead(s.Unread, what))
	default:
		target := b.own("PgStorageCluster", s.Target, s.Target.Status.ObservedGeneration, s.Target.Status.Conditions)
		i.Children = append(i.Children, target)
	}
	for n := range s.Pods {
		i.Children = append(i.Children, pod(&s.Pods[n]))
	}
	i.Children = append(i.Children, unread(s.Unread, what)...)
	return i
}
