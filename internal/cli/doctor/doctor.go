// Package doctor judges what was read of a cluster before and while pgstorage is
// used: each finding says what is wrong, what to do, and where to read on. It is pure.
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

// Facts of a cluster.
type Facts struct {
	// Plugin is the version of this program, and Kubernetes that of the API server.
	Plugin, Kubernetes string
	// Wanted are the CRDs of this program; Found those of the cluster, by name.
	Wanted []*apiextensionsv1.CustomResourceDefinition
	Found  map[string]*apiextensionsv1.CustomResourceDefinition
	// APIs of other operators; nil where they could not be read.
	APIs *observed.ForeignAPIs
	// Managers and Agents of all namespaces, by their labels.
	Managers []appsv1.Deployment
	Agents   []appsv1.DaemonSet
	// Namespaces of managers and agents.
	Namespaces []corev1.Namespace
	// WantedRole of the manager is this program's; Role that of the cluster, nil where
	// there is none.
	WantedRole *rbacv1.ClusterRole
	Role       *rbacv1.ClusterRole

	Profiles []v1alpha1.PgStorageProfile
	Storages []v1alpha1.PgNodeStorage
	Clusters []v1alpha1.PgStorageCluster
	Nodes    []corev1.Node
	CSINodes []storagev1.CSINode
	// Drivers are the names of CSIDrivers.
	Drivers []string
	// Permissions of the person who asks.
	Permissions []Permission
	// Unread is what could not be read.
	Unread []snapshot.Unread
}

// Permission that was asked about.
type Permission struct {
	Verb, Group, Resource, Namespace string
	// For is what it is needed for, in words.
	For     string
	Allowed bool
}

// Level of a finding.
type Level string

// The levels.
const (
	// OK is as it should be.
	OK Level = "OK"
	// Note is worth knowing.
	Note Level = "Note"
	// Unknown could not be looked at.
	Unknown Level = "Unknown"
	// Warning can become a failure, or passes by itself.
	Warning Level = "Warning"
	// Failure keeps something from working until somebody acts.
	Failure Level = "Failure"
)

// Finding about one thing.
type Finding struct {
	Area    string `json:"area"`
	Level   Level  `json:"level"`
	Subject string `json:"subject"`
	Message string `json:"message"`
	// Remedy and Link of what is not OK.
	Remedy string `json:"remedy,omitempty"`
	Link   string `json:"link,omitempty"`
}

// Runbooks says where the page for a reason is; empty where there is none.
type Runbooks interface{ Link(reason string) string }

// checker collects findings.
type checker struct {
	facts    Facts
	runbooks Runbooks
	area     string
	findings []Finding
}

// Check everything, area by area.
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
		{"Drivers", c.drivers},
		{"Nodes", c.nodes},
		{"Kernel modules", c.modules},
		{"Pools", c.pools},
		{"Profiles", c.profiles},
		{"Databases", c.clusters},
		{"Permissions", c.permissions},
		{"Not looked at", c.unread},
	} {
		c.area = check.area
		check.run()
	}
	return c.findings
}

// Failures counts the findings that are failures.
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

func (c *checker) say(level Level, subject, message, remedy, link string) {
	if link != "" {
		link = runbook.Site + link
	}
	c.findings = append(c.findings, Finding{Area: c.area, Level: level, Subject: subject, Message: message, Remedy: remedy, Link: link})
}

func (c *checker) ok(subject, message string) { c.say(OK, subject, message, "", "") }

// reason is the remedy and link of a condition's reason; the message has the cause.
func (c *checker) reason(reason, page string) (remedy, link string) {
	if reason == status.NotObserved {
		return "see what is said of manager and agents above", "docs/install.md"
	}
	if page := c.runbooks.Link(reason); page != "" {
		return "kubectl pgstorage runbook " + reason, page
	}
	return "do what the message says; it may pass by itself", "docs/spec/" + page + ".md"
}

// uses says whether a profile of one of the types exists.
func (c *checker) uses(types ...v1alpha1.ProfileType) bool {
	return slices.ContainsFunc(c.facts.Profiles, func(p v1alpha1.PgStorageProfile) bool { return slices.Contains(types, p.Spec.Type) })
}

// needsAgent: profiles that make pools on nodes.
func needsAgent(p v1alpha1.PgStorageProfile) bool { return len(p.Spec.NodeSelector) > 0 && onZFS(p) }

// onZFS: what the profile makes stands on pools of the nodes.
func onZFS(p v1alpha1.PgStorageProfile) bool {
	if ceph := p.Spec.CephRBD; ceph != nil {
		return ceph.Cluster != nil && ceph.Cluster.Backing.ZFS != nil
	}
	return p.Spec.ZFSLocalPV != nil || p.Spec.S3NBD != nil
}

// byName sorts what has a name.
func byName[T any](in []T, name func(T) string) []T {
	out := slices.Clone(in)
	slices.SortFunc(out, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	return out
}
