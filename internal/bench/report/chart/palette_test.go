package chart

import (
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/plot/palette/brewer"
)

func parse(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// contrast of two colours (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio).
func contrast(a, b uint32) float64 {
	of := func(c uint32) float64 { return luminance(c>>16&0xff, c>>8&0xff, c&0xff) }
	return (math.Max(of(a), of(b)) + 0.05) / (math.Min(of(a), of(b)) + 0.05)
}

// Marks stand out from their page by 3 to 1, text by 4.5 to 1.
func TestContrast(t *testing.T) {
	for c, want := range map[colour]float64{ink: 4.5, faint: 4.5, blue: 3, orange: 3, green: 3, purple: 3, brown: 3} {
		if light, dark := contrast(c.light, paper.light), contrast(c.dark, paper.dark); light < want || dark < want {
			t.Errorf("%s: %.2f on a light page, %.2f on a dark one, want %v", c.name, light, dark, want)
		}
	}
}

// What is written on a cell of a heat map stands out from it.
func TestContrastOnCells(t *testing.T) {
	pal, err := brewer.GetPalette(brewer.TypeDiverging, "RdBu", shades)
	if err != nil {
		t.Fatal(err)
	}
	for i, shade := range pal.Colors() {
		r, g, b, _ := shade.RGBA()
		if got := contrast(r>>8<<16|g>>8<<8|b>>8, textOn(shade).light); got < 4.5 {
			t.Errorf("%.2f on shade %d", got, i)
		}
	}
}

// Lines and labels stand out from the band of an event.
func TestContrastOnBands(t *testing.T) {
	for c, want := range map[colour]float64{ink: 4.5, blue: 3, orange: 3} {
		if light, dark := contrast(c.light, band.light), contrast(c.dark, band.dark); light < want || dark < want {
			t.Errorf("%s: %.2f on a light page, %.2f on a dark one, want %v", c.name, light, dark, want)
		}
	}
}

// Any eyes distinguish the two ends of the heat map's colours.
func TestBetterAndWorseAreToldApart(t *testing.T) {
	pal, err := brewer.GetPalette(brewer.TypeDiverging, "RdBu", shades)
	if err != nil {
		t.Fatal(err)
	}
	number := func(i int) uint32 {
		r, g, b, _ := pal.Colors()[i].RGBA()
		return r>>8<<16 | g>>8<<8 | b>>8
	}
	for name, m := range vision {
		for i := range shades / 2 {
			p, q := lab(number(i), m), lab(number(shades-1-i), m)
			if d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]); d < 15 {
				t.Errorf("shades %d and %d differ by %.1f with %s vision", i, shades-1-i, d, name)
			}
		}
	}
}

// vision of people who lack one kind of cone: matrices over linear RGB of Machado,
// Oliveira and Fernandes 2009, severity 1
// (https://www.inf.ufrgs.br/~oliveira/pubs_files/CVD_Simulation/CVD_Simulation.html).
var vision = map[string][3][3]float64{
	"usual":      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {
		{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881},
	},
	"tritanopia": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab is CIE L*a*b* of a colour as it is seen, of white D65.
func lab(c uint32, m [3][3]float64) [3]float64 {
	var linear, seen [3]float64
	for i, shift := range []int{16, 8, 0} {
		s := float64(c>>shift&0xff) / 255
		if s <= 0.04045 {
			linear[i] = s / 12.92
		} else {
			linear[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	for i := range seen {
		for j := range linear {
			seen[i] += m[i][j] * linear[j]
		}
		seen[i] = math.Max(0, math.Min(1, seen[i]))
	}
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := f((0.4124564*seen[0] + 0.3575761*seen[1] + 0.1804375*seen[2]) / 0.95047)
	y := f(0.2126729*seen[0] + 0.7151522*seen[1] + 0.0721750*seen[2])
	z := f((0.0193339*seen[0] + 0.1191920*seen[1] + 0.9503041*seen[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// Lines differ in colour for any eyes; they also differ in dashes and glyphs. A difference of
// 2.3 is just visible.
func TestColoursAreToldApart(t *testing.T) {
	const least = 15
	lines := []colour{blue, orange, green, purple, brown}
	for name, m := range vision {
		for i, a := range lines {
			for _, b := range lines[i+1:] {
				for page, pair := range map[string][2]uint32{"light": {a.light, b.light}, "dark": {a.dark, b.dark}} {
					p, q := lab(pair[0], m), lab(pair[1], m)
					if d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]); d < least {
						t.Errorf("%s and %s on a %s page differ by %.1f with %s vision", a.name, b.name, page, d, name)
					}
				}
			}
		}
	}
	for i, a := range curveStyles {
		for _, b := range curveStyles[i+1:] {
			if a.glyph == b.glyph {
				t.Errorf("%T twice", a.glyph)
			}
		}
	}
}

// Colours are recognised in what gonum writes, and only they.
func TestNamed(t *testing.T) {
	for _, c := range all {
		if got, ok := named(hex(c.light)); !ok || got != c {
			t.Errorf("%s is %v", c.name, got)
		}
	}
	for _, text := range []string{"none", "", "#14181d", "#fcfcfc", "#084594"} {
		if c, ok := named(text); ok {
			t.Errorf("%q is %s", text, c.name)
		}
	}
}
