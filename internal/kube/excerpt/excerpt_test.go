package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTruncate(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		most       int
		want       string
	}{
		{"nothing", "", 5, ""},
		{"shorter", "abc", 5, "abc"},
		{"as long", "abcde", 5, "abcde"},
		{"longer", "abcdef", 5, "ab..."},
		{"two bytes that fit", "aä-----", 6, "aä..."},
		{"two bytes of which one would fit", "aä-----", 5, "a..."},
		{"four bytes of which three would fit", "a🙂-----", 7, "a..."},
		{"four bytes that fit", "a🙂-----", 8, "a🙂..."},
		{"no room for the mark", "äbc", 2, "ä"},
		{"no room for a character", "äbc", 1, ""},
		{"no room", "abc", 0, ""},
		{"less than none", "abc", -1, ""},
		{"nothing in less than none", "", -1, ""},
		{"no UTF-8", "a\xff\xfeb", 9, "a\uFFFDb"},
		{"no UTF-8, and longer once it is", "\xffab", 4, "..."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Truncate(tc.text, tc.most); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("pool tank is suspended", 10)
	f.Add("Größe \xff 🙂", 9)
	f.Fuzz(func(t *testing.T, text string, most int) {
		got := Truncate(text, most)
		if len(got) > max(most, 0) || !utf8.ValidString(got) {
			t.Errorf("%q is not valid text of at most %d bytes", got, most)
		}
		if begin := strings.TrimSuffix(got, mark); !strings.HasPrefix(strings.ToValidUTF8(text, "\uFFFD"), begin) {
			t.Errorf("%q does not begin %q", got, text)
		}
	})
}

func TestLastLineIsPrintableAndBounded(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		most       int
		want       string
	}{
		{"empty", "", 100, ""},
		{"blank lines only", "\n \t\n", 100, ""},
		{"the last that says something", "first\nlast\n\n", 100, "last"},
		{"carriage returns end lines", "first\rlast", 100, "last"},
		{"colours and bells", "\x1b[31mfailed\a\x1b[0m", 100, "[31mfailed[0m"},
		{"a reversed direction of writing", "a\u202eb", 100, "ab"},
		{"tabs and double spaces", "a\t b  c", 100, "a b c"},
		{"invalid UTF-8", "a\xffb", 100, "a\ufffdb"},
		{"too long", strings.Repeat("x", 20), 10, "xxxxxxx..."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := LastLine(tc.text, tc.most); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for _, tc := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, "a"},
		{[]string{"a", "b"}, "a, b"},
		{[]string{"a", "b", "c"}, "a, b and 1 more"},
		{[]string{"a", "b", "c", "d"}, "a, b and 2 more"},
	} {
		if got := Names(tc.names, 2); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.names, got, tc.want)
		}
	}
}
