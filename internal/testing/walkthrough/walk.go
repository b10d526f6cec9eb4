package walkthrough

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// brief are the values that the tutorials document, so that a walk takes minutes. The image of
// the tests has only the major as its tag.
var brief = []string{"DURATION=3s", "REPEATS=2", "REST=0s", "POSTGRES_VERSION=17"}

// Reader is a terminal in an empty folder, with Helm and the plugin installed and the chart of
// this tree.
func Reader(t *testing.T, env ...string) Session {
	t.Helper()
	programs := t.TempDir()
	for name, program := range map[string]string{"helm": os.Getenv("HELM"), "kubectl-pgstorage": os.Getenv("PGSTORAGE_PLUGIN")} {
		if err := os.Symlink(program, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	all := append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "CHART="+filepath.Join(repository.Root(), "charts", "pgstorage"))
	return Session{Dir: t.TempDir(), State: t.TempDir(), Env: append(append(all, brief...), env...)}
}

// Walk types those commands of a page that have this need, one after another. Each builds on the
// one before, so the test ends with one that fails, after gather.
func (s Session) Walk(t *testing.T, page, need string, gather func(*testing.T)) {
	t.Helper()
	p, err := Read(page)
	if err != nil {
		t.Fatal(err)
	}
	s.WalkPage(t, p, need, gather)
}

// WalkPage is Walk for a part of a page.
func (s Session) WalkPage(t *testing.T, p Page, need string, gather func(*testing.T)) {
	t.Helper()
	start := time.Now()
	for _, b := range p.Blocks {
		if b.Commands() && b.Needs == need {
			s.walk(t, p.Name, b, gather)
		}
	}
	t.Logf("%s took %s", p.Name, time.Since(start).Round(time.Second))
}

func (s Session) walk(t *testing.T, name string, b Block, gather func(*testing.T)) {
	t.Helper()
	for _, step := range b.Steps() {
		start := time.Now()
		out, err := s.Run(t.Context(), step)
		if err != nil {
			gather(t)
			t.Fatalf("%s: %v", name, err)
		}
		if err := step.Check(out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s:%d %s %s\n%s", name, step.Line, time.Since(start).Round(time.Second), strings.TrimSpace(step.Command), out)
	}
}
