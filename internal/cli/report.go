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
)

// reportOptions are the flags of report.
type reportOptions struct{ form, file, from string }

func (a *app) report() *cobra.Command {
	o := &reportOptions{}
	c := &cobra.Command{
		Use:   "report NAME",
		Short: "Report on a benchmark, with intervals, comparisons and charts",
		Long: `Report on a benchmark, with intervals, comparisons and charts.

Of a PgBenchmark, single or with a matrix, it shows each variant with its 95 %
interval, which differences can be claimed within a durability tier, what is to
be thought of each run, latencies and the course of every run. It is made of the
records that the runs left; where one is missing, of what the status says, and
the report says so. What is not whole is said to be so, and is not ranked.

The form is text, markdown, html (one page that needs nothing else), svg (the
charts), csv or json; by default the one that the ending of --file says, or else
text. What json wrote is shown in another form by --from, without a cluster.`,
		Example: `  kubectl pgstorage report tiers
  kubectl pgstorage report tiers -f tiers.html
  kubectl pgstorage report tiers -o json -f tiers.json
  kubectl pgstorage report --from tiers.json -o markdown`,
		Args: func(_ *cobra.Command, args []string) error {
			if (len(args) == 1) == (o.from == "") {
				return nil
			}
			return errors.New("report needs either the NAME of a PgBenchmark or --from with the file of an older report")
		},
		ValidArgsFunction: a.completeFirst("PgBenchmark"),
		RunE:              func(c *cobra.Command, args []string) error { return a.writeReport(c.Context(), args, *o) },
	}
	var forms []string
	for _, f := range report.Forms {
		forms = append(forms, string(f))
	}
	c.Flags().StringVarP(&o.form, "output", "o", "", "form: "+strings.Join(forms, ", "))
	complete(c, "output", forms...)
	c.Flags().StringVarP(&o.file, "file", "f", "", "write to this file, and over it where it is there, in place of the standard output")
	c.Flags().StringVar(&o.from, "from", "", "show this file, which -o json wrote, in place of a PgBenchmark; - is the standard input")
	return c
}

// endings of files that say a form.
var endings = map[string]report.Form{
	".md": report.Markdown, ".html": report.HTML, ".htm": report.HTML, ".svg": report.SVG, ".csv": report.CSV, ".json": report.JSON,
}

// asked is the form that the flags ask for.
func (o reportOptions) asked() (report.Form, error) {
	form := report.Form(o.form)
	if o.form == "" {
		form = report.Text
		if f, says := endings[strings.ToLower(filepath.Ext(o.file))]; says {
			form = f
		}
	}
	if !slices.Contains(report.Forms, form) {
		return "", fmt.Errorf("--output: %q is not known; use one of %v", o.form, report.Forms)
	}
	return form, nil
}

func (a *app) writeReport(ctx context.Context, args []string, o reportOptions) error {
	form, err := o.asked()
	if err != nil {
		return err
	}
	terminal := o.file == "" && printers.IsTerminal(a.streams.Out)
	if terminal && (form == report.HTML || form == report.SVG) {
		return fmt.Errorf("%s is for a browser, not for a terminal: write it to a file by -f report.%s", form, form)
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
		return os.WriteFile(o.file, content.Bytes(), 0o644) //nolint:gosec // G306: a report is for everybody
	}
	_, err = a.streams.Out.Write(content.Bytes())
	return err
}

// readReport of a PgBenchmark, or an older one of a file.
func (a *app) readReport(ctx context.Context, args []string, from string) (report.Report, error) {
	if from != "" {
		return a.olderReport(from)
	}
	r, err := a.reader()
	if err != nil {
		return report.Report{}, err
	}
	key, err := a.key(args[0])
	if err != nil {
		return report.Report{}, err
	}
	seen, err := r.Measured(ctx, key)
	if err != nil {
		return report.Report{}, err
	}
	return clireport.Report(seen)
}

func (a *app) olderReport(from string) (report.Report, error) {
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
