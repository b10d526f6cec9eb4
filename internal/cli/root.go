// Package cli is the kubectl plugin: commands that read a cluster or files, and show
// what pure packages beneath make of it. Only bench start writes anything.
package cli

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/docs/runbooks"
	"github.com/pgstorage/pgstorage/internal/cli/runbook"
)

// ErrFindings ends a command that has printed what is wrong, so that only the exit
// code is left to tell.
var ErrFindings = errors.New("there are failures")

// app is what commands share.
type app struct {
	streams genericiooptions.IOStreams
	config  *genericclioptions.ConfigFlags
	version string
	clock   clock.PassiveClock
}

// shown are the flags of the connection that help lists; the others are those of
// kubectl options.
var shown = []string{"context", "kubeconfig", "namespace", "request-timeout"}

// requestTimeout limits each request, where kubectl's default is no limit: a server
// that accepts and never answers would hold a command forever. Watches are opened
// again when it is over.
const requestTimeout = "30s"

// New is the command, with the version of the program.
func New(streams genericiooptions.IOStreams, version string) *cobra.Command {
	a := &app{streams: streams, config: genericclioptions.NewConfigFlags(true).WithWarningPrinter(streams), version: version, clock: clock.RealClock{}}
	a.config.Timeout = new(requestTimeout)
	root := &cobra.Command{
		Use:   "kubectl-pgstorage",
		Short: "Look after Postgres on storage that fits it",
		Long: `Look after Postgres on storage that fits it.

A PgStorageProfile says how storage is made, a PgStorageCluster asks for a
database on it, and a PgBenchmark measures one. These commands show what stands
on what and why, plan offline what would be made, and check a cluster before
and while it is used.`,
		Example: `  # Is everything there that pgstorage needs?
  kubectl pgstorage doctor

  # What would be made of these files? No cluster is asked.
  kubectl pgstorage render -f profile.yaml -f cluster.yaml --node node-1

  # What does the database shop stand on, and what is waited for?
  kubectl pgstorage status shop

  # Why is shared_buffers as it is?
  kubectl pgstorage explain shop shared_buffers`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl pgstorage"},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	a.config.AddFlags(root.PersistentFlags())
	root.PersistentFlags().Lookup("request-timeout").Usage = "limit of each request, such as 5s or 2m; 0 is none"
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(shown, f.Name) })
	root.AddCommand(a.status(), a.explain(), a.render(), a.bench(), a.report(), a.doctor(), a.runbook(), a.completion(), a.showVersion())
	return root
}

// book of the runbooks that come with the program.
func book() (*runbook.Book, error) { return runbook.Open(runbooks.Pages) }
