//go:build browser

// Package browser opens a report in a real browser, Chromium without a screen. The window is as
// wide as a telephone and as wide as a desk, on a light page and on a dark one.
//
// The browser asks a proxy of the test's own for everything, so that the test sees every
// request. PGSTORAGE_SCREENSHOTS keeps the screenshots, for people to look at.
package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/report"
	"github.com/pgstorage/pgstorage/internal/testing/recorded"
)

// page of a report on recorded runs, with names that are long, and markup.
func page(t *testing.T) string {
	t.Helper()
	in := report.Input{
		About: report.About{Name: "shop/<script>alert(1)</script>", Time: "2026-01-02T03:04:05Z"},
		Axes:  []matrix.Axis{{Name: "version", Values: []string{"17", "18"}}, {Name: "clients", Values: []string{"1", "4"}}},
	}
	for _, version := range []string{"17", "18"} {
		for _, r := range recorded.Matrix(t, "v"+version) {
			clients := r.Variant[len(r.Variant)-1:]
			r.Variant = fmt.Sprintf("profile=zfs-local-with-a-long-name version=%s clients=%s %s", version, clients, r.Tier)
			in.Variants = append(in.Variants, matrix.Variant{Name: r.Variant, Values: map[string]string{"version": version, "clients": clients}})
			in.Runs = append(in.Runs, r)
		}
	}
	in.Variants = slices.CompactFunc(in.Variants, func(a, b matrix.Variant) bool { return a.Name == b.Name })
	var err error
	if in.Analysis, err = analysis.Analyse(in.Runs); err != nil {
		t.Fatal(err)
	}
	r, err := report.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.Write(&b, report.HTML, r, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// frame shows the report in a width, opens what can be opened, and writes down what
// came out. It is of the report's origin, so that it may look into it.
const frame = `<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><iframe id="f" src="/report" style="border:0;width:%dpx;height:%dpx"></iframe>
<pre id="facts"></pre><script>
document.getElementById("f").onload = e => {
  const d = e.target.contentDocument, w = e.target.contentWindow;
  d.querySelectorAll("details").forEach(x => { x.open = true });
  const small = [...d.querySelectorAll("svg text")].map(x => x.getBoundingClientRect().height).filter(h => h > 0);
  document.getElementById("facts").textContent = JSON.stringify({
    width: d.documentElement.clientWidth, scroll: d.documentElement.scrollWidth,
    background: w.getComputedStyle(d.body).backgroundColor, ink: w.getComputedStyle(d.querySelector("svg .fill-ink")).fill,
    charts: d.querySelectorAll("svg").length, scripts: d.querySelectorAll("script").length,
    smallest: Math.min(...small), title: d.querySelector("h1").textContent,
  });
};
</script>`

// facts of a page as it is shown.
type facts struct {
	Width, Scroll   int
	Background, Ink string
	Charts, Scripts int
	Smallest        float64
	Title           string
}

// requests that the browser made.
type requests struct {
	sync.Mutex
	urls []string
}

func (r *requests) add(url string) {
	r.Lock()
	defer r.Unlock()
	r.urls = append(r.urls, url)
}

const origin = "http://report.test"

// expected are the requests for the page.
var expected = []string{"GET " + origin + "/frame", "GET " + origin + "/report", "GET " + origin + "/favicon.ico"}

// chromiums are the hosts that Chromium asks whatever page is open, in spite of every
// switch that is said to end that. No report names one of them.
var chromiums = []string{"update.googleapis.com", "clients2.google.com", "accounts.google.com"}

// serve the frame and the report to a browser that asks this proxy for everything.
func serve(t *testing.T, frame, page string) (proxy string, seen *requests) {
	t.Helper()
	seen = &requests{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(chromiums, r.URL.Hostname()) {
			http.Error(w, "not of the report", http.StatusNotFound)
			return
		}
		seen.add(r.Method + " " + r.URL.String())
		switch r.URL.String() {
		case origin + "/frame":
			_, _ = w.Write([]byte(frame))
		case origin + "/report":
			_, _ = w.Write([]byte(page))
		default:
			http.Error(w, "not of the report", http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, seen
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("PGSTORAGE_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Skip("SKIPPED: no Chromium; install the package chromium, or name one in PGSTORAGE_CHROMIUM")
	return ""
}

// browse the frame: what is printed to both outputs.
func browse(t *testing.T, proxy string, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all := append([]string{
		"--headless=new", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-sync",
		"--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-domain-reliability",
		"--no-pings", "--hide-scrollbars", "--enable-logging=stderr", "--virtual-time-budget=10000",
		"--proxy-server=" + proxy, "--user-data-dir=" + t.TempDir(),
	}, args...)
	if os.Geteuid() == 0 {
		// Its sandbox refuses root; the page is our own.
		all = append(all, "--no-sandbox")
	}
	cmd := exec.CommandContext(ctx, chromium(t), append(all, origin+"/frame")...)
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, diagnostics.String())
	}
	return out.String(), diagnostics.String()
}

var factsElement = regexp.MustCompile(`(?s)<pre id="facts">(.*?)</pre>`)

func TestReportIsReadableAtEveryWidth(t *testing.T) {
	text := page(t)
	for _, host := range chromiums {
		if strings.Contains(text, host) {
			t.Errorf("the page names %s, whose requests are taken for Chromium's own", host)
		}
	}
	for _, tc := range []struct {
		name            string
		width           int
		dark            bool
		background, ink string
	}{
		{"phone-light", 320, false, "rgb(255, 255, 255)", "rgb(27, 31, 36)"},
		{"phone-dark", 320, true, "rgb(13, 17, 23)", "rgb(230, 237, 243)"},
		{"desk-light", 1280, false, "rgb(255, 255, 255)", "rgb(27, 31, 36)"},
		{"desk-dark", 1280, true, "rgb(13, 17, 23)", "rgb(230, 237, 243)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const height = 8000
			proxy, seen := serve(t, fmt.Sprintf(frame, tc.width, height), text)
			args := []string{fmt.Sprintf("--window-size=%d,%d", tc.width, height), "--blink-settings=preferredColorScheme=1"}
			if tc.dark {
				args[1] = "--blink-settings=preferredColorScheme=0"
			}
			dom, diagnostics := browse(t, proxy, append(args, "--dump-dom")...)
			for line := range strings.Lines(diagnostics) {
				if strings.Contains(line, ":CONSOLE") {
					t.Errorf("console: %s", line)
				}
			}
			for _, url := range seen.urls {
				if !slices.Contains(expected, url) {
					t.Errorf("a request %s", url)
				}
			}
			checkFacts(t, dom, tc.width, tc.background, tc.ink)
			if folder := os.Getenv("PGSTORAGE_SCREENSHOTS"); folder != "" {
				browse(t, proxy, append(args, "--screenshot="+filepath.Join(folder, tc.name+".png"))...)
			}
		})
	}
}

func checkFacts(t *testing.T, dom string, width int, background, ink string) {
	t.Helper()
	match := factsElement.FindStringSubmatch(dom)
	if match == nil {
		t.Fatalf("the frame wrote nothing:\n%s", dom)
	}
	var f facts
	if err := json.Unmarshal([]byte(html.UnescapeString(match[1])), &f); err != nil {
		t.Fatal(err)
	}
	// The page does not scroll to the side; only wider elements do.
	if f.Width != width || f.Scroll > width {
		t.Errorf("%d wide, %d with what sticks out, in %d", f.Width, f.Scroll, width)
	}
	if f.Background != background || f.Ink != ink {
		t.Errorf("background %s and ink %s, want %s and %s", f.Background, f.Ink, background, ink)
	}
	if f.Charts == 0 || f.Scripts != 0 || f.Title != "Benchmark shop/<script>alert(1)</script>" {
		t.Errorf("%+v", f)
	}
	// Letters of 9 pixels can be read.
	if f.Smallest < 9 {
		t.Errorf("a text %.1f pixels high", f.Smallest)
	}
}
