package sites

import (
	"context"
	"errors"
	"fmt"
)

// Promoting does an unplanned promotion.
type Promoting struct {
	Runner
	Site Target
	Forced

	last Unplanned
	// asked is true once this run has patched the site. The operator removes the consent
	// when it has used it, and must not get it twice.
	asked bool
}

// Read the site.
func (p *Promoting) Read(ctx context.Context) (Unplanned, error) {
	site, err := p.Site.Read(ctx)
	return Unplanned{Site: site, Forced: p.Forced}, err
}

// Run does what is left of the promotion. ErrRefused means that it printed why a step was
// refused.
func (p *Promoting) Run(ctx context.Context) error {
	return p.loop(ctx, p.pass, p.overdue)
}

func (p *Promoting) pass(ctx context.Context) (bool, error) {
	now, err := p.Read(ctx)
	if err != nil {
		return false, err
	}
	p.last = now
	step, refusals := now.Next()
	if step == Promote && p.asked && len(now.unusable()) == 0 {
		step, refusals = AwaitPromotion, nil
	}
	if len(refusals) > 0 {
		return false, p.refuse(refusals)
	}
	first := p.enter(step)
	switch step {
	case Promote:
		return p.promote(ctx)
	case Done:
		p.say("site %s writes", now.self())
		return false, errEnd
	}
	if first {
		p.say("waiting until site %s writes", now.self())
	}
	p.hear(now.Site)
	return false, nil
}

func (p *Promoting) promote(ctx context.Context) (bool, error) {
	if err := p.Site.Patch(ctx, p.last.unplanned()); err != nil {
		return false, fmt.Errorf("promote %s: %w", p.last.named(), err)
	}
	p.asked = true
	p.say("set spec.topology.primary of site %s to %s, and consented to the loss", p.last.self(), p.last.self())
	return true, nil
}

// overdue is the error of a run that ends early.
func (p *Promoting) overdue(why string) error {
	if p.last.Object == nil || p.last.Object.Spec.Topology == nil {
		return errors.New(why)
	}
	return fmt.Errorf("%s before %s wrote: %s; run the same command again, which continues. See what it waits for: %s", why, p.last.named(), p.last.state(), p.last.plugin("status"))
}
