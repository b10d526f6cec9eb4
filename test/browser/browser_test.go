//go:build browser

// Package browser opens reports in a real browser, Chromium without a screen. The window is as
// wide as a telephone, a tablet and a desk, on a light page and on a dark one. It also prints
// them.
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
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// facts of a page as it is shown.
type facts struct {
	Width, Scroll   int
	Background, Ink string
	Charts, Scripts int
	// Smallest letter of a chart, in pixels.
	Smallest float64
	Title    string
	// Faint texts do not stand out, and Overlapping and Cut ones of charts cannot be read.
	Faint, Overlapping, Cut []string
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

// chromiums are the hosts that Chromium asks whatever page is open, in spite of every
// switch that is said to end that. No report names one of them.
var chromiums = []string{"update.googleapis.com", "clients2.google.com", "accounts.google.com", "optimizationguide-pa.googleapis.com"}

// serve the frame and the reports to a browser that asks this proxy for everything.
func serve(t *testing.T, frame string, pages map[string]string) (proxy string, seen *requests) {
	t.Helper()
	seen = &requests{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(chromiums, r.URL.Hostname()) {
			http.Error(w, "not of the report", http.StatusNotFound)
			return
		}
		path, local := strings.CutPrefix(r.URL.String(), origin)
		page, known := pages[strings.TrimPrefix(path, "/")]
		switch {
		case local && path == "/frame":
			_, _ = w.Write([]byte(frame))
		case local && known:
			_, _ = w.Write([]byte(page))
		default:
			if !local || path != "/favicon.ico" {
				seen.add(r.Method + " " + r.URL.String())
			}
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

// browse a page of the origin: what is printed to both outputs.
func browse(t *testing.T, proxy, path string, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
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
	cmd := exec.CommandContext(ctx, chromium(t), append(all, origin+"/"+path)...)
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, diagnostics.String())
	}
	return out.String(), diagnostics.String()
}

var factsElement = regexp.MustCompile(`(?s)<pre id="facts">(.*?)</pre>`)

func TestReportIsReadableAtEveryWidth(t *testing.T) {
	all := pages(t)
	for name, text := range all {
		for _, host := range chromiums {
			if strings.Contains(text, host) {
				t.Errorf("page %s names %s, whose requests are taken for Chromium's own", name, host)
			}
		}
	}
	for _, scheme := range []struct {
		name, switched, background, ink string
	}{
		{"light", "1", "rgb(255, 255, 255)", "rgb(27, 31, 36)"},
		{"dark", "0", "rgb(13, 17, 23)", "rgb(230, 237, 243)"},
	} {
		for _, width := range []int{400, 900, 1440} {
			t.Run(fmt.Sprintf("%d-%s", width, scheme.name), func(t *testing.T) {
				proxy, seen := serve(t, frames(slices.Sorted(maps.Keys(all)), width), all)
				args := []string{fmt.Sprintf("--window-size=%d,2000", width), "--blink-settings=preferredColorScheme=" + scheme.switched}
				dom, diagnostics := browse(t, proxy, "frame", append(args, "--dump-dom")...)
				quiet(t, diagnostics, seen)
				for name, f := range factsOf(t, dom) {
					f.check(t, name, width)
					if f.Background != scheme.background || f.Charts > 0 && f.Ink != scheme.ink {
						t.Errorf("%s: background %s and ink %s, want %s and %s", name, f.Background, f.Ink, scheme.background, scheme.ink)
					}
				}
				if folder := screenshots(t); folder != "" {
					for name := range all {
						file := filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, scheme.name))
						browse(t, proxy, name, fmt.Sprintf("--window-size=%d,6000", width), args[1], "--screenshot="+file)
					}
				}
			})
		}
	}
}

// screenshots is the folder to keep pictures in, which it creates; empty: none are kept.
func screenshots(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("PGSTORAGE_SCREENSHOTS")
	if folder == "" {
		return ""
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

// quiet is a browser that logs nothing to the console and asks for nothing else.
func quiet(t *testing.T, diagnostics string, seen *requests) {
	t.Helper()
	for line := range strings.Lines(diagnostics) {
		if strings.Contains(line, ":CONSOLE") {
			t.Errorf("console: %s", line)
		}
	}
	for _, url := range seen.urls {
		t.Errorf("a request %s", url)
	}
}

func factsOf(t *testing.T, dom string) map[string]facts {
	t.Helper()
	match := factsElement.FindStringSubmatch(dom)
	if match == nil {
		t.Fatalf("the frame wrote nothing:\n%.2000s", dom)
	}
	found := map[string]facts{}
	if err := json.Unmarshal([]byte(html.UnescapeString(match[1])), &found); err != nil {
		t.Fatalf("%v: %.2000s", err, match[1])
	}
	if len(found) == 0 {
		t.Fatal("the frame shows no page")
	}
	return found
}

func (f facts) check(t *testing.T, name string, width int) {
	t.Helper()
	// The page does not scroll to the side; only wider elements do.
	if f.Width != width || f.Scroll > width {
		t.Errorf("%s: %d wide, %d with what sticks out, in %d", name, f.Width, f.Scroll, width)
	}
	if want := map[string]string{"recorded": "Benchmark shop/<script>alert(1)</script>"}[name]; want != "" && f.Title != want {
		t.Errorf("%s: the title %q, want %q", name, f.Title, want)
	}
	if f.Scripts != 0 || f.Charts == 0 && name != "failed" {
		t.Errorf("%s: %d scripts and %d charts", name, f.Scripts, f.Charts)
	}
	// Letters of 9 pixels can be read.
	if f.Charts > 0 && f.Smallest < 9 {
		t.Errorf("%s: a text %.1f pixels high", name, f.Smallest)
	}
	for what, texts := range map[string][]string{"do not stand out": f.Faint, "cover each other": f.Overlapping, "are cut off": f.Cut} {
		if len(texts) > 0 {
			t.Errorf("%s: %d texts %s, for example %q", name, len(texts), what, texts[:min(5, len(texts))])
		}
	}
}

var mediaBox = regexp.MustCompile(`/MediaBox ?\[ ?0 0 ([0-9.]+) ([0-9.]+) ?\]`)

func TestReportPrintsOnA4(t *testing.T) {
	all := pages(t)
	for _, name := range []string{"single", "failed"} {
		proxy, seen := serve(t, "", all)
		file := filepath.Join(t.TempDir(), name+".pdf")
		_, diagnostics := browse(t, proxy, name, "--no-pdf-header-footer", "--print-to-pdf="+file)
		quiet(t, diagnostics, seen)
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sheets := mediaBox.FindAllSubmatch(raw, -1)
		if len(sheets) == 0 || len(sheets) > 6 {
			t.Errorf("%s: %d sheets of paper", name, len(sheets))
		}
		for _, sheet := range sheets {
			for i, want := range []float64{595.28, 841.89} {
				if got, err := strconv.ParseFloat(string(sheet[i+1]), 64); err != nil || math.Abs(got-want) > 1 {
					t.Errorf("%s: a sheet of %s by %s points, want A4", name, sheet[1], sheet[2])
				}
			}
		}
		if folder := screenshots(t); folder != "" {
			if err := os.WriteFile(filepath.Join(folder, name+".pdf"), raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
