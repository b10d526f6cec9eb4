package sites

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// postgresPort is where a member listens that names no port.
const postgresPort = 5432

// unusable says what keeps the operator from switching a site.
func (s Site) unusable() []string {
	var out []string
	if s.Object.Spec.Topology == nil {
		return []string{fmt.Sprintf("PgStorageCluster %s has no spec.topology, so its database has only one site; add it, or name another object", s.Place)}
	}
	if s.Object.DeletionTimestamp != nil {
		out = append(out, fmt.Sprintf("%s is being deleted", s.named()))
	}
	if suspended := s.Object.Spec.Suspend; suspended != nil && *suspended {
		out = append(out, fmt.Sprintf("%s is suspended, so the operator does nothing for it; set its spec.suspend to false", s.named()))
	}
	return out
}

// misplaced says what is wrong with the objects, whatever the step.
func (s Switch) misplaced() []string {
	out := slices.Concat(s.From.unusable(), s.To.unusable())
	if s.From.Object.Spec.Topology == nil || s.To.Object.Spec.Topology == nil {
		return out
	}
	if s.From.self() == s.To.self() {
		return append(out, fmt.Sprintf("spec.topology.self of %s and of %s is %s; name the PgStorageCluster of another site with --to-context, --to-namespace and --to-name",
			s.From.Place, s.To.Place, s.From.self()))
	}
	out = append(out, differences(s.From, s.To)...)
	for _, site := range []Site{s.From, s.To} {
		if _, ok := member(site, site.self()); !ok {
			out = append(out, fmt.Sprintf("spec.topology.members of %s does not list %s; add it in every site", site.Place, site.self()))
		}
	}
	if s.To.Object.Annotations[naming.AnnotationPromote] != "" {
		out = append(out, fmt.Sprintf("%s has the annotation %s, which promotes it without a token, so commits can be lost. Wait until the operator removes it, or use: %s annotate pgsc %s %s-",
			s.To.named(), naming.AnnotationPromote, s.To.kubectl(), s.To.Name, naming.AnnotationPromote))
	}
	return append(out, s.otherSites()...)
}

// otherSites says what is wrong with the sites that follow the new primary at the end.
func (s Switch) otherSites() []string {
	var out []string
	seen := []string{s.From.self(), s.To.self()}
	for _, site := range s.Also {
		out = append(out, site.unusable()...)
		if site.Object.Spec.Topology == nil {
			continue
		}
		if slices.Contains(seen, site.self()) {
			out = append(out, fmt.Sprintf("--also %s is site %s, which is named already; omit it", site.Place, site.self()))
			continue
		}
		seen = append(seen, site.self())
		out = append(out, differences(s.From, site)...)
		if p := site.primary(); p != s.From.self() && p != s.To.self() {
			out = append(out, fmt.Sprintf("spec.topology.primary of %s is %s, which is none of the two sites to switch; set it to %s", site.named(), p, s.From.self()))
		}
	}
	return out
}

// differences between the members of two sites.
func differences(a, b Site) []string {
	var out []string
	report := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("spec.topology.members of %s and %s differ: ", a.Place, b.Place)+fmt.Sprintf(format, args...)+"; make them equal")
	}
	for _, m := range a.topology().Members {
		other, ok := member(b, m.Name)
		switch {
		case !ok:
			report("only the first has %s", m.Name)
		case m.Host != other.Host || port(m) != port(other):
			report("%s is at %s:%d and at %s:%d", m.Name, m.Host, port(m), other.Host, port(other))
		case m.TLS != other.TLS:
			report("the Secrets in tls of %s", m.Name)
		}
	}
	for _, m := range b.topology().Members {
		if _, ok := member(a, m.Name); !ok {
			report("only the second has %s", m.Name)
		}
	}
	return out
}

func member(s Site, name string) (v1alpha1.SiteMember, bool) {
	members := s.topology().Members
	i := slices.IndexFunc(members, func(m v1alpha1.SiteMember) bool { return m.Name == name })
	if i < 0 {
		return v1alpha1.SiteMember{}, false
	}
	return members[i], true
}

func port(m v1alpha1.SiteMember) int32 {
	if m.Port == nil {
		return postgresPort
	}
	return *m.Port
}

// unready says why writes cannot stop yet: a site that is not healthy, or that is behind,
// makes their pause longer.
func (s Switch) unready() []string {
	var out []string
	if !s.From.writes() {
		out = append(out, fmt.Sprintf("%s does not write as declared: %s; wait until its condition %s is True with reason %s",
			s.From.named(), s.From.state(), v1alpha1.ConditionSiteInRole, v1alpha1.ReasonWriting))
	}
	if !s.To.is(v1alpha1.ReasonFollowing) {
		out = append(out, fmt.Sprintf("%s does not follow site %s as declared: %s; wait until its condition %s is True with reason %s",
			s.To.named(), s.From.self(), s.To.state(), v1alpha1.ConditionSiteInRole, v1alpha1.ReasonFollowing))
	}
	for _, name := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionFollowersCaughtUp} {
		if !meta.IsStatusConditionTrue(s.To.Object.Status.Conditions, name) {
			out = append(out, fmt.Sprintf("condition %s of %s is not True: %s; writes would pause until it is, so wait for it first",
				name, s.To.named(), describe(s.To.condition(name))))
		}
	}
	return out
}
