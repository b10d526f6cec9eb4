package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPaintColoursOnlyWithColour(t *testing.T) {
	for _, tc := range []struct {
		style Style
		state State
		want  string
	}{
		{Style{}, Stalled, "text"},
		{Style{Colour: true}, Stalled, "\x1b[31mtext\x1b[0m"},
		{Style{Colour: true}, Ready, "\x1b[32mtext\x1b[0m"},
		{Style{Colour: true}, Exists, "text"},
	} {
		if got := tc.style.Paint(tc.state, "text"); got != tc.want {
			t.Errorf("%+v %s: %q, want %q", tc.style, tc.state, got, tc.want)
		}
	}
	if got := (Style{Colour: true}).Strong(""); got != "" {
		t.Errorf("Strong of an empty text is %q, want an empty text", got)
	}
}

func TestBarClampsPercent(t *testing.T) {
	for percent, want := range map[int32]string{-5: "[..........]", 0: "[..........]", 9: "[..........]", 10: "[#.........]", 55: "[#####.....]", 100: "[##########]", 250: "[##########]"} {
		if got := Bar(percent, 10); got != want {
			t.Errorf("Bar(%d) is %s, want %s", percent, got, want)
		}
	}
}

func TestCleanRemovesControlCharacters(t *testing.T) {
	const hostile = "a\x1b[31mred\x1b[0m\r\nnew\tline\u009b2J é"
	if got := Clean(hostile); got != "a [31mred [0m  new line 2J é" {
		t.Errorf("%q", got)
	}
	if got := Columns([]string{hostile}); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\r\u009b") {
		t.Errorf("%q", got)
	}
	if got := CleanLines("two\x1b[2J\r\nlines\x9b\n"); got != "two [2J \nlines\ufffd\n" {
		t.Errorf("%q", got)
	}
}

func TestColumnsAreAligned(t *testing.T) {
	got := Columns([]string{"NAME", "VALUE", "WHY"}, []string{"a", "1", ""}, []string{"a-long-name", Or(""), "because"})
	want := "NAME          VALUE   WHY\na             1\na-long-name   -       because\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
