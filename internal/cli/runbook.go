package cli

import (
	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/docs/runbooks"
	"github.com/pgstorage/pgstorage/internal/cli/runbook"
)

func (a *app) runbook() *cobra.Command {
	o := &output{}
	c := runbookHelp.command()
	c.Args = cobra.MaximumNArgs(1)
	c.ValidArgsFunction = completeRunbooks
	c.RunE = func(_ *cobra.Command, args []string) error {
		book, err := openRunbooks()
		if err != nil {
			return err
		}
		if len(args) == 0 {
			return o.print(a.streams.Out, book.List(), plain(runbook.Text(book.List())))
		}
		page, err := book.Page(args[0])
		if err != nil {
			return err
		}
		return o.print(a.streams.Out, map[string]string{"reason": args[0], "markdown": page}, plain(page))
	}
	o.flag(c)
	return c
}

// openRunbooks returns the runbooks that are part of the program.
func openRunbooks() (*runbook.Book, error) { return runbook.Open(runbooks.Pages) }

// completeRunbooks completes the reasons and alerts that have a runbook.
func completeRunbooks(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	book, err := openRunbooks()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return book.Names(), cobra.ShellCompDirectiveNoFileComp
}
