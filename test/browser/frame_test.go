//go:build browser

package browser

import (
	"fmt"
	"strings"
)

// frames show the named reports in a width, open what can be opened, and write down what came
// out. They are of the reports' origin, so that the script may look into them.
func frames(names []string, width int) string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">`)
	for _, name := range names {
		fmt.Fprintf(&b, `<iframe id="%s" src="/%s" style="border:0;width:%dpx;height:2000px"></iframe>`, name, name, width)
	}
	return b.String() + `<pre id="facts"></pre><script>` + look + `</script>`
}

// look at every frame once all are loaded.
const look = `
const shown = x => x.getClientRects().length > 0 && x.getBoundingClientRect().height > 0;
const luminance = c => c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const parts = c => (c.match(/[0-9.]+/g) || []).map(Number);
const contrast = (a, b) => { const l = [luminance(a), luminance(b)].sort((x, y) => y - x); return (l[0] + 0.05) / (l[1] + 0.05) };

function behind(w, x) {
  for (; x; x = x.parentElement) {
    const c = parts(w.getComputedStyle(x).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c.slice(0, 3);
  }
  return [255, 255, 255];
}

// faint texts of the page, and those of charts that have a colour of the page. Texts on cells
// of heat maps have colours of their own, whose contrast a test of package chart checks.
function faint(d, w) {
  const out = [];
  for (const x of d.querySelectorAll("main *:not(svg):not(svg *)")) {
    const own = [...x.childNodes].some(n => n.nodeType === 3 && n.data.trim() !== "");
    if (own && shown(x) && contrast(parts(w.getComputedStyle(x).color).slice(0, 3), behind(w, x)) < 4.5) out.push(x.textContent.slice(0, 60));
  }
  for (const x of d.querySelectorAll("svg text[class]")) {
    if (shown(x) && contrast(parts(w.getComputedStyle(x).fill).slice(0, 3), behind(w, x)) < 4.5) out.push(x.textContent);
  }
  return out;
}

// readable finds the texts of charts that cover each other or stick out.
function unreadable(d) {
  const overlapping = [], cut = [];
  for (const chart of d.querySelectorAll("svg.chart")) {
    if (!shown(chart)) continue;
    const frame = chart.getBoundingClientRect();
    const texts = [...chart.querySelectorAll("text")].filter(shown).map(x => [x.textContent, x.getBoundingClientRect()]);
    texts.forEach(([text, a], i) => {
      if (a.left < frame.left - 2 || a.right > frame.right + 2 || a.top < frame.top - 2 || a.bottom > frame.bottom + 2) cut.push(text);
      for (const [other, b] of texts.slice(i + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // The box of a text is higher than its letters.
        if (wide > 1 && high > 0.4 * Math.min(a.height, b.height)) overlapping.push(text + " | " + other);
      }
    });
  }
  return [overlapping, cut];
}

onload = () => {
  const facts = {};
  for (const f of document.querySelectorAll("iframe")) {
    const d = f.contentDocument, w = f.contentWindow;
    d.querySelectorAll("details").forEach(x => { x.open = true });
    const charts = [...d.querySelectorAll("svg.chart")].filter(shown);
    const small = charts.flatMap(c => [...c.querySelectorAll("text")]).map(x => x.getBoundingClientRect().height).filter(h => h > 0);
    const ink = d.querySelector("svg .fill-ink");
    const [overlapping, cut] = unreadable(d);
    facts[f.id] = {
      width: d.documentElement.clientWidth, scroll: d.documentElement.scrollWidth,
      background: w.getComputedStyle(d.body).backgroundColor, ink: ink ? w.getComputedStyle(ink).fill : "",
      charts: charts.length, scripts: d.querySelectorAll("script").length,
      smallest: small.length ? Math.min(...small) : 0, title: d.querySelector("h1").textContent,
      faint: faint(d, w), overlapping, cut,
    };
  }
  document.getElementById("facts").textContent = JSON.stringify(facts);
};
`
