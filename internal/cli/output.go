package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// output is the flag -o.
type output struct{ format string }

// flag -o json|yaml of a command; text is the default.
func (o *output) flag(c *cobra.Command) {
	c.Flags().StringVarP(&o.format, "output", "o", "", "json or yaml in place of text")
	complete(c, "output", "json", "yaml")
}

// complete a flag with fixed values.
func complete(c *cobra.Command, flag string, values ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // a defect: the flag was registered twice
	}
}

// print a value as data, or text in its place.
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
		return fmt.Errorf("--output: %q is not known; use json or yaml, or leave it out for text", o.format)
	}
	if err != nil {
		return err
	}
	_, err = to.Write(raw)
	return err
}

// plain text that is known already.
func plain(text string) func() (string, error) {
	return func() (string, error) { return text, nil }
}
