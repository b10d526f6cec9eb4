// Package cli is the kubectl plugin. Its commands read a cluster or files, and print
// what the pure packages below it derive from them. Only bench start, branch create and
// verify write, and adopt, reclone, switch, promote, branch delete and branch promote with
// --apply.
package cli

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
)

// ErrFindings ends a command that has already printed what is wrong; it only sets the
// exit code.
var ErrFindings = errors.New("there are failures")

// app is what the commands share.
type app struct {
	streams genericiooptions.IOStreams
	config  *genericclioptions.ConfigFlags
	version string
	clock   clock.PassiveClock
}

// listedFlags are the connection flags that --help lists. kubectl options lists the
// others.
var listedFlags = []string{"context", "kubeconfig", "namespace", "request-timeout"}

// requestTimeout bounds each request. kubectl has no limit by default, so a server that
// accepts and never answers would block a command indefinitely. bench follow opens its
// watch again after it.
const requestTimeout = "30s"

// New returns the root command. version is the version of the program.
func New(streams genericiooptions.IOStreams, version string) *cobra.Command {
	a := &app{streams: streams, config: genericclioptions.NewConfigFlags(true).WithWarningPrinter(streams), version: version, clock: clock.RealClock{}}
	a.config.Timeout = new(requestTimeout)
	root := rootHelp.command()
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl pgstorage"}
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	a.addFlags(root.PersistentFlags())
	root.AddCommand(a.status(), a.explain(), a.adopt(), a.reclone(), a.switchSites(), a.promote(), a.verify(), a.render(), a.bench(), a.branch(), a.report(), a.doctor(), a.runbook(), a.completion(), a.showVersion())
	return root
}

// addFlags adds the connection flags of kubectl.
func (a *app) addFlags(flags *pflag.FlagSet) {
	a.config.AddFlags(flags)
	flags.Lookup("request-timeout").Usage = "timeout of each request, such as 5s or 2m; 0 disables it"
	flags.VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(listedFlags, f.Name) })
}
