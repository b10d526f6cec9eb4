package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// output is the flag -o of a command.
type output struct {
	format string
	// named adds the format name, for commands that create one object.
	named bool
}

// flag adds -o json|yaml to a command; the default is text.
func (o *output) flag(c *cobra.Command) {
	c.Flags().StringVarP(&o.format, "output", "o", "", "json or yaml instead of text")
	complete(c, "output", "json", "yaml")
}

// createFlag adds -o json|yaml|name to a command that creates one object.
func (o *output) createFlag(c *cobra.Command) {
	o.named = true
	c.Flags().StringVarP(&o.format, "output", "o", "", "json, yaml or name instead of text")
	complete(c, "output", "json", "yaml", "name")
}

// validate returns an error for an unknown format. print does so too, but after a command has
// created its object.
func (o *output) validate() error {
	known := []string{"json", "yaml"}
	if o.named {
		known = append(known, "name")
	}
	if o.format == "" || slices.Contains(known, o.format) {
		return nil
	}
	return fmt.Errorf("--output: unknown format %q; use %s, or omit it for text", o.format, strings.Join(known, " or "))
}

// complete completes a flag with fixed values.
func complete(c *cobra.Command, flag string, values ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // a bug: the flag is registered twice
	}
}

// print writes the value in the format of -o, or the text if it is not set.
func (o *output) print(to io.Writer, value any, text func() (string, error)) error {
	if err := o.validate(); err != nil {
		return err
	}
	var raw []byte
	var err error
	switch o.format {
	case "":
		var s string
		s, err = text()
		raw = []byte(s)
	case "json":
		if raw, err = json.MarshalIndent(value, "", "  "); err == nil {
			raw = append(raw, '\n')
		}
	case "yaml":
		raw, err = yaml.Marshal(value)
	case "name":
		raw = []byte(nameOf(value) + "\n")
	}
	if err != nil {
		return err
	}
	_, err = to.Write(raw)
	return err
}

// nameOf returns what kubectl prints for -o name, such as pgbenchmark.pgstorage.dev/nightly.
// An object that the API server is to name has its prefix.
func nameOf(value any) string {
	o, ok := value.(client.Object)
	if !ok {
		return ""
	}
	kind := o.GetObjectKind().GroupVersionKind()
	return strings.ToLower(kind.Kind) + "." + kind.Group + "/" + cmp.Or(o.GetName(), o.GetGenerateName())
}

// plain returns text that is computed already, for print.
func plain(text string) func() (string, error) {
	return func() (string, error) { return text, nil }
}
