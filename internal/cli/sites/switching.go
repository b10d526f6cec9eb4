package sites

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Switching does a planned switch. It reads the objects before each step, so that it also
// continues an interrupted one.
type Switching struct {
	Runner
	From, To Target
	// Also are sites that follow the new primary at the end.
	Also []Target

	last Switch
	// stopped is when writes stopped; zero where that is not known.
	stopped time.Time
	// turned is true once the sites of Also were patched, and missed names those that were
	// not.
	turned bool
	missed []string
}

// Read the objects of all sites.
func (s *Switching) Read(ctx context.Context) (Switch, error) {
	out, err := s.pair(ctx)
	if err != nil {
		return out, err
	}
	for _, target := range s.Also {
		site, err := target.Read(ctx)
		if err != nil {
			return out, err
		}
		out.Also = append(out.Also, site)
	}
	return out, nil
}

// pair reads the two sites that change their roles.
func (s *Switching) pair(ctx context.Context) (out Switch, err error) {
	if out.From, err = s.From.Read(ctx); err != nil {
		return out, err
	}
	out.To, err = s.To.Read(ctx)
	return out, err
}

// Run does what is left of the switch. It prints each step, and what to do if it ends
// early. ErrRefused means that it printed why a step was refused.
func (s *Switching) Run(ctx context.Context) error {
	err := s.loop(ctx, s.pass, s.overdue)
	if err != nil {
		s.print(s.advice())
	}
	return err
}

func (s *Switching) pass(ctx context.Context) (bool, error) {
	read := s.pair
	if !s.began {
		read = s.Read
	}
	now, err := read(ctx)
	if err != nil {
		return false, err
	}
	s.last = now
	step, refusals := now.Next()
	if len(refusals) > 0 {
		return false, s.refuse(refusals)
	}
	s.announce(step)
	switch step {
	case Demote:
		return s.demote(ctx)
	case Promote:
		return s.promote(ctx)
	case AwaitPromotion:
		s.hear(now.To)
		return false, nil
	}
	return false, s.settle(ctx, step)
}

// announce a step that begins.
func (s *Switching) announce(step Step) {
	resumed := !s.began
	if !s.enter(step) {
		return
	}
	from, to := s.last.From.self(), s.last.To.self()
	if resumed && step > Demote && step < AwaitFollowing {
		s.stopped = demotedAt(s.last.From)
		s.say("continuing a switch that is under way; site %s is not to write", from)
	}
	switch step {
	case AwaitDemotion:
		s.say("waiting until site %s has stopped writing", from)
	case AwaitPromotion:
		s.say("waiting until site %s writes", to)
	case AwaitFollowing:
		s.writesAgain()
		s.say("waiting until site %s follows site %s", from, to)
	case Done:
		if !s.turned {
			s.writesAgain()
		}
	}
}

// demotedAt is when the operator saw that a site was not to write any more.
func demotedAt(s Site) time.Time {
	if c := s.inRole(); c != nil && c.Status != metav1.ConditionTrue {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

func (s *Switching) writesAgain() {
	to := s.last.To.self()
	if s.stopped.IsZero() {
		s.say("site %s writes", to)
		return
	}
	s.say("site %s writes; writes were paused for %s", to, s.Now().Sub(s.stopped).Round(100*time.Millisecond))
	s.stopped = time.Time{}
}

func (s *Switching) demote(ctx context.Context) (bool, error) {
	from, to := s.last.From, s.last.To.self()
	before := s.Now()
	if err := s.From.Patch(ctx, from.demotion(to)); err != nil {
		return false, fmt.Errorf("set spec.topology.primary of %s: %w", from.named(), err)
	}
	s.stopped = before
	s.say("set spec.topology.primary of site %s to %s; writes stop now", from.self(), to)
	return true, nil
}

func (s *Switching) promote(ctx context.Context) (bool, error) {
	to, token := s.last.To, s.last.From.token()
	if err := s.To.Patch(ctx, to.promotion(token)); err != nil {
		return false, fmt.Errorf("set spec.topology.primary and promotionToken of %s: %w", to.named(), err)
	}
	s.say("site %s has stopped writing; gave its token to site %s, whose spec.topology.primary is now %s", s.last.From.self(), to.self(), to.self())
	return true, nil
}

// settle waits for the site that wrote before. Once the other one writes, further sites are
// to follow that.
func (s *Switching) settle(ctx context.Context, step Step) error {
	if step >= AwaitFollowing && !s.turned {
		s.turned = true
		for _, target := range s.Also {
			s.turn(ctx, target)
		}
	}
	if step < Done {
		s.hear(s.last.From)
		return nil
	}
	s.say("site %s follows site %s; the switch is complete", s.last.From.self(), s.last.To.self())
	if len(s.missed) > 0 {
		return final{fmt.Errorf("spec.topology.primary is not %s yet in: %s; run the same command again", s.last.To.self(), strings.Join(s.missed, ", "))}
	}
	return errEnd
}

// attempts to patch a further site, whose operator may write at the same time.
const attempts = 10

// turn has a further site follow the new primary. Its failure does not keep the others.
func (s *Switching) turn(ctx context.Context, target Target) {
	var err error
	for range attempts {
		var site Site
		if site, err = s.follow(ctx, target); err == nil {
			s.say("spec.topology.primary of site %s is %s", site.self(), s.last.To.self())
			return
		}
		if !s.passing(err) || s.Pause(ctx) != nil {
			break
		}
	}
	s.missed = append(s.missed, target.String())
	s.say("  set spec.topology.primary of %s: %v", target.Place, err)
}

func (s *Switching) follow(ctx context.Context, target Target) (Site, error) {
	primary := s.last.To.self()
	site, err := target.Read(ctx)
	switch {
	case err != nil:
		return site, err
	case site.self() == "" || site.self() == primary:
		return site, final{fmt.Errorf("%s is no other site that can follow site %s", target.Place, primary)}
	case site.primary() == primary:
		return site, nil
	}
	return site, target.Patch(ctx, site.following(primary))
}

// overdue is the error of a run that ends early.
func (s *Switching) overdue(why string) error {
	if s.last.To.Object == nil {
		return errors.New(why)
	}
	from, to := s.last.From.named(), s.last.To.named()
	switch s.step {
	case Demote:
		return fmt.Errorf("%s; run the command without --apply to see what was done", why)
	case AwaitDemotion:
		return fmt.Errorf("%s before %s had stopped writing: %s", why, from, s.last.From.state())
	case AwaitFollowing, Done:
		return fmt.Errorf("%s; %s writes, and %s does not follow it yet: %s", why, to, from, s.last.From.state())
	}
	return fmt.Errorf("%s before %s wrote: %s", why, to, s.last.To.state())
}
