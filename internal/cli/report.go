package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/pgstorage/pgstorage/internal/bench/report"
	clireport "github.com/pgstorage/pgstorage/internal/cli/report"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
)

// reportOptions are the flags of report.
type reportOptions struct{ form, file, from string }

func (a *app) report() *cobra.Command {
	o := &reportOptions{}
	c := reportHelp.command()
	c.Args = func(_ *cobra.Command, args []string) error {
		if (len(args) > 0) == (o.from == "") {
			return nil
		}
		return errors.New("report needs either the NAME of a PgBenchmark or --from FILE")
	}
	c.ValidArgsFunction = a.completeFirst("PgBenchmark")
	c.RunE = func(c *cobra.Command, args []string) error { return a.writeReport(c.Context(), args, *o) }
	var forms []string
	for _, f := range report.Forms {
		forms = append(forms, string(f))
	}
	c.Flags().StringVarP(&o.form, "output", "o", "", "form of the report: "+strings.Join(forms, ", "))
	complete(c, "output", forms...)
	c.Flags().StringVarP(&o.file, "file", "f", "", "file to write instead of the standard output; an existing file is overwritten")
	c.Flags().StringVar(&o.from, "from", "", "report to show, as -o json wrote it, instead of a PgBenchmark; - is the standard input")
	return c
}

// formsByExtension are the forms that the extension of --file selects.
var formsByExtension = map[string]report.Form{
	".md": report.Markdown, ".html": report.HTML, ".htm": report.HTML, ".svg": report.SVG, ".csv": report.CSV, ".json": report.JSON,
}

// selected returns the form that the flags select.
func (o reportOptions) selected() (report.Form, error) {
	form := report.Form(o.form)
	if o.form == "" {
		form = report.Text
		if f, known := formsByExtension[strings.ToLower(filepath.Ext(o.file))]; known {
			form = f
		}
	}
	if !slices.Contains(report.Forms, form) {
		return "", fmt.Errorf("--output: unknown form %q; use one of %v", o.form, report.Forms)
	}
	return form, nil
}

func (a *app) writeReport(ctx context.Context, args []string, o reportOptions) error {
	form, err := o.selected()
	if err != nil {
		return err
	}
	terminal := o.file == "" && printers.IsTerminal(a.streams.Out)
	if terminal && (form == report.HTML || form == report.SVG) {
		return fmt.Errorf("--output %s needs a browser; write it to a file with -f report.%s", form, form)
	}
	r, err := a.readReport(ctx, args, o.from)
	if err != nil {
		return err
	}
	options := report.Options{}
	if terminal {
		options = report.Options{Width: widthOf(a.streams.Out), Colour: printers.AllowsColorOutput(a.streams.Out)}
	}
	var content bytes.Buffer
	if err := report.Write(&content, form, r, options); err != nil {
		return err
	}
	if o.file != "" {
		return os.WriteFile(o.file, content.Bytes(), 0o644) //nolint:gosec // G306: anyone may read a report
	}
	_, err = a.streams.Out.Write(content.Bytes())
	return err
}

// readReport reads the report of one PgBenchmark or several, or the one that a file holds.
func (a *app) readReport(ctx context.Context, args []string, from string) (report.Report, error) {
	if from != "" {
		return a.reportFromFile(from)
	}
	var all []snapshot.Records
	for _, name := range args {
		r, key, err := a.object(name)
		if err != nil {
			return report.Report{}, err
		}
		seen, err := r.Records(ctx, key)
		if err != nil {
			return report.Report{}, err
		}
		all = append(all, seen)
	}
	return clireport.Assemble(all...)
}

// reportFromFile reads a report that -o json wrote.
func (a *app) reportFromFile(from string) (report.Report, error) {
	in := a.streams.In
	if from != "-" {
		f, err := os.Open(from)
		if err != nil {
			return report.Report{}, fmt.Errorf("--from: %w", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	r, err := report.Read(in)
	if err != nil {
		return report.Report{}, fmt.Errorf("--from %s: %w", from, err)
	}
	return r, nil
}
