package cli

import (
	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/explain"
)

func (a *app) explain() *cobra.Command {
	o := &output{}
	c := explainHelp.command()
	c.Args = cobra.MinimumNArgs(1)
	c.ValidArgsFunction = a.completeFirst("PgStorageCluster")
	c.RunE = func(c *cobra.Command, args []string) error {
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
