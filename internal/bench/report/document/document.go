// Package document renders an outline for people: as text for a terminal, as Markdown,
// and as one page of HTML. It knows headings, paragraphs, tables and charts, but not
// what they are about.
//
// Every text is shown and never interpreted: Markdown and HTML escape it. The caller
// replaces characters that cannot be printed.
package document

import "github.com/pgstorage/pgstorage/internal/bench/report/chart"

// Block of a document. Its parts are shown in the order of the fields, except that
// Text and Markdown show Lines after the Table.
type Block struct {
	// Heading of Level 1 to 3; empty for none.
	Heading    string
	Level      int
	Paragraphs []string
	Items      []string
	Table      *Table
	// Lines are drawn with characters, for forms without charts. HTML skips them.
	Lines []string
	// Charts are shown by HTML only.
	Charts []chart.Chart
	// Inner blocks. HTML folds the Inner blocks of one with a Summary.
	Summary string
	Inner   []Block
}

// Table whose first column names the row.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// Empty reports whether there is nothing below the heading.
func (b Block) Empty() bool {
	return len(b.Paragraphs)+len(b.Items)+len(b.Lines)+len(b.Charts)+len(b.Inner) == 0 && b.Table == nil
}
