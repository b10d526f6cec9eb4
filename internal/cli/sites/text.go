package sites

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Refusals as text, one a line.
func Refusals(refusals []string) string {
	var b strings.Builder
	for _, r := range refusals {
		b.WriteString("Refused: " + view.Clean(r) + "\n")
	}
	return b.String()
}

// Plan is what --apply would do, from a step on.
func (s Switch) Plan(next Step) string {
	from, to := s.From.self(), s.To.self()
	steps := []struct {
		last Step
		text string
	}{
		{Demote, fmt.Sprintf("Set spec.topology.primary of site %s to %s. Writes stop here.", from, to)},
		{AwaitDemotion, fmt.Sprintf("Wait until site %s has stopped writing. Its status then has a token.", from)},
		{Promote, fmt.Sprintf("Set spec.topology.primary of site %s to %s, with that token as promotionToken.", to, to)},
		{AwaitPromotion, fmt.Sprintf("Wait until site %s writes. Writes continue here.", to)},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Switch from %s to %s:\n", s.From.named(), s.To.named())
	n := 0
	line := func(done bool, text string) {
		n++
		if done {
			text += " (done)"
		}
		fmt.Fprintf(&b, "%3d. %s\n", n, text)
	}
	for _, step := range steps {
		line(step.last < next, step.text)
	}
	left := next < Done
	for _, site := range s.Also {
		line(site.primary() == to, fmt.Sprintf("Set spec.topology.primary of site %s to %s.", site.self(), to))
		left = left || site.primary() != to
	}
	line(next == Done, fmt.Sprintf("Wait until site %s follows site %s.", from, to))
	for _, name := range s.unnamed() {
		fmt.Fprintf(&b, "Site %s is a member, too. It needs %s as its spec.topology.primary afterwards: name it with --also.\n", name, to)
	}
	if left {
		b.WriteString("Nothing was changed. --apply does what is not done.\n")
	} else {
		b.WriteString("Nothing is left to do.\n")
	}
	return b.String()
}

// unnamed members, which the switch leaves as they are.
func (s Switch) unnamed() []string {
	named := []string{s.From.self(), s.To.self()}
	for _, site := range s.Also {
		named = append(named, site.self())
	}
	var out []string
	for _, m := range s.From.topology().Members {
		if !slices.Contains(named, m.Name) {
			out = append(out, m.Name)
		}
	}
	return out
}

// advice on a switch that ends early, by the objects as they were read last. It is empty
// where nothing was changed, or nothing is left to do for the two sites.
func (s *Switching) advice() string {
	from, to := s.last.From, s.last.To
	if !s.began || s.step == Done || from.primary() != to.self() {
		return ""
	}
	again := "To continue, run the same command again.\n"
	switch {
	case to.writes():
		return fmt.Sprintf("Site %s writes. See what site %s waits for: %s\n", to.self(), from.self(), from.plugin("status")) + again
	case to.primary() == to.self() && !to.reports(v1alpha1.ReasonTokenRefused):
		return fmt.Sprintf("Site %s can begin to write at any time, so do not promote site %s. See what it waits for: %s\n", to.self(), from.self(), to.plugin("status")) + again
	case s.last.reversed():
		return again
	}
	return again + s.last.goBack()
}

// goBack is how the site that wrote before writes again, which loses nothing: it has the
// token of its own demotion.
func (s Switch) goBack() string {
	from := s.From.self()
	var b strings.Builder
	fmt.Fprintf(&b, "To go back instead, so that site %s writes again:\n", from)
	if s.To.primary() != from {
		fmt.Fprintf(&b, `  %s patch pgsc %s --type=merge -p '{"spec":{"topology":{"primary":%q,"promotionToken":null}}}'`+"\n", s.To.kubectl(), s.To.Name, from)
	}
	b.WriteString("  " + s.From.restore() + "\n")
	if s.From.token() == "" {
		fmt.Fprintf(&b, "Site %s has that token once it has stopped writing.\n", from)
	}
	return b.String()
}

// restore is the command with which a site that was demoted writes again.
func (s Site) restore() string {
	token := fmt.Sprintf("$(%s get pgsc %s -o jsonpath='{.status.topology.demotionToken}')", s.kubectl(), s.Name)
	return fmt.Sprintf(`%s patch pgsc %s --type=merge -p '{"spec":{"topology":{"primary":%q,"promotionToken":"'%s'"}}}'`, s.kubectl(), s.Name, s.self(), token)
}
