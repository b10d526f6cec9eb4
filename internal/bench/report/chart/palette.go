package chart

import (
	"fmt"
	"strconv"
	"strings"
)

// colour of a mark, as 0xRRGGBB on a light page and on a dark one. It is a
// color.Color, the light one.
type colour struct {
	name        string
	light, dark uint32
}

// Colours by purpose. Those of lines differ without red or green. Every one has a contrast to
// its page of at least 3 to 1, and text one of 4.5 to 1; tests check that. The light ones are
// from Okabe and Ito (https://jfly.uni-koeln.de/color/).
var (
	ink    = colour{"ink", 0x1b1f24, 0xe6edf3}
	faint  = colour{"faint", 0x59636e, 0x9aa4af}
	rule   = colour{"rule", 0xd0d7de, 0x3d444d}
	paper  = colour{"paper", 0xffffff, 0x0d1117}
	blue   = colour{"blue", 0x0072b2, 0x56b4e9}
	orange = colour{"orange", 0xd55e00, 0xff9a4d}
	green  = colour{"green", 0x004d3a, 0x8fe388}
	purple = colour{"purple", 0x9c2c77, 0xb85a9c}
	brown  = colour{"brown", 0x5c4400, 0xffffcc}

	// band is behind lines and text.
	band = colour{"band", 0xffe3b3, 0x4d3800}

	all = []colour{ink, faint, rule, paper, band, blue, orange, green, purple, brown}
)

// Texts on a cell of a heat map, which is the same on every page. They must not be
// near a colour above, or they would change with it.
var (
	onLight = colour{name: "", light: 0x14181d, dark: 0x14181d}
	onDark  = colour{name: "", light: 0xfcfcfc, dark: 0xfcfcfc}
)

// RGBA is the light colour.
func (c colour) RGBA() (r, g, b, a uint32) {
	const opaque = 0xffff
	wide := func(v uint32) uint32 { return v & 0xff * 0x101 }
	return wide(c.light >> 16), wide(c.light >> 8), wide(c.light), opaque
}

func hex(v uint32) string { return fmt.Sprintf("#%06x", v) }

// Style of charts on a dark page, to go into a style element.
var Style = style()

func style() string {
	var b strings.Builder
	b.WriteString("@media screen and (prefers-color-scheme: dark) {\n")
	for _, c := range all {
		fmt.Fprintf(&b, ".fill-%[1]s { fill: %[2]s } .stroke-%[1]s { stroke: %[2]s }\n", c.name, hex(c.dark))
	}
	b.WriteString("}\n")
	return b.String()
}

// named is the colour that an attribute shows; false for one of a heat map. A
// channel that went through floating point may be one less.
func named(attribute string) (colour, bool) {
	value, err := strconv.ParseUint(strings.TrimPrefix(attribute, "#"), 16, 32)
	if err != nil {
		return colour{}, false
	}
	for _, c := range all {
		if near(c.light, uint32(value)) {
			return c, true
		}
	}
	return colour{}, false
}

func near(a, b uint32) bool {
	for shift := 0; shift < 24; shift += 8 {
		x, y := int(a>>shift&0xff), int(b>>shift&0xff)
		if x-y > 1 || y-x > 1 {
			return false
		}
	}
	return true
}
