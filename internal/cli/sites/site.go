// Package sites decides how another site of a database becomes the one that writes, and
// does the steps through a small interface. It is pure otherwise: its caller connects,
// and gives the time.
package sites

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Place is where the PgStorageCluster of a site is.
type Place struct {
	// Context of the kubeconfig; empty for the current one.
	Context         string
	Namespace, Name string
}

func (p Place) String() string {
	if p.Context == "" {
		return p.Namespace + "/" + p.Name
	}
	return fmt.Sprintf("%s/%s in context %s", p.Namespace, p.Name, p.Context)
}

// kubectl is how a command line for this place begins.
func (p Place) kubectl() string {
	if p.Context == "" {
		return "kubectl -n " + p.Namespace
	}
	return "kubectl --context " + quoted(p.Context) + " -n " + p.Namespace
}

// plugin is the command line of a command of this program for this place.
func (p Place) plugin(command string) string {
	line := "kubectl pgstorage " + command + " " + p.Name + " -n " + p.Namespace
	if p.Context != "" {
		line += " --context " + quoted(p.Context)
	}
	return line
}

var plain = regexp.MustCompile(`^[-\w.:/@%+=]+$`)

// quoted is a word of a shell.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Site is the PgStorageCluster of one site, as it was read.
type Site struct {
	Place
	Object *v1alpha1.PgStorageCluster
}

// topology is empty where the object has none.
func (s Site) topology() v1alpha1.TopologySpec {
	if s.Object.Spec.Topology == nil {
		return v1alpha1.TopologySpec{}
	}
	return *s.Object.Spec.Topology
}

func (s Site) self() string    { return s.topology().Self }
func (s Site) primary() string { return s.topology().Primary }

// named is the site with its place.
func (s Site) named() string { return fmt.Sprintf("site %s (%s)", s.self(), s.Place) }

// role that the operator reports; empty where it reports none.
func (s Site) role() v1alpha1.SiteRole {
	if s.Object.Status.Topology == nil {
		return ""
	}
	return s.Object.Status.Topology.Role
}

// token of the last demotion; empty where the operator reports none.
func (s Site) token() string {
	if s.Object.Status.Topology == nil {
		return ""
	}
	return s.Object.Status.Topology.DemotionToken
}

func (s Site) condition(name string) *metav1.Condition {
	return meta.FindStatusCondition(s.Object.Status.Conditions, name)
}

// inRole is the condition SiteInRole if it describes the current spec, and nil otherwise.
func (s Site) inRole() *metav1.Condition {
	c := s.condition(v1alpha1.ConditionSiteInRole)
	if c == nil || c.ObservedGeneration != s.Object.Generation {
		return nil
	}
	return c
}

// is reports whether the site is in its role, for a reason, as the current spec declares.
func (s Site) is(reason string) bool {
	c := s.inRole()
	return c != nil && c.Status == metav1.ConditionTrue && c.Reason == reason
}

// reports says whether the operator gives one of these reasons of the current spec.
func (s Site) reports(reasons ...string) bool {
	c := s.inRole()
	return c != nil && slices.Contains(reasons, c.Reason)
}

// unproved reports whether the operator does not promote the site, because nothing proves
// that another one has stopped writing.
func (s Site) unproved() bool {
	return s.reports(v1alpha1.ReasonTokenRequired, v1alpha1.ReasonTokenRefused)
}

// writes reports whether the site is the one that writes, as the current spec declares.
func (s Site) writes() bool {
	return s.role() == v1alpha1.SiteWrites && s.is(v1alpha1.ReasonWriting)
}

// demoted reports whether the site has stopped writing since its current spec, and has the
// token of that.
func (s Site) demoted() bool {
	return s.role() == v1alpha1.SiteDemoted && s.token() != "" && s.inRole() != nil
}

// state is what the operator says of the site's role, in one line.
func (s Site) state() string {
	c := s.inRole()
	if c == nil {
		return "the operator has not observed the current spec"
	}
	return describe(c)
}

// describe a condition in one line, without control characters.
func describe(c *metav1.Condition) string {
	if c == nil {
		return "not reported"
	}
	return view.Clean(fmt.Sprintf("%s: %s", c.Reason, c.Message))
}
