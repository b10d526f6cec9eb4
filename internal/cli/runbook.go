package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/internal/cli/view"
)

func (a *app) runbook() *cobra.Command {
	o := &output{}
	c := &cobra.Command{
		Use:   "runbook [REASON]",
		Short: "Show what to do about a reason or an alert",
		Long: `Show what to do about a reason of a condition, or about an alert.

The pages come with this program, so no network is needed. Upper and lower case
are the same. Without a reason all pages are listed, with the reasons that a page
is for besides its own name.`,
		Example: `  kubectl pgstorage runbook PoolLost
  kubectl pgstorage runbook`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			pages, err := book()
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return pages.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			pages, err := book()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				page, err := pages.Page(args[0])
				if err != nil {
					return err
				}
				return o.print(a.streams.Out, map[string]string{"reason": args[0], "markdown": page}, plain(page))
			}
			rows := [][]string{{"NAME", "ALSO FOR", "LINK"}}
			for _, e := range pages.List() {
				rows = append(rows, []string{e.Name, view.Or(strings.Join(e.Also, ", ")), e.URL})
			}
			return o.print(a.streams.Out, pages.List(), plain(view.Columns(rows...)))
		},
	}
	o.flag(c)
	return c
}
