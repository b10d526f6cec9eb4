package chart

import (
	"fmt"
	"html"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Chart with all that is needed to show it.
type Chart struct {
	// Title, and Text that says what is shown to who does not see it.
	Title, Text string

	wide, narrow drawing
}

// fonts that have the same widths as the one that the layout was made with.
const fonts = "Liberation Sans, Arial, Helvetica, sans-serif"

// Element for a page; id is unique there, of letters, digits and hyphens. It has both layouts,
// of which the page hides one. It is safe to be put into HTML and XML: every text in it is
// escaped.
func (c Chart) Element(id string) string {
	return c.svg(id, "wide", c.wide, wide.width) + c.svg(id+"-narrow", "narrow", c.narrow, narrow.width)
}

func (c Chart) svg(id, class string, d drawing, usual vg.Length) string {
	if d.width > usual {
		// It needs more room than its layout has, and is not scaled.
		class += " scrolls"
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" class="chart %s" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="%s" role="img" aria-labelledby="%s-title %s-text">`,
		class, d.width, d.height, d.width, d.height, fonts, id, id) + "\n" + c.titles(id) + d.body + "</svg>\n"
}

func (c Chart) titles(id string) string {
	return fmt.Sprintf("<title id=\"%s-title\">%s</title>\n<desc id=\"%s-text\">%s</desc>\n", id, html.EscapeString(c.Title), id, html.EscapeString(c.Text))
}

const (
	margin     = 12
	titleSize  = 14
	lineHeight = 16
)

// Document is an SVG file of its own with paragraphs, and charts one below the other, each
// under its title.
func Document(title string, paragraphs []string, charts []Chart) string {
	var body strings.Builder
	widest := wide.width
	for _, c := range charts {
		widest = max(widest, c.wide.width)
	}
	at := vg.Length(margin)
	lines := func(text string, size float64, weight string, c colour) {
		room := widest
		if weight != "" {
			// Letters are measured as they are when not bold.
			room *= 0.9
		}
		for _, line := range wrap(text, textStyle(size, c), room) {
			at += lineHeight
			fmt.Fprintf(&body, "<text x=\"%d\" y=\"%.0f\" font-size=\"%.0fpx\"%s fill=\"%s\" class=\"fill-%s\">%s</text>\n",
				margin, at, size, weight, hex(c.light), c.name, html.EscapeString(line))
		}
		at += lineHeight / 4
	}
	const bold = ` font-weight="bold"`
	lines(title, titleSize+2, bold, ink)
	for _, text := range paragraphs {
		lines(text, textSize, "", ink)
	}
	for i, c := range charts {
		at += lineHeight
		lines(c.Title, titleSize, bold, ink)
		id := fmt.Sprintf("chart-%d", i+1)
		fmt.Fprintf(&body, "<svg x=\"%d\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"%s-title %s-text\">\n%s%s</svg>\n",
			margin, at, c.wide.width, c.wide.height, c.wide.width, c.wide.height, id, id, c.titles(id), c.wide.body)
		at += c.wide.height
	}
	w, h := widest+2*margin, at+margin
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" font-family=\"%s\">\n<title>%s</title>\n<desc>%s</desc>\n<style>\n%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"%s\" class=\"fill-%s\"/>\n",
		w, h, w, h, fonts, html.EscapeString(title), html.EscapeString(strings.Join(paragraphs, " ")), Style, hex(paper.light), paper.name) + body.String() + "</svg>\n"
}
