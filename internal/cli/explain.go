package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/explain"
)

// cnpgKinds are the names of CloudNativePG's Cluster, as kubectl takes them.
var cnpgKinds = []string{"cluster.postgresql.cnpg.io", "clusters.postgresql.cnpg.io", "cluster", "clusters"}

// explainForeign explains a CloudNativePG Cluster. Nothing of pgstorage needs to be
// installed.
func (a *app) explainForeign(ctx context.Context, o *output, name string, settings []string) error {
	r, key, err := a.object(name)
	if err != nil {
		return err
	}
	seen, err := r.CNPGCluster(ctx, key)
	if err != nil {
		return err
	}
	all, err := explain.CNPGCluster(seen)
	if err != nil {
		return err
	}
	e, err := all.Only(settings...)
	if err != nil {
		return err
	}
	return o.print(a.streams.Out, e, plain(e.Text(a.style())))
}

func (a *app) explain() *cobra.Command {
	o := &output{}
	c := explainHelp.command()
	c.Args = cobra.MinimumNArgs(1)
	c.ValidArgsFunction = a.completeFirst("PgStorageCluster")
	c.RunE = func(c *cobra.Command, args []string) error {
		if kind, name, found := strings.Cut(args[0], "/"); found {
			if !slices.Contains(cnpgKinds, kind) {
				return fmt.Errorf("unknown kind %q; explain takes the name of a PgStorageCluster, or cluster.postgresql.cnpg.io/NAME", kind)
			}
			return a.explainForeign(c.Context(), o, name, args[1:])
		}
		r, key, err := a.object(args[0])
		if err != nil {
			return err
		}
		seen, err := r.Cluster(c.Context(), key)
		if err != nil {
			return err
		}
		schemas, err := admit.Load(crd.Bases)
		if err != nil {
			return err
		}
		e, err := explain.Cluster(seen, schemas).Only(args[1:]...)
		if err != nil {
			return err
		}
		return o.print(a.streams.Out, e, plain(e.Text(a.style())))
	}
	o.flag(c)
	return c
}
