package report

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/bench/matrix"
)

// side is the input of a benchmark of one version, by name.
func side(t *testing.T, name, version string) Input {
	t.Helper()
	in := sample(t, version)
	in.About.Name, in.Progress, in.Variants = "shop/"+name, &matrix.Progress{Succeeded: 20, Stop: matrix.Complete}, nil
	if version != "17" {
		in.Layers = nil // of a variant of 17
	}
	return in
}

// Benchmarks that ran one after another are shown on one scale, and not ranked.
func TestBenchmarksAreShownTogether(t *testing.T) {
	in, err := Together([]Input{side(t, "disk", "17"), side(t, "memory", "18")})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	if r.About.Name != "shop/disk, shop/memory" || len(r.Groups) < 2 || r.running() {
		t.Fatalf("%+v, %d groups", r.About, len(r.Groups))
	}
	for _, g := range r.Groups {
		if len(g.Ranking)+len(g.Differences)+len(g.Deltas) > 0 {
			t.Errorf("%s is ranked", g.Durability)
		}
	}
	g := r.Groups[0]
	charts, err := r.charts(g)
	if err != nil {
		t.Fatal(err)
	}
	drawn := charts.overview[len(charts.overview)-1]
	svg := drawn.Element("c")
	for _, v := range g.Variants {
		if !strings.HasPrefix(v.Name, "disk ") && !strings.HasPrefix(v.Name, "memory ") {
			t.Errorf("variant %q does not name its benchmark", v.Name)
		}
		if !strings.Contains(svg, v.Name+", repeat 1") {
			t.Errorf("the chart has no %q", v.Name)
		}
	}
	var out strings.Builder
	if err := Write(&out, Markdown, r, Options{}); err != nil || !strings.Contains(out.String(), beside) {
		t.Errorf("the report does not say why nothing is ranked: %v", err)
	}
}

func TestTogetherRefusesOneNameTwice(t *testing.T) {
	if _, err := Together([]Input{side(t, "disk", "17"), side(t, "disk", "18")}); err == nil || !strings.Contains(err.Error(), "disk is listed twice") {
		t.Errorf("got %v", err)
	}
}

// One that still runs keeps all from being final.
func TestTogetherIsAsCompleteAsEachOfThem(t *testing.T) {
	running := side(t, "memory", "18")
	running.Progress = &matrix.Progress{Succeeded: 1, Pending: 2}
	in, err := Together([]Input{side(t, "disk", "17"), running})
	if err != nil {
		t.Fatal(err)
	}
	if p := in.Progress; p.Succeeded != 21 || p.Pending != 2 || p.Stop != "" {
		t.Errorf("%+v", p)
	}
}
