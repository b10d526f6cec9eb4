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

func headline() []Block {
	return []Block{{Headlines: []Headline{{
		Label: "Local", Status: "Valid", Verdict: "a is <best>.", Tone: Better,
		Figures: []Figure{{Name: "TPS", Value: "100", Detail: "mean of 5"}, {Name: "Gate", Value: "Passed", Tone: Better}},
	}}, Items: []string{"one", "two"}, Numbered: true}}
}

func TestHeadlineIsShownInEveryForm(t *testing.T) {
	want := "✓ Local: Valid\n  a is <best>.\n  TPS   100 (mean of 5)\n  Gate  Passed\n\n1. one\n2. two\n"
	if got := Text(headline(), TextOptions{Width: 60}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want = "✓ **Local: Valid.** a is \\<best\\>.\n\n- TPS: **100** mean of 5\n- Gate: **Passed** \n\n1. one\n2. two\n"
	if got := Markdown(headline()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var b strings.Builder
	if err := WriteHTML(&b, "x", headline()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<section class="headline better">`, `a is &lt;best&gt;.`, `<span class="value better">Passed</span>`, "<ol>\n<li>one</li>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got %s, want %q in it", b.String(), want)
		}
	}
}

func TestTableOfThePageHasNumericColumnsAndTones(t *testing.T) {
	var b strings.Builder
	table := &Table{Caption: "x", Head: []string{"name", "delta"}, Rows: [][]string{{"a", "+1.00% (p=0.001 n=5+5)"}}, Numeric: []int{1}, Tones: map[Place]Tone{{0, 1}: Worse}}
	if err := WriteHTML(&b, "x", []Block{{Table: table}}); err != nil {
		t.Fatal(err)
	}
	if want := `<td role="cell" class="numeric figure worse">`; !strings.Contains(b.String(), want) {
		t.Errorf("got %s, want %q in it", b.String(), want)
	}
}

func TestOnlyAFoldedBlockIsClosed(t *testing.T) {
	var b strings.Builder
	inner := []Block{{Paragraphs: []string{"inside"}}}
	if err := WriteHTML(&b, "x", []Block{{Inner: []Block{{Summary: "closed", Inner: inner}, {Summary: "open", Open: true, Inner: inner}}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<details><summary>closed", "<details open><summary>open"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got %s, want %q in it", b.String(), want)
		}
	}
}
