package report

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// narrowest width of text that is kept to.
const narrowest = 40

// text for a terminal.
func text(r Report, o Options) string {
	t := terminal{Options: o}
	for _, b := range r.outline(nil) {
		t.block(b)
	}
	return strings.TrimLeft(t.String(), "\n")
}

type terminal struct {
	Options
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

func (t *terminal) block(b block) {
	if b.heading+b.summary != "" {
		t.heading(b.heading + b.summary)
	}
	for _, p := range b.paragraphs {
		t.wrapped("", p)
	}
	for _, i := range b.items {
		t.wrapped("- ", i)
	}
	if b.table != nil {
		t.table(*b.table)
	}
	for _, l := range b.lines {
		t.WriteString("  " + l + "\n")
	}
	for _, i := range b.inner {
		t.block(i)
	}
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
func (t *terminal) table(content table) {
	t.wrapped("", content.caption+":")
	if content.width() > max(t.Width, narrowest) {
		if len(content.head) == 2 {
			t.pairs(content.rows)
			return
		}
		t.records(content)
		return
	}
	w := tabwriter.NewWriter(t, 0, 0, gap, ' ', 0)
	// Writes to memory do not fail.
	_, _ = fmt.Fprintln(w, strings.Join(content.head, "\t"))
	for _, row := range content.rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush()
}

// gap between columns.
const gap = 2

func (c table) width() int {
	widths := make([]int, len(c.head))
	for _, row := range append([][]string{c.head}, c.rows...) {
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

func (t *terminal) records(content table) {
	longest := 0
	for _, h := range content.head {
		longest = max(longest, utf8.RuneCountInString(h))
	}
	for _, row := range content.rows {
		t.WriteString(join(content.head[0], row[0]) + "\n")
		for i := 1; i < min(len(row), len(content.head)); i++ {
			head := content.head[i]
			t.wrapped("  "+head+strings.Repeat(" ", longest-utf8.RuneCountInString(head)+gap), row[i])
		}
	}
}
