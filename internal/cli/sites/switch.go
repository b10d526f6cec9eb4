package sites

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Step of a switch. They are in the order in which they are done.
type Step int

const (
	// Demote sets the primary in the site that writes, which then stops writing.
	Demote Step = iota
	// AwaitDemotion waits until it has stopped, and has a token that says where.
	AwaitDemotion
	// Promote sets primary and token in the site that is to write.
	Promote
	// AwaitPromotion waits until it writes.
	AwaitPromotion
	// AwaitFollowing waits until the site that wrote before follows it.
	AwaitFollowing
	// Done has nothing left to do for these two sites.
	Done
)

// Switch is the two sites of a planned switch, and others that follow, as they were read.
type Switch struct {
	From, To Site
	Also     []Site
}

// Next returns the step that comes next, from the objects alone, so that it also continues
// an interrupted switch. Refusals say why there is none, and what to do.
func (s Switch) Next() (Step, []string) {
	if refusals := s.misplaced(); len(refusals) > 0 {
		return Demote, refusals
	}
	step, refusal := s.step()
	switch {
	case refusal != "":
		return step, []string{refusal}
	case step == Demote:
		return step, s.unready()
	}
	return step, nil
}

// step by which member each site names as the primary.
func (s Switch) step() (Step, string) {
	from, to := s.From.self(), s.To.self()
	switch s.From.primary() {
	case from:
		return Demote, s.notYet()
	case to:
		switch s.To.primary() {
		case to:
			return s.promotion()
		case from:
			return s.demotion()
		}
		return Demote, fmt.Sprintf("spec.topology.primary of %s is %s, while that of %s is %s; set it to %s",
			s.To.named(), s.To.primary(), s.From.named(), to, from)
	}
	return Demote, fmt.Sprintf("spec.topology.primary of %s is %s; run the command for the PgStorageCluster of site %s",
		s.From.named(), s.From.primary(), s.From.primary())
}

// notYet refuses to begin where the site that is to write does not follow the one that writes.
func (s Switch) notYet() string {
	from, to := s.From.self(), s.To.self()
	switch s.To.primary() {
	case from:
		return ""
	case to:
		role := s.To.role()
		if role == v1alpha1.SiteWrites || role == v1alpha1.SitePromoting && !s.To.unproved() {
			return fmt.Sprintf("both sites are to write: %s has spec.topology.primary %s, and %s has %s (%s). Keep clients away from one of them, and set its primary to the other",
				s.From.named(), from, s.To.named(), to, role)
		}
	}
	return fmt.Sprintf("spec.topology.primary of %s is %s, while that of %s is %s; set it to %s first",
		s.To.named(), s.To.primary(), s.From.named(), from, from)
}

// demotion is under way.
func (s Switch) demotion() (Step, string) {
	switch {
	case s.reversed():
		return AwaitDemotion, fmt.Sprintf("a switch the other way is under way: %s is %s. To continue it, run the command for that PgStorageCluster, and name %s with the flags --to-*",
			s.To.named(), s.To.role(), s.From.Place)
	case s.From.demoted():
		return Promote, ""
	}
	return AwaitDemotion, ""
}

// reversed reports whether the site that is to write is the one that is demoted. A token of
// the other one is then of an earlier switch.
func (s Switch) reversed() bool {
	role := s.To.role()
	return s.To.primary() == s.From.self() && role != v1alpha1.SiteFollows && role != ""
}

// promotion is under way, with the token of the other site or without it.
func (s Switch) promotion() (Step, string) {
	switch {
	case s.To.writes() && s.From.is(v1alpha1.ReasonFollowing):
		return Done, ""
	case s.To.writes():
		return AwaitFollowing, ""
	case s.hasToken() && s.To.reports(v1alpha1.ReasonTokenRefused):
		return AwaitPromotion, fmt.Sprintf("%s does not accept the token of site %s: %s", s.To.named(), s.From.self(), s.To.state())
	case !s.lacksToken():
		return AwaitPromotion, ""
	case s.From.demoted():
		return Promote, ""
	}
	return AwaitDemotion, ""
}

// hasToken reports whether the site that is to write has the token of the other one.
func (s Switch) hasToken() bool {
	token := s.To.topology().PromotionToken
	return token != "" && token == s.From.token()
}

// lacksToken reports whether the operator asks for a token, or tries another one. It can
// also promote the site without a token, and must not get one then.
func (s Switch) lacksToken() bool {
	if s.hasToken() || s.To.role() == v1alpha1.SiteWrites {
		return false
	}
	return s.To.unproved() || s.To.reports(v1alpha1.ReasonPromoting) && s.To.topology().PromotionToken != ""
}
