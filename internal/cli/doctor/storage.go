package doctor

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/status"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// oldestZFS that the agent takes.
var oldestZFS = version.MajorMinor(2, 1)

// drivers of the profiles that exist, and their registration on the selected nodes.
func (c *checker) drivers() {
	if c.blind("CSIDrivers") || c.blind("CSINodes") {
		return
	}
	if c.usesZFS() {
		c.driver(zfsvolumes.Driver, "docs/runbooks/DriverNotInstalled.md")
	}
	for i := range c.facts.Profiles {
		p := &c.facts.Profiles[i]
		if kind, err := catalog.For(p.Spec.Type); err == nil && kind.Hooks().Plugin.Driver != nil {
			c.driver(kind.Hooks().Plugin.Driver(p))
		}
		if onZFS(*p) {
			c.registered(*p)
		}
	}
}

func (c *checker) driver(name, link string) {
	if slices.Contains(c.facts.Drivers, name) {
		c.ok("CSIDriver "+name, "is installed")
		return
	}
	c.say(Failure, "CSIDriver "+name, "is not installed, so no volume can be made", "install the driver", link)
}

// registered: the driver runs on each node of a profile.
func (c *checker) registered(p v1alpha1.PgStorageProfile) {
	for _, n := range c.selected(p) {
		found := false
		for _, csi := range c.facts.CSINodes {
			for _, d := range csi.Spec.Drivers {
				found = found || csi.Name == n.Name && d.Name == zfsvolumes.Driver
			}
		}
		if !found {
			c.say(Failure, "node "+n.Name, "the CSI driver "+zfsvolumes.Driver+" is not registered there, so profile "+p.Name+" can have no volume on it", "kubectl pgstorage runbook DriverNotOnNode", "docs/runbooks/DriverNotOnNode.md")
			continue
		}
		c.ok("node "+n.Name, zfsvolumes.Driver+" is registered")
	}
}

// nodes that profiles select.
func (c *checker) nodes() {
	if c.blind("Nodes") {
		return
	}
	for _, p := range c.facts.Profiles {
		if len(p.Spec.NodeSelector) == 0 {
			continue
		}
		nodes := c.selected(p)
		if len(nodes) == 0 {
			c.say(Failure, "profile "+p.Name, "no node has the labels of its nodeSelector", "kubectl label node NAME "+labelsOf(p), "docs/spec/pgstorageprofile.md")
		}
		for _, n := range nodes {
			if ready(n) {
				c.ok("node "+n.Name, "is Ready, kernel "+view.Or(n.Status.NodeInfo.KernelVersion)+", of profile "+p.Name)
				continue
			}
			c.say(Warning, "node "+n.Name, "is not Ready, and profile "+p.Name+" has storage there", "kubectl pgstorage runbook NodeNotReady", "docs/runbooks/NodeNotReady.md")
		}
	}
}

// labelsOf a nodeSelector as kubectl label takes them.
func labelsOf(p v1alpha1.PgStorageProfile) string {
	var out []string
	for k, v := range p.Spec.NodeSelector {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// modules of the kernel, as the agents report them.
func (c *checker) modules() {
	for i := range c.facts.Storages {
		s := &c.facts.Storages[i]
		subject := "ZFS on node " + s.Spec.NodeName
		v := s.Status.ZFSVersion
		if v == nil || v.Kernel == "" {
			c.noModule(subject, s)
			continue
		}
		kernel, userland := release(v.Kernel), release(v.Userland)
		switch {
		case kernel == nil || userland == nil:
			c.say(Unknown, subject, fmt.Sprintf("module %q and tools %q are no versions that can be compared", v.Kernel, v.Userland), "see zfs version on the node", "docs/install.md#the-agent")
		case kernel.LessThan(oldestZFS):
			c.say(Failure, subject, "module "+v.Kernel+" is older than "+oldestZFS.String(), "upgrade OpenZFS on the node", "docs/runbooks/ZFSNotLoaded.md")
		case kernel.Major() != userland.Major() || kernel.Minor() != userland.Minor():
			c.say(Warning, subject, "module "+v.Kernel+" and tools "+v.Userland+" are of different releases", "install both from one release, and reboot so that the module is loaded", "docs/runbooks/ZFSNotLoaded.md")
		default:
			c.ok(subject, "module "+v.Kernel+", tools "+v.Userland)
		}
	}
}

// release of what zfs version prints, such as zfs-kmod-2.2.4-1; nil for anything else.
func release(text string) *version.Version {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "zfs-"), "kmod-")
	v, err := version.ParseGeneric(text)
	if err != nil {
		return nil
	}
	return v
}

// noModule: the agent says that there is none, or nobody has looked.
func (c *checker) noModule(subject string, s *v1alpha1.PgNodeStorage) {
	pool := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPoolReady)
	if pool != nil && pool.Reason == v1alpha1.ReasonZFSNotLoaded {
		c.say(Failure, subject, pool.Message, "kubectl pgstorage runbook ZFSNotLoaded", "docs/runbooks/ZFSNotLoaded.md")
		return
	}
	c.say(Unknown, subject, "no agent has reported it", "kubectl pgstorage runbook AgentNotSeen", "docs/runbooks/PgStorageAgentAbsent.md")
}

// pools as the agents have read them, and what does not take part in their Ready.
func (c *checker) pools() {
	for i := range c.facts.Storages {
		s := &c.facts.Storages[i]
		subject := fmt.Sprintf("pool %s on node %s", s.Spec.Pool.Name, s.Spec.NodeName)
		fine := fmt.Sprintf("%d volumes", countOf(s.Status.VolumeCount))
		if p := s.Status.Pool; p != nil {
			fine = fmt.Sprintf("%s, %d%% used, %s", p.Health, countOf(p.UsedPercent), fine)
		}
		c.judge(subject, "pgnodestorage", s.Generation, s.Status.ObservedGeneration, s.Status.Conditions, fine)
		for _, name := range []string{v1alpha1.ConditionDevicesHealthy, v1alpha1.ConditionCapacityHealthy, v1alpha1.ConditionNodeReachable} {
			if cond := meta.FindStatusCondition(s.Status.Conditions, name); cond != nil && cond.Status != metav1.ConditionTrue {
				remedy, link := c.reason(cond.Reason, "pgnodestorage")
				c.say(Warning, subject, name+"="+string(cond.Status)+": "+cond.Message, remedy, link)
			}
		}
	}
}

func countOf(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

func (c *checker) profiles() {
	for _, p := range byName(c.facts.Profiles, func(p v1alpha1.PgStorageProfile) string { return p.Name }) {
		c.judge(p.Name, "pgstorageprofile", p.Generation, p.Status.ObservedGeneration, p.Status.Conditions, "type "+string(p.Spec.Type))
		if budget := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionMemoryBudget); budget != nil && budget.Status == metav1.ConditionFalse {
			remedy, link := c.reason(budget.Reason, "pgstorageprofile")
			c.say(Warning, p.Name, budget.Message, remedy, link)
		}
	}
	if len(c.facts.Profiles) == 0 && !c.blind("PgStorageProfiles") {
		c.say(Note, "profiles", "there is none yet, and a database needs one", "kubectl apply -f config/samples/profile-standard.yaml is the simplest", "docs/tutorial-external.md")
	}
}

func (c *checker) clusters() {
	for _, cr := range byName(c.facts.Clusters, func(cr v1alpha1.PgStorageCluster) string { return cr.Namespace + "/" + cr.Name }) {
		c.judge(cr.Namespace+"/"+cr.Name, "pgstoragecluster", cr.Generation, cr.Status.ObservedGeneration, cr.Status.Conditions, "durability "+string(cr.Spec.Durability))
	}
}

// judge an object of one of our kinds by its conditions.
func (c *checker) judge(subject, page string, generation, observed int64, conditions []metav1.Condition, fine string) {
	state, reason, message := status.Judge(generation, observed, conditions)
	remedy, link := c.reason(reason, page)
	switch state {
	case view.Ready:
		c.ok(subject, fine)
	case view.Stalled:
		c.say(Failure, subject, reason+": "+message, remedy, link)
	case view.Unknown:
		c.say(Unknown, subject, message, remedy, link)
	default:
		c.say(Warning, subject, reason+": "+message, remedy, link)
	}
}
