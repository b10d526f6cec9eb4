package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/report/document"
)

// Form of a report.
type Form string

// The forms.
const (
	// Text for a terminal.
	Text Form = "text"
	// HTML is one page without network or script.
	HTML Form = "html"
	// SVG has the charts, one below the other.
	SVG Form = "svg"
	// JSON has everything; Read reads it.
	JSON Form = "json"
	// CSV has one figure in each line.
	CSV Form = "csv"
	// Markdown in the dialect of GitHub.
	Markdown Form = "markdown"
)

// Forms in the order in which messages list them.
var Forms = []Form{Text, HTML, SVG, JSON, CSV, Markdown}

// Options of a form.
type Options struct {
	// Width at which Text wraps paragraphs, in characters. Default: 80. Minimum: 40.
	// Wider tables become records.
	Width int
	// Colour allows Text escape sequences, for a terminal.
	Colour bool
}

// DefaultWidth of Text.
const DefaultWidth = 80

// Write the report in a form. It fails on an unknown form and on errors of w.
func Write(w io.Writer, form Form, r Report, o Options) error {
	if !slices.Contains(Forms, form) {
		return fmt.Errorf("unknown report form %q: use one of %s", form, names())
	}
	if form == JSON {
		return writeJSON(w, r)
	}
	r, err := printable(r)
	if err != nil {
		return fmt.Errorf("report %s: %w", r.About.Name, err)
	}
	if o.Width == 0 {
		o.Width = DefaultWidth
	}
	switch form {
	case CSV:
		err = writeCSV(w, r)
	case HTML:
		err = writeHTML(w, r)
	case SVG:
		err = writeSVG(w, r)
	case Markdown:
		_, err = io.WriteString(w, document.Markdown(r.outline(nil)))
	default:
		_, err = io.WriteString(w, document.Text(r.outline(nil), document.TextOptions{Width: o.Width, Colour: o.Colour}))
	}
	if err != nil {
		return fmt.Errorf("write the report as %s: %w", form, err)
	}
	return nil
}

func writeHTML(w io.Writer, r Report) error {
	charts, err := r.allCharts()
	if err != nil {
		return err
	}
	return document.WriteHTML(w, "Benchmark "+r.About.Name, r.outline(charts))
}

func names() string {
	var all []string
	for _, f := range Forms {
		all = append(all, string(f))
	}
	return strings.Join(all, ", ")
}
