package document

import (
	"strings"
	"testing"
)

// blocks with every part that text forms show.
func blocks() []Block {
	return []Block{{
		Heading: "Title", Level: 1, Paragraphs: []string{"one two three four five six seven eight nine ten"}, Items: []string{"an item"},
		Table: &Table{Caption: "Figures", Head: []string{"name", "value"}, Rows: [][]string{{"a|b", "1"}}},
		Lines: []string{"drawn"},
		Inner: []Block{{Summary: "More", Inner: []Block{{Paragraphs: []string{"inside"}}}}},
	}}
}

func TestTextWrapsParagraphsAtTheWidth(t *testing.T) {
	want := "Title\none two three four five six seven eight\nnine ten\n- an item\nFigures:\nname  value\na|b   1\n  drawn\n\nMore\ninside\n"
	if got := Text(blocks(), TextOptions{Width: 40}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTableWiderThanTheTerminalBecomesRecords(t *testing.T) {
	long := strings.Repeat("x", 30)
	wide := []Block{{Table: &Table{Caption: "Figures", Head: []string{"name", "first", "second"}, Rows: [][]string{{"a", long, long}}}}}
	want := "Figures:\nname a\n  first   " + long + "\n  second  " + long + "\n"
	if got := Text(wide, TextOptions{Width: 60}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMarkdownEscapesTheBarsOfTables(t *testing.T) {
	want := `
Figures:

| name | value |
|---|---|
| a\|b | 1 |
`
	if got := Markdown(blocks()); !strings.Contains(got, want) {
		t.Errorf("got %q, want the table %q", got, want)
	}
}

func TestHTMLEscapesTexts(t *testing.T) {
	var b strings.Builder
	if err := WriteHTML(&b, "<title>", []Block{{Heading: "<h>", Level: 1}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>&lt;title&gt;</title>", "<h1>&lt;h&gt;</h1>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got %s, want %q in it", b.String(), want)
		}
	}
}

func TestOnlyABlockWithContentIsNotEmpty(t *testing.T) {
	if b := (Block{Heading: "x", Level: 1}); !b.Empty() {
		t.Error("a heading alone: got not empty, want empty")
	}
	if b := blocks()[0]; b.Empty() {
		t.Error("a block with a table: got empty, want not empty")
	}
}
