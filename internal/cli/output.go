package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// output is the flag -o of a command.
type output struct{ format string }

// flag adds -o json|yaml to a command; the default is text.
func (o *output) flag(c *cobra.Command) {
	c.Flags().StringVarP(&o.format, "output", "o", "", "json or yaml instead of text")
	complete(c, "output", "json", "yaml")
}

// complete completes a flag with fixed values.
func complete(c *cobra.Command, flag string, values ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // a bug: the flag is registered twice
	}
}

// print writes the value as JSON or YAML, or the text if -o is not set.
func (o *output) print(to io.Writer, value any, text func() (string, error)) error {
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
	default:
		return fmt.Errorf("--output: unknown format %q; use json or yaml, or omit it for text", o.format)
	}
	if err != nil {
		return err
	}
	_, err = to.Write(raw)
	return err
}

// plain returns text that is computed already, for print.
func plain(text string) func() (string, error) {
	return func() (string, error) { return text, nil }
}
