package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/internal/cli/sites"
)

// promoteOptions are the flags of promote.
type promoteOptions struct {
	runOptions
	sites.Forced
}

func (a *app) promote() *cobra.Command {
	o := &promoteOptions{}
	c := promoteHelp.command()
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = a.completeFirst("PgStorageCluster")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := o.validate(); err != nil {
			return err
		}
		return a.runPromote(c.Context(), o, args[0])
	}
	f := c.Flags()
	f.BoolVar(&o.EvenIfStreaming, "even-if-streaming", false, "promote the site although it still receives WAL from the one that writes")
	f.BoolVar(&o.EvenIfDemoted, "even-if-demoted", false, "promote the site although a switch demoted it, without its own token")
	o.flags(f, "promote the site; commits that it has not received are lost")
	return c
}

func (a *app) runPromote(ctx context.Context, o *promoteOptions, name string) error {
	namespace, err := a.namespace()
	if err != nil {
		return err
	}
	target, err := a.site(sites.Place{Context: *a.config.Context, Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	if o.apply {
		outlive()
	}
	p := &sites.Promoting{Runner: a.siteRunner(&o.runOptions), Site: target, Forced: o.Forced}
	now, err := p.Read(ctx)
	if err != nil {
		return err
	}
	step, refusals := now.Next()
	if _, err := fmt.Fprint(a.streams.Out, promotionText(now, step, refusals, o.apply)); err != nil {
		return err
	}
	switch {
	case len(refusals) > 0:
		return ErrFindings
	case step == sites.Done || !o.apply:
		return nil
	}
	return refused(p.Run(ctx))
}

// promotionText is what is known of the loss, or why the site is not promoted.
func promotionText(now sites.Unplanned, step sites.Step, refusals []string, apply bool) string {
	switch {
	case len(refusals) > 0:
		return sites.Refusals(refusals)
	case step == sites.Done:
		return fmt.Sprintf("Site %s writes. Nothing is left to do.\n", now.Object.Spec.Topology.Self)
	case apply:
		return now.Known() + "\n"
	}
	return now.Known() + "\nNothing was changed. --apply promotes the site.\n"
}
