package chart

import (
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// drawn is what paint draws, as elements without the svg element around them.
func drawn(width, height vg.Length, paint func(draw.Canvas)) (string, error) {
	c := vgsvg.NewWith(vgsvg.UseWH(width, height))
	paint(draw.New(c))
	var b strings.Builder
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(b.String(), "<svg")
	_, body, _ := strings.Cut(rest, ">\n")
	body = strings.TrimSuffix(strings.TrimRight(body, "\n"), "</svg>")
	return tags.ReplaceAllStringFunc(body, tag), nil
}

var (
	// vgsvg escapes all text, so that what looks like a tag is one.
	tags     = regexp.MustCompile(`<[^>]*>`)
	styles   = regexp.MustCompile(`\s*style="([^"]*)"`)
	decimals = regexp.MustCompile(`-?\d+(?:\.\d+)?e[-+]\d+|-?\d+\.\d+`)
)

// tag writes numbers with one decimal, a tenth of a point. It writes attributes in place of a
// style: a style sheet can overrule attributes, but not a style.
func tag(t string) string {
	t = styles.ReplaceAllStringFunc(t, func(s string) string {
		return attributes(styles.FindStringSubmatch(s)[1])
	})
	return decimals.ReplaceAllStringFunc(t, short)
}

func short(number string) string {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	text := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

// attributes of a style, with the classes of its colours. The font is that of the
// whole chart.
func attributes(style string) string {
	var b strings.Builder
	var classes []string
	for property := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(property, ":")
		switch {
		case strings.HasPrefix(name, "font-") && name != "font-size":
			continue
		case name == "fill", name == "stroke":
			if c, ok := named(value); ok {
				classes = append(classes, name+"-"+c.name)
			}
			value = strings.ToLower(value)
		}
		b.WriteString(" " + name + `="` + value + `"`)
	}
	if len(classes) > 0 {
		b.WriteString(` class="` + strings.Join(classes, " ") + `"`)
	}
	return b.String()
}
