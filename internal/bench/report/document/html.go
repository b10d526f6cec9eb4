package document

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

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
	Block
	Headlines []pageHeadline
	Figures   []pageFigure
	Table     *pageTable
	Inner     []pageBlock
}

type pageHeadline struct {
	Headline
	Sign string
}

type pageFigure struct {
	Title string
	Chart template.HTML
}

type pageTable struct {
	Caption string
	Head    []pageCell
	Rows    [][]pageCell
}

var (
	// interval of a figure, which stays on one line.
	interval = regexp.MustCompile(`\[(-?[0-9.]+), (-?[0-9.]+)\]`)
	// withInterval is a figure with its interval and nothing else: its column is as wide as it needs.
	withInterval = regexp.MustCompile(`^[-+0-9.]+ (` + interval.String() + `|± .*)$|\(p=`)
)

// pageCell with the head of its column, which stands beside it where the page is
// too narrow for a table. Class is of the page's style.
type pageCell struct{ Head, Text, Class string }

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
	out := pageBlock{Block: b}
	for _, h := range b.Headlines {
		out.Headlines = append(out.Headlines, pageHeadline{h, h.Tone.sign()})
	}
	for _, c := range b.Charts {
		*ids++
		out.Figures = append(out.Figures, pageFigure{
			Title: c.Title,
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
	out := &pageTable{Caption: t.Caption}
	class := func(column int, text string) string {
		var classes []string
		if slices.Contains(t.Numeric, column) {
			classes = append(classes, "numeric")
		}
		if withInterval.MatchString(text) {
			classes = append(classes, "figure")
		}
		return strings.Join(classes, " ")
	}
	for i, text := range t.Head {
		out.Head = append(out.Head, pageCell{Text: text, Class: class(i, "")})
	}
	for at, row := range t.Rows {
		var cells []pageCell
		for i, text := range row {
			head := ""
			if i < len(t.Head) {
				head = t.Head[i]
			}
			classes := strings.TrimSpace(class(i, text) + " " + string(t.Tones[Place{at, i}]))
			cells = append(cells, pageCell{head, interval.ReplaceAllString(text, "[$1,\u00a0$2]"), classes})
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}
