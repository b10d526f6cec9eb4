package document

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// narrowest width of text that is kept to.
const narrowest = 40

// TextOptions select how Text is shown.
type TextOptions struct {
	// Width in characters at which paragraphs wrap; below 40 it is 40. A table that is
	// wider is shown as a record for each row.
	Width int
	// Colour allows escape sequences, for a terminal.
	Colour bool
}

// Text for a terminal, without charts.
func Text(blocks []Block, o TextOptions) string {
	t := terminal{TextOptions: o}
	for _, b := range blocks {
		t.block(b)
	}
	return strings.TrimLeft(t.String(), "\n")
}

type terminal struct {
	TextOptions
	strings.Builder
}

// Escape sequences (ECMA-48, SGR).
const (
	bold  = "\x1b[1m"
	plain = "\x1b[0m"
)

func (t *terminal) heading(text string) {
	t.WriteByte('\n')
	if t.Colour {
		text = bold + text + plain
	}
	t.WriteString(text + "\n")
}

func (t *terminal) block(b Block) {
	if b.Heading+b.Summary != "" {
		t.heading(b.Heading + b.Summary)
	}
	for _, h := range b.Headlines {
		t.headline(h)
	}
	for _, p := range b.Paragraphs {
		t.wrapped("", p)
	}
	for n, i := range b.Items {
		t.wrapped(b.mark(n), i)
	}
	if b.Table != nil {
		t.table(*b.Table)
	}
	for _, l := range b.Lines {
		t.WriteString("  " + l + "\n")
	}
	for _, i := range b.Inner {
		t.block(i)
	}
}

// mark before an item.
func (b Block) mark(item int) string {
	if b.Numbered {
		return fmt.Sprintf("%d. ", item+1)
	}
	return "- "
}

// headline as the verdict, and a line for each figure.
func (t *terminal) headline(h Headline) {
	t.wrapped(h.Tone.sign()+" ", h.Label+": "+h.Status)
	t.wrapped("  ", h.Verdict)
	var rows [][]string
	for _, f := range h.Figures {
		rows = append(rows, []string{"  " + f.Name, f.text()})
	}
	t.pairs(rows)
	t.WriteByte('\n')
}

// text of a figure, with its detail.
func (f Figure) text() string {
	if f.Detail == "" {
		return f.Value
	}
	return f.Value + " (" + f.Detail + ")"
}

// wrapped text behind a mark, at spaces.
func (t *terminal) wrapped(mark, text string) {
	room := max(t.Width, narrowest) - utf8.RuneCountInString(mark)
	indent := strings.Repeat(" ", utf8.RuneCountInString(mark))
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > room {
			t.WriteString(mark + line + "\n")
			mark, line = indent, ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	t.WriteString(mark + line + "\n")
}

// table in columns as wide as they need to be, or, where that is wider than the
// terminal, a record for each row.
func (t *terminal) table(content Table) {
	t.wrapped("", content.Caption+":")
	if content.width() > max(t.Width, narrowest) {
		if len(content.Head) == 2 {
			t.pairs(content.Rows)
			return
		}
		t.records(content)
		return
	}
	w := tabwriter.NewWriter(t, 0, 0, gap, ' ', 0)
	// Writes to memory do not fail.
	_, _ = fmt.Fprintln(w, strings.Join(content.Head, "\t"))
	for _, row := range content.Rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush()
}

// gap between columns.
const gap = 2

func (c Table) width() int {
	widths := make([]int, len(c.Head))
	for _, row := range append([][]string{c.Head}, c.Rows...) {
		for i := range min(len(row), len(widths)) {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	total := 0
	for _, w := range widths {
		total += w + gap
	}
	return total - gap
}

// pairs of a name and a text, the text wrapped beside the name.
func (t *terminal) pairs(rows [][]string) {
	longest := 0
	for _, row := range rows {
		longest = max(longest, utf8.RuneCountInString(row[0]))
	}
	for _, row := range rows {
		t.wrapped(row[0]+strings.Repeat(" ", longest-utf8.RuneCountInString(row[0])+gap), row[1])
	}
}

func (t *terminal) records(content Table) {
	longest := 0
	for _, h := range content.Head {
		longest = max(longest, utf8.RuneCountInString(h))
	}
	for _, row := range content.Rows {
		t.WriteString(strings.Join(strings.Fields(content.Head[0]+" "+row[0]), " ") + "\n")
		for i := 1; i < min(len(row), len(content.Head)); i++ {
			head := content.Head[i]
			t.wrapped("  "+head+strings.Repeat(" ", longest-utf8.RuneCountInString(head)+gap), row[i])
		}
	}
}
