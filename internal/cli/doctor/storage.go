package doctor

import (
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/status"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// oldestZFS is the oldest version that the agent supports.
var oldestZFS = version.MajorMinor(2, 1)

// drivers checks the CSI drivers of the profiles, and their registration on the nodes.
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
			c.capacity(*p)
		}
	}
}

// driver checks that a CSIDriver is installed.
func (c *checker) driver(name, link string) {
	if slices.ContainsFunc(c.facts.Drivers, func(d storagev1.CSIDriver) bool { return d.Name == name }) {
		c.ok("CSIDriver "+name, "installed")
		return
	}
	c.add(Failure, "CSIDriver "+name, "not installed, so no volume can be provisioned", "install the driver", link)
}

// registered checks that the zfs-localpv driver runs on each node of a profile.
func (c *checker) registered(p v1alpha1.PgStorageProfile) {
	for _, n := range c.selected(p) {
		found := false
		for _, csi := range c.facts.CSINodes {
			for _, d := range csi.Spec.Drivers {
				found = found || csi.Name == n.Name && d.Name == zfsvolumes.Driver
			}
		}
		if !found {
			c.add(Failure, "node "+n.Name, "the CSI driver "+zfsvolumes.Driver+" is not registered, so profile "+p.Name+" cannot provision volumes on it", "kubectl pgstorage runbook DriverNotOnNode", "docs/runbooks/DriverNotOnNode.md")
			continue
		}
		c.ok("node "+n.Name, zfsvolumes.Driver+" is registered")
	}
}

// nodes checks the nodes that profiles select.
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
			c.add(Failure, "profile "+p.Name, "no node matches its nodeSelector", "kubectl label node NAME "+labelsOf(p), "docs/spec/pgstorageprofile.md")
		}
		for _, n := range nodes {
			if ready(n) {
				c.ok("node "+n.Name, "Ready, kernel "+view.Or(n.Status.NodeInfo.KernelVersion)+", profile "+p.Name)
				continue
			}
			c.add(Warning, "node "+n.Name, "not Ready; profile "+p.Name+" has storage on it", "kubectl pgstorage runbook NodeNotReady", "docs/runbooks/NodeNotReady.md")
		}
	}
}

// labelsOf returns a nodeSelector as arguments of kubectl label.
func labelsOf(p v1alpha1.PgStorageProfile) string {
	var out []string
	for k, v := range p.Spec.NodeSelector {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// modules checks the OpenZFS versions that the agents report. Volumes in memory need none.
func (c *checker) modules() {
	for i := range c.facts.Storages {
		s := &c.facts.Storages[i]
		if s.Spec.Memory != nil {
			continue
		}
		subject := "ZFS on node " + s.Spec.NodeName
		v := s.Status.ZFSVersion
		if v == nil || v.Kernel == "" {
			c.noModule(subject, s)
			continue
		}
		kernel, userland := release(v.Kernel), release(v.Userland)
		switch {
		case kernel == nil || userland == nil:
			c.add(Unknown, subject, fmt.Sprintf("cannot compare the versions of module %q and tools %q", v.Kernel, v.Userland), "check the output of zfs version on the node", "docs/install.md#the-agent")
		case kernel.LessThan(oldestZFS):
			c.add(Failure, subject, "module "+v.Kernel+" is older than "+oldestZFS.String(), "upgrade OpenZFS on the node", "docs/runbooks/ZFSNotLoaded.md")
		case kernel.Major() != userland.Major() || kernel.Minor() != userland.Minor():
			c.add(Warning, subject, "module "+v.Kernel+" and tools "+v.Userland+" are from different releases", "install both from one release, and reboot the node to load the module", "docs/runbooks/ZFSNotLoaded.md")
		default:
			c.ok(subject, "module "+v.Kernel+", tools "+v.Userland)
		}
	}
}

// release parses what zfs version prints, such as zfs-kmod-2.2.4-1; nil for anything else.
func release(text string) *version.Version {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "zfs-"), "kmod-")
	v, err := version.ParseGeneric(text)
	if err != nil {
		return nil
	}
	return v
}

// noModule reports a missing module, or that no agent has reported its version.
func (c *checker) noModule(subject string, s *v1alpha1.PgNodeStorage) {
	pool := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPoolReady)
	if pool != nil && pool.Reason == v1alpha1.ReasonZFSNotLoaded {
		c.add(Failure, subject, pool.Message, "kubectl pgstorage runbook ZFSNotLoaded", "docs/runbooks/ZFSNotLoaded.md")
		return
	}
	c.add(Unknown, subject, "no agent has reported its version", "kubectl pgstorage runbook AgentNotSeen", "docs/runbooks/PgStorageAgentAbsent.md")
}

// pools checks the pools and volumes in memory that the agents report, and the conditions that
// Ready leaves out.
func (c *checker) pools() {
	for i := range c.facts.Storages {
		s := &c.facts.Storages[i]
		subject, fine := pool(s)
		c.object(subject, "pgnodestorage", s.Generation, s.Status.ObservedGeneration, s.Status.Conditions, fine)
		for _, name := range []string{v1alpha1.ConditionDevicesHealthy, v1alpha1.ConditionCapacityHealthy, v1alpha1.ConditionNodeReachable} {
			if cond := meta.FindStatusCondition(s.Status.Conditions, name); cond != nil && cond.Status != metav1.ConditionTrue {
				remedy, link := c.remedy(cond.Reason, "pgnodestorage")
				c.add(Warning, subject, name+"="+string(cond.Status)+": "+cond.Message, remedy, link)
			}
		}
	}
	c.orphans()
}

// pool returns the subject of a PgNodeStorage, and what is fine if nothing is wrong.
func pool(s *v1alpha1.PgNodeStorage) (subject, fine string) {
	if s.Spec.Memory != nil {
		n := 0
		if s.Status.Memory != nil {
			n = len(s.Status.Memory.Volumes)
		}
		return fmt.Sprintf("memory of profile %s on node %s", s.Spec.Profile, s.Spec.NodeName), fmt.Sprintf("%d volumes", n)
	}
	subject = fmt.Sprintf("pool %s on node %s", s.Spec.Pool.Name, s.Spec.NodeName)
	fine = fmt.Sprintf("%d volumes", countOf(s.Status.VolumeCount))
	if p := s.Status.Pool; p != nil {
		fine = fmt.Sprintf("%s, %d%% used, %s", p.Health, countOf(p.UsedPercent), fine)
	}
	return subject, fine
}

func countOf(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

// profiles checks the profiles and their memory budgets.
func (c *checker) profiles() {
	for _, p := range byName(c.facts.Profiles, func(p v1alpha1.PgStorageProfile) string { return p.Name }) {
		c.object(p.Name, "pgstorageprofile", p.Generation, p.Status.ObservedGeneration, p.Status.Conditions, "type "+string(p.Spec.Type))
		if budget := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionMemoryBudget); budget != nil && budget.Status == metav1.ConditionFalse {
			remedy, link := c.remedy(budget.Reason, "pgstorageprofile")
			c.add(Warning, p.Name, budget.Message, remedy, link)
		}
	}
	if len(c.facts.Profiles) == 0 && !c.blind("PgStorageProfiles") {
		c.add(Note, "profiles", "no profile found; a database needs one", "apply one, such as kubectl apply -f config/samples/profile-standard.yaml", "docs/tutorial-external.md")
	}
}

// clusters checks the databases.
func (c *checker) clusters() {
	var unprotected []string
	for _, cr := range byName(c.facts.Clusters, func(cr v1alpha1.PgStorageCluster) string { return cr.Namespace + "/" + cr.Name }) {
		subject := cr.Namespace + "/" + cr.Name
		c.object(subject, "pgstoragecluster", cr.Generation, cr.Status.ObservedGeneration, cr.Status.Conditions, "durability "+string(cr.Spec.Durability))
		c.backedUp(subject, &cr)
		if status.Unprotected(&cr) {
			unprotected = append(unprotected, subject)
		}
	}
	c.unprotected(unprotected)
}

// object adds a finding about an object of pgstorage, from its conditions.
func (c *checker) object(subject, page string, generation, observed int64, conditions []metav1.Condition, fine string) {
	state, reason, message := status.StateOf(generation, observed, conditions)
	remedy, link := c.remedy(reason, page)
	switch state {
	case view.Ready:
		c.ok(subject, fine)
	case view.Stalled:
		c.add(Failure, subject, reason+": "+message, remedy, link)
	case view.Unknown:
		c.add(Unknown, subject, message, remedy, link)
	default:
		c.add(Warning, subject, reason+": "+message, remedy, link)
	}
}
