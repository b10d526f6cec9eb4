package document

import (
	"strings"
)

// Markdown in GitHub's dialect, without charts.
func Markdown(blocks []Block) string {
	var b strings.Builder
	for _, block := range blocks {
		markdownBlock(&b, block)
	}
	return strings.TrimLeft(b.String(), "\n")
}

func markdownBlock(b *strings.Builder, block Block) {
	switch {
	case block.Summary != "":
		b.WriteString("\n**" + escaped(block.Summary) + "**\n")
	case block.Heading != "":
		b.WriteString("\n" + strings.Repeat("#", block.Level) + " " + escaped(block.Heading) + "\n")
	}
	for _, h := range block.Headlines {
		markdownHeadline(b, h)
	}
	for _, p := range block.Paragraphs {
		b.WriteString("\n" + escaped(p) + "\n")
	}
	if len(block.Items) > 0 {
		b.WriteByte('\n')
	}
	for n, i := range block.Items {
		b.WriteString(block.mark(n) + escaped(i) + "\n")
	}
	if block.Table != nil {
		markdownTable(b, *block.Table)
	}
	if len(block.Lines) > 0 {
		// No line of a drawing begins with a fence: names in it are indented.
		b.WriteString("\n    " + strings.Join(block.Lines, "\n    ") + "\n")
	}
	for _, i := range block.Inner {
		markdownBlock(b, i)
	}
}

func markdownHeadline(b *strings.Builder, h Headline) {
	b.WriteString("\n" + h.Tone.sign() + " **" + escaped(h.Label+": "+h.Status) + ".** " + escaped(h.Verdict) + "\n")
	if len(h.Figures) == 0 {
		return
	}
	b.WriteByte('\n')
	for _, f := range h.Figures {
		b.WriteString("- " + escaped(f.Name) + ": **" + escaped(f.Value) + "** " + escaped(f.Detail) + "\n")
	}
}

func markdownTable(b *strings.Builder, t Table) {
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + escaped(c) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n" + escaped(t.Caption) + ":\n\n")
	line(t.Head)
	b.WriteString(strings.Repeat("|---", len(t.Head)) + "|\n")
	for _, row := range t.Rows {
		line(row)
	}
}

// escaped neutralises everything that Markdown or HTML would interpret. A backslash
// makes any ASCII punctuation literal
// (https://spec.commonmark.org/0.31.2/#backslash-escapes); links of GitHub's
// dialect begin with www., a scheme or hold an at sign
// (https://github.github.com/gfm/#autolinks-extension-).
func escaped(text string) string {
	var b strings.Builder
	text = strings.TrimSpace(text)
	for i, r := range text {
		if strings.ContainsRune("\\`*_[]<>#|~&@$", r) || markup(text, i) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// markup reports whether the character is markup because of its place. That is the colon of a
// link, the dot of www., and the beginning of a list or a quote.
func markup(text string, at int) bool {
	switch text[at] {
	case ':':
		return strings.HasPrefix(text[at:], "://") || strings.HasSuffix(strings.ToLower(text[:at]), "mailto") || strings.HasSuffix(strings.ToLower(text[:at]), "xmpp")
	case '.', ')':
		numbered := strings.Trim(text[:at], "0123456789") == "" && strings.HasPrefix(text[at+1:]+" ", " ")
		return numbered || strings.HasSuffix(strings.ToLower(text[:at]), "www")
	case '-', '+', '=':
		return at == 0
	}
	return false
}
