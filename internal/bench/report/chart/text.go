package chart

import (
	"image/color"
	"sort"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	textSize  = 12
	smallSize = 11
)

func textStyle(size float64, c color.Color) draw.TextStyle {
	return draw.TextStyle{
		Color: c, Handler: plot.DefaultTextHandler,
		Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(size)),
	}
}

// wider is by how much a text is wider in the fonts of some machines than in Liberation Sans,
// by which it is measured.
const wider = 1.16

// widthOf a text in any font.
func widthOf(text string, style draw.TextStyle) vg.Length { return style.Width(text) * wider }

// fit is the text, or as much of it as there is room for. It leaves out the middle, because
// names often differ at their end.
func fit(text string, style draw.TextStyle, room vg.Length) string {
	if widthOf(text, style) <= room {
		return text
	}
	runes := []rune(text)
	without := func(n int) string {
		head := (len(runes) - n) / 2
		return string(runes[:head]) + "…" + string(runes[head+n:])
	}
	n := sort.Search(len(runes), func(n int) bool { return widthOf(without(n), style) <= room })
	return without(n)
}

// wrap text into lines at its spaces.
func wrap(text string, style draw.TextStyle, room vg.Length) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && widthOf(longer, style) > room {
			lines, longer = append(lines, line), word
		}
		line = fit(longer, style, room)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Number with three or four digits, and no exponent from 0.0001 up.
func Number(v float64) string {
	magnitude := max(v, -v)
	decimals := 0
	switch {
	case v == 0:
		return "0"
	case magnitude >= 1000:
	case magnitude >= 100:
		decimals = 1
	case magnitude >= 10:
		decimals = 2
	case magnitude >= 1:
		decimals = 3
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
