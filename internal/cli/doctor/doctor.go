// Package doctor checks whether a cluster has what pgstorage needs. Each finding says
// what is wrong, what to do, and where to read more. It is pure.
package doctor

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/runbook"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/status"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Facts are what doctor checks: the state of a cluster and the expected state.
type Facts struct {
	// PluginVersion is the version of this program, KubernetesVersion that of the API
	// server.
	PluginVersion, KubernetesVersion string
	// ExpectedCRDs are those of this program, InstalledCRDs those of the cluster, by name.
	ExpectedCRDs  []*apiextensionsv1.CustomResourceDefinition
	InstalledCRDs map[string]*apiextensionsv1.CustomResourceDefinition
	// APIs of other operators; nil if they could not be read.
	APIs *observed.ForeignAPIs
	// Operators are the Deployments of other operators in all namespaces, by the name of the
	// operator.
	Operators map[string][]appsv1.Deployment
	// Managers and Agents in all namespaces.
	Managers []appsv1.Deployment
	Agents   []appsv1.DaemonSet
	// Namespaces of the agents.
	Namespaces []corev1.Namespace
	// ExpectedRole is the ClusterRole of the manager that this program knows, Role that of
	// the cluster; nil if it does not exist.
	ExpectedRole *rbacv1.ClusterRole
	Role         *rbacv1.ClusterRole

	Profiles []v1alpha1.PgStorageProfile
	Storages []v1alpha1.PgNodeStorage
	Clusters []v1alpha1.PgStorageCluster
	Nodes    []corev1.Node
	CSINodes []storagev1.CSINode
	Drivers  []storagev1.CSIDriver
	// Capacities are what drivers report of the room for volumes of a StorageClass.
	Capacities []storagev1.CSIStorageCapacity
	// Volumes are the PersistentVolumes.
	Volumes []corev1.PersistentVolume
	// Permissions of the user.
	Permissions []Permission
	// Unread is what could not be read.
	Unread []snapshot.Unread
}

// Permission is something that the user may be allowed to do.
type Permission struct {
	Verb, Group, Resource, Namespace string
	// For completes "needed", such as "to create databases".
	For     string
	Allowed bool
}

// Level is the severity of a finding.
type Level string

// The levels.
const (
	// OK needs no action.
	OK Level = "OK"
	// Note is information.
	Note Level = "Note"
	// Unknown could not be checked.
	Unknown Level = "Unknown"
	// Warning can become a failure or resolve without action.
	Warning Level = "Warning"
	// Failure prevents something from working until the user acts.
	Failure Level = "Failure"
)

// Finding is the result of one check.
type Finding struct {
	Area    string `json:"area"`
	Level   Level  `json:"level"`
	Subject string `json:"subject"`
	Message string `json:"message"`
	// Remedy and Link are set unless the level is OK.
	Remedy string `json:"remedy,omitempty"`
	Link   string `json:"link,omitempty"`
}

// Runbooks returns the path of the runbook for a reason; empty if it has none.
type Runbooks interface{ Link(reason string) string }

// checker collects findings.
type checker struct {
	facts    Facts
	runbooks Runbooks
	area     string
	findings []Finding
}

// Check runs all checks, area by area.
func Check(f Facts, runbooks Runbooks) []Finding {
	c := &checker{facts: f, runbooks: runbooks}
	for _, check := range []struct {
		area string
		run  func()
	}{
		{"Kubernetes", c.kubernetes},
		{"CRDs", c.crds},
		{"Operator", c.operator},
		{"Other operators", c.foreign},
		{"CSI drivers", c.drivers},
		{"Nodes", c.nodes},
		{"Kernel modules", c.modules},
		{"Pools", c.pools},
		{"Profiles", c.profiles},
		{"Databases", c.clusters},
		{"Permissions", c.permissions},
		{"Not checked", c.unread},
	} {
		c.area = check.area
		check.run()
	}
	return c.findings
}

// Failures returns the number of findings that are failures.
func Failures(findings []Finding) int { return count(findings, Failure) }

func count(findings []Finding, level Level) int {
	n := 0
	for _, f := range findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

// add adds a finding about a subject in the current area.
func (c *checker) add(level Level, subject, message, remedy, link string) {
	if link != "" {
		link = runbook.Site + link
	}
	c.findings = append(c.findings, Finding{Area: c.area, Level: level, Subject: subject, Message: message, Remedy: remedy, Link: link})
}

func (c *checker) ok(subject, message string) { c.add(OK, subject, message, "", "") }

// remedy returns what to do about the reason of a condition, and where to read more.
func (c *checker) remedy(reason, page string) (remedy, link string) {
	if reason == status.NotObserved {
		return "check the findings about the manager and the agents above", "docs/install.md"
	}
	if page := c.runbooks.Link(reason); page != "" {
		return "kubectl pgstorage runbook " + reason, page
	}
	return "follow the message; the condition can also resolve without action", "docs/spec/" + page + ".md"
}

// uses reports whether a profile of one of the types exists.
func (c *checker) uses(types ...v1alpha1.ProfileType) bool {
	return slices.ContainsFunc(c.facts.Profiles, func(p v1alpha1.PgStorageProfile) bool { return slices.Contains(types, p.Spec.Type) })
}

// needsAgent reports whether a profile needs agents on its nodes.
func needsAgent(p v1alpha1.PgStorageProfile) bool {
	return len(p.Spec.NodeSelector) > 0 && (onZFS(p) || p.Spec.Memory != nil)
}

// onZFS reports whether a profile uses ZFS pools of nodes.
func onZFS(p v1alpha1.PgStorageProfile) bool {
	if ceph := p.Spec.CephRBD; ceph != nil {
		return ceph.Cluster != nil && ceph.Cluster.Backing.ZFS != nil
	}
	return p.Spec.ZFSLocalPV != nil || p.Spec.S3NBD != nil
}

// byName returns a copy sorted by name.
func byName[T any](in []T, name func(T) string) []T {
	out := slices.Clone(in)
	slices.SortFunc(out, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	return out
}
