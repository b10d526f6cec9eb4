//go:build e2e

package e2e

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/s3pod"
	"github.com/pgstorage/pgstorage/internal/testing/walkthrough"
)

// brief are the values that the tutorials document, so that a walk takes minutes. The image of
// the tests has only the major as its tag.
var brief = []string{"DURATION=3s", "REPEATS=2", "REST=0s", "POSTGRES_VERSION=17"}

// TestTutorials types the commands of the tutorials as they stand. The others continue the
// first, which then removes everything. Under -short it omits the one that takes minutes because
// it measures, as other tests do.
func TestTutorials(t *testing.T) {
	if err := helm(); err != nil {
		t.Fatal(err)
	}
	session := reader(t)
	first, last := page(t, walkthrough.External).Before("9. Remove")
	pages := []walkthrough.Page{first, page(t, walkthrough.Benchmark), page(t, walkthrough.ReadPools), page(t, walkthrough.Memory), last}
	if testing.Short() {
		pages = slices.Delete(pages, 1, 2)
	}
	walkAll(t, session, pages...)
}

// TestTutorialOfSites needs nothing of the others. It is not in make test, where TestSites takes
// the same steps.
func TestTutorialOfSites(t *testing.T) {
	if err := helm(); err != nil {
		t.Fatal(err)
	}
	walkAll(t, reader(t), page(t, walkthrough.Sites))
}

// TestTutorialOfBackups needs the Barman Cloud plugin and an S3 server. It is not in make test.
func TestTutorialOfBackups(t *testing.T) {
	store := s3pod.Store{Namespace: namespace(t), Image: os.Getenv("PGSTORAGE_S3_IMAGE"), AccessKey: rand.Text(), SecretKey: rand.Text()}
	create(t, store.Objects()...)
	session := reader(t)
	session.Env = append(session.Env, "ENDPOINT="+store.Endpoint(), "DESTINATION=s3://"+s3pod.Bucket+"/tutorial", "ACCESS_KEY_ID="+store.AccessKey, "ACCESS_SECRET_KEY="+store.SecretKey)
	walkAll(t, session, page(t, walkthrough.Backup))
}

// walkAll types the commands of pages, one after another.
func walkAll(t *testing.T, session walkthrough.Session, pages ...walkthrough.Page) {
	t.Helper()
	for _, p := range pages {
		start := time.Now()
		for _, b := range p.Blocks {
			if b.Commands() && b.Needs == "" {
				walk(t, session, p.Name, b)
			}
		}
		t.Logf("%s took %s", p.Name, time.Since(start).Round(time.Second))
	}
}

// walk types a block. What follows builds on it.
func walk(t *testing.T, session walkthrough.Session, name string, b walkthrough.Block) {
	t.Helper()
	for _, step := range b.Steps() {
		start := time.Now()
		out, err := session.Run(t.Context(), step)
		if err != nil {
			dump(t)
			t.Fatalf("%s: %v", name, err)
		}
		if err := step.Check(out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s:%d %s %s\n%s", name, step.Line, time.Since(start).Round(time.Second), strings.TrimSpace(step.Command), out)
	}
}

func page(t *testing.T, name string) walkthrough.Page {
	t.Helper()
	p, err := walkthrough.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reader is a terminal in an empty folder, with Helm and the plugin installed and the chart of
// this tree.
func reader(t *testing.T) walkthrough.Session {
	t.Helper()
	programs := t.TempDir()
	for name, program := range map[string]string{"helm": os.Getenv("HELM"), "kubectl-pgstorage": os.Getenv("PGSTORAGE_PLUGIN")} {
		if err := os.Symlink(program, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "CHART="+filepath.Join(repository.Root(), "charts", "pgstorage"))
	return walkthrough.Session{Dir: t.TempDir(), State: t.TempDir(), Env: append(env, brief...)}
}
