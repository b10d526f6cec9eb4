package document

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

// WriteHTML writes one page that needs nothing else: no network and no script.
func WriteHTML(w io.Writer, title string, blocks []Block) error {
	ids := 0
	p := page{
		Title: title,
		Style: template.CSS(pageStyle + chart.Style), //nolint:gosec // G203: both are constants
	}
	for _, b := range blocks {
		p.Blocks = append(p.Blocks, newPageBlock(b, &ids))
	}
	return pageTemplate.Execute(w, p)
}

// newPageBlock numbers the charts from ids on.
func newPageBlock(b Block, ids *int) pageBlock {
	out := pageBlock{Heading: b.Heading, Level: b.Level, Paragraphs: b.Paragraphs, Items: b.Items, Summary: b.Summary}
	for _, c := range b.Charts {
		*ids++
		out.Figures = append(out.Figures, pageFigure{
			Title: c.Title, Notes: c.Notes,
			Chart: template.HTML(c.Element(fmt.Sprintf("chart-%d", *ids))), //nolint:gosec // G203: Element escapes every text
		})
	}
	if b.Table != nil {
		out.Table = newPageTable(*b.Table)
	}
	for _, i := range b.Inner {
		out.Inner = append(out.Inner, newPageBlock(i, ids))
	}
	return out
}

func newPageTable(t Table) *pageTable {
	out := &pageTable{Caption: t.Caption, Head: t.Head}
	for _, row := range t.Rows {
		var cells []pageCell
		for i, text := range row {
			head := ""
			if i < len(t.Head) {
				head = t.Head[i]
			}
			cells = append(cells, pageCell{head, interval.ReplaceAllString(text, "[$1,\u00a0$2]"), withInterval.MatchString(text)})
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}
