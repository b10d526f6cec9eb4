package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"regexp"

	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// page is what the template shows.
type page struct {
	Title  string
	Style  template.CSS
	Blocks []pageBlock
}

type pageBlock struct {
	Heading    string
	Level      int
	Paragraphs []string
	Items      []string
	Figures    []pageFigure
	Table      *pageTable
	Summary    string
	Inner      []pageBlock
}

type pageFigure struct {
	Title string
	Chart template.HTML
	Notes []string
}

type pageTable struct {
	Caption string
	Head    []string
	Rows    [][]pageCell
}

var (
	// interval of a figure, which stays on one line.
	interval = regexp.MustCompile(`\[(-?[0-9.]+), (-?[0-9.]+)\]`)
	// withInterval is a figure with its interval and nothing else: its column is as wide as it needs.
	withInterval = regexp.MustCompile(`^[-+0-9.]+ ` + interval.String() + `$`)
)

// pageCell with the head of its column, which stands beside it where the page is
// too narrow for a table.
type pageCell struct {
	Head, Text string
	Figure     bool
}

// writeHTML as one page that needs nothing else.
func writeHTML(w io.Writer, r Report) error {
	charts, err := r.allCharts()
	if err != nil {
		return err
	}
	ids := 0
	p := page{
		Title: "Benchmark " + r.About.Name,
		Style: template.CSS(pageStyle + chart.Style), //nolint:gosec // G203: both are constants
	}
	for _, b := range r.outline(charts) {
		p.Blocks = append(p.Blocks, newPageBlock(b, &ids))
	}
	return pageTemplate.Execute(w, p)
}

// newPageBlock numbers the charts from ids on.
func newPageBlock(b block, ids *int) pageBlock {
	out := pageBlock{Heading: b.heading, Level: b.level, Paragraphs: b.paragraphs, Items: b.items, Summary: b.summary}
	for _, c := range b.charts {
		*ids++
		out.Figures = append(out.Figures, pageFigure{
			Title: c.Title, Notes: c.Notes,
			Chart: template.HTML(c.Element(fmt.Sprintf("chart-%d", *ids))), //nolint:gosec // G203: Element escapes every text
		})
	}
	if b.table != nil {
		out.Table = newPageTable(*b.table)
	}
	for _, i := range b.inner {
		out.Inner = append(out.Inner, newPageBlock(i, ids))
	}
	return out
}

func newPageTable(t table) *pageTable {
	out := &pageTable{Caption: t.caption, Head: t.head}
	for _, row := range t.rows {
		var cells []pageCell
		for i, text := range row {
			head := ""
			if i < len(t.head) {
				head = t.head[i]
			}
			cells = append(cells, pageCell{head, interval.ReplaceAllString(text, "[$1,\u00a0$2]"), withInterval.MatchString(text)})
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}
