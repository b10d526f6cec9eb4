package cli

import (
	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/explain"
)

func (a *app) explain() *cobra.Command {
	o := &output{}
	c := &cobra.Command{
		Use:   "explain NAME [SETTING...]",
		Short: "Say how a database and its storage are set, and why",
		Long: `Say how a database and its storage are set, and why.

Three things of a PgStorageCluster: what an acknowledged commit survives, each
parameter of Postgres that the operator sets, and each property of pool and
datasets beneath it, with what the nodes' agents have read back.

The source of a parameter is the first of these that has a value:

  Safety     the durability tier, or a proof that is missing
  User       spec.postgres.parameters
  Profile    what the storage asks for
  Computed   by pgtune's rules from resources and workload

What is not listed has CloudNativePG's default, or Postgres' own. Of a property
the source is Profile where the profile has another value than the default.
With names of settings only those are shown.`,
		Example: `  kubectl pgstorage explain shop
  kubectl pgstorage explain shop work_mem recordsize
  kubectl pgstorage explain shop -o yaml`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeFirst("PgStorageCluster"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := a.reader()
			if err != nil {
				return err
			}
			key, err := a.key(args[0])
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
		},
	}
	o.flag(c)
	return c
}
