package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func (a *app) showVersion() *cobra.Command {
	o := &output{}
	c := versionHelp.command()
	c.Args = cobra.NoArgs
	c.RunE = func(*cobra.Command, []string) error {
		v := map[string]string{"version": a.version, "api": v1alpha1.GroupVersion.String(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
		return o.print(a.streams.Out, v, plain(fmt.Sprintf("kubectl-pgstorage %s, API %s, %s, %s\n", v["version"], v["api"], v["go"], v["platform"])))
	}
	o.flag(c)
	return c
}
