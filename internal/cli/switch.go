package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/internal/cli/sites"
)

// switchOptions are the flags of switch.
type switchOptions struct {
	runOptions
	to   sites.Place
	also []string
}

func (a *app) switchSites() *cobra.Command {
	o := &switchOptions{}
	c := switchHelp.command()
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = a.completeFirst("PgStorageCluster")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := o.validate(); err != nil {
			return err
		}
		return a.runSwitch(c.Context(), o, args[0])
	}
	f := c.Flags()
	f.StringVar(&o.to.Context, "to-context", "", "kubeconfig context of the site that is to write (default: the current one)")
	f.StringVar(&o.to.Namespace, "to-namespace", "", "namespace of the site that is to write (default: the current one)")
	f.StringVar(&o.to.Name, "to-name", "", "PgStorageCluster of the site that is to write (default: NAME)")
	f.StringArrayVar(&o.also, "also", nil, "CONTEXT/NAMESPACE/NAME of a further site, which is to follow the new primary; repeatable")
	o.flags(f, "switch the sites; writes are paused meanwhile")
	if err := c.RegisterFlagCompletionFunc("to-context", a.completeContexts); err != nil {
		panic(err) // a bug: the flag is registered twice
	}
	return c
}

func (a *app) runSwitch(ctx context.Context, o *switchOptions, name string) error {
	s, err := a.switching(o, name)
	if err != nil {
		return err
	}
	if o.apply {
		outlive()
		return refused(s.Run(ctx))
	}
	now, err := s.Read(ctx)
	if err != nil {
		return err
	}
	step, refusals := now.Next()
	if len(refusals) > 0 {
		if _, err := fmt.Fprint(a.streams.Out, sites.Refusals(refusals)); err != nil {
			return err
		}
		return ErrFindings
	}
	_, err = fmt.Fprint(a.streams.Out, now.Plan(step))
	return err
}

// switching connects to all sites.
func (a *app) switching(o *switchOptions, name string) (*sites.Switching, error) {
	places, err := a.places(o, name)
	if err != nil {
		return nil, err
	}
	var targets []sites.Target
	for _, place := range places {
		target, err := a.site(place)
		if err != nil {
			return nil, err
		}
		targets = append(targets, target)
	}
	return &sites.Switching{Runner: a.siteRunner(&o.runOptions), From: targets[0], To: targets[1], Also: targets[2:]}, nil
}

// places of the site that writes, of the one that is to write, and of further ones.
func (a *app) places(o *switchOptions, name string) ([]sites.Place, error) {
	namespace, err := a.namespace()
	if err != nil {
		return nil, err
	}
	from := sites.Place{Context: *a.config.Context, Namespace: namespace, Name: name}
	to := sites.Place{Context: cmp.Or(o.to.Context, from.Context), Namespace: cmp.Or(o.to.Namespace, namespace), Name: cmp.Or(o.to.Name, name)}
	if from == to || to.Context == a.currentContext() && to.Namespace == namespace && to.Name == name {
		return nil, errors.New("name the PgStorageCluster of the site that is to write with --to-context, --to-namespace or --to-name")
	}
	out := []sites.Place{from, to}
	for _, text := range o.also {
		place, err := placeOf(text)
		if err != nil {
			return nil, err
		}
		place.Context = cmp.Or(place.Context, from.Context)
		out = append(out, place)
	}
	return out, nil
}
