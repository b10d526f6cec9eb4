// Package document renders an outline for people: as text for a terminal, as Markdown,
// and as one page of HTML. It knows headlines, headings, paragraphs, tables and charts, but not
// what they are about.
//
// Every text is shown and never interpreted: Markdown and HTML escape it. The caller
// replaces characters that cannot be printed.
package document

import (
	"unicode/utf8"

	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
)

// Block of a document. Its parts are shown in the order of the fields, except that
// Text and Markdown show Lines after the Table.
type Block struct {
	// Heading of Level 1 to 3; empty for none.
	Heading    string
	Level      int
	Headlines  []Headline
	Paragraphs []string
	// Items of a list, with numbers from 1 if Numbered.
	Items    []string
	Numbered bool
	Table    *Table
	// Lines are drawn with characters, for forms without charts. HTML skips them.
	Lines []string
	// Charts are shown by HTML only.
	Charts []chart.Chart
	// Inner blocks. HTML folds the Inner blocks of one with a Summary, unless it is Open.
	Summary string
	Open    bool
	Inner   []Block
}

// Headline of a document: a verdict, and the few figures that matter.
type Headline struct {
	// Label says what it is about. Status is the verdict in a few words, and Verdict in a
	// sentence.
	Label, Status, Verdict string
	Tone                   Tone
	Figures                []Figure
}

// Figure of a Headline.
type Figure struct {
	Name, Value, Detail string
	Tone                Tone
}

// Long reports whether the value is a name rather than a figure.
func (f Figure) Long() bool {
	const longest = 18
	return utf8.RuneCountInString(f.Value) > longest
}

// Tone of a verdict or a figure. HTML shows it as a colour, and a verdict has a sign too.
type Tone string

// The tones.
const (
	Plain   Tone = ""
	Better  Tone = "better"
	Warning Tone = "warning"
	Worse   Tone = "worse"
)

// sign of a tone, so that colour is not all that shows it.
func (t Tone) sign() string {
	return map[Tone]string{Better: "✓", Warning: "!", Worse: "✗"}[t]
}

// Table whose first column names the row.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	// Numeric columns are aligned to the right.
	Numeric []int
	// Tones of cells.
	Tones map[Place]Tone
}

// Place of a cell in the rows of a Table, from 0.
type Place struct{ Row, Column int }

// Empty reports whether there is nothing below the heading.
func (b Block) Empty() bool {
	return len(b.Headlines)+len(b.Paragraphs)+len(b.Items)+len(b.Lines)+len(b.Charts)+len(b.Inner) == 0 && b.Table == nil
}
