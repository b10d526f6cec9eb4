package hack_test

import (
	"bytes"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/pgstorage/pgstorage/internal/cli"
)

// standIn plays every program that compiles, fetches, or needs a cluster. It writes each call to
// a file, and answers as the real one does when all goes well.
//
//go:embed testdata/stand-in.sh
var standIn string

// played are the programs that standIn plays.
var played = []string{"go", "docker", "kind", "kubectl", "apt-get", "debootstrap", "cargo", "curl", "chown", "dpkg-query", "qemu-system-x86_64"}

// machine without a cache, where container registries answer.
type machine struct{ dir, path string }

func newMachine(t *testing.T) machine {
	t.Helper()
	for _, program := range []string{"jq", "flock", "tar"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needed: %v", err)
		}
	}
	m := machine{dir: t.TempDir()}
	bin := filepath.Join(m.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range played {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(standIn), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.path = bin + ":/usr/bin:/bin:/usr/sbin:/sbin"
	return m
}

// demo runs the demo and returns what it printed, and the calls of the stand-ins.
func (m machine) demo(t *testing.T) (output string, calls []string) {
	t.Helper()
	log := filepath.Join(m.dir, "calls")
	_ = os.Remove(log)
	out, err := m.shell(t, "./demo.sh up")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return out, strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// shell runs a command as the user at this machine would.
func (m machine) shell(t *testing.T, command string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
	cmd.Env = append(registries(t, "yes"), "PATH="+m.path, "STAND_IN="+m.dir, "XDG_CACHE_HOME="+filepath.Join(m.dir, "cache"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// of selects the calls that begin so, without the rest after a word.
func of(calls []string, beginnings ...string) []string {
	var found []string
	for _, c := range calls {
		for _, b := range beginnings {
			if strings.HasPrefix(c, b) {
				found = append(found, c)
			}
		}
	}
	return found
}

// Where registries answer, the demo compiles this tree once and pulls three images. It installs
// no package, builds no other image, and can be run again.
func TestDemoCompilesOnceWhereRegistriesAnswer(t *testing.T) {
	m := newMachine(t)
	for _, run := range []string{"first", "second"} {
		output, calls := m.demo(t)
		if got := of(calls, "go build", "go install", "go run"); len(got) == 0 || slices.ContainsFunc(got, func(c string) bool { return !strings.HasSuffix(c, " ./cmd/...") }) {
			t.Errorf("%s run compiles %q", run, got)
		}
		if got := of(calls, "apt-get", "debootstrap", "cargo", "curl", "qemu"); got != nil {
			t.Errorf("%s run fetches or starts %q", run, got)
		}
		for _, c := range of(calls, "docker import") {
			if !strings.Contains(c, " pgstorage.local/pgstorage:") {
				t.Errorf("%s run makes another image than ours: %s", run, c)
			}
		}
		created := of(calls, "kind create cluster")
		if (len(created) == 1) != (run == "first") || slices.ContainsFunc(created, func(c string) bool { return strings.Contains(c, "--image") }) {
			t.Errorf("%s run creates %q", run, created)
		}
		applied, err := os.ReadFile(filepath.Join(m.dir, "applied"))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"ghcr.io/cloudnative-pg/cloudnative-pg:1.30.0", "ghcr.io/cloudnative-pg/postgresql", "pgstorage.local/pgstorage"}
		if diff := cmp.Diff(want, images(string(applied))); diff != "" {
			t.Errorf("%s run: %s", run, diff)
		}
		m.looksRight(t, output)
	}
}

// images that manifests name, ours without its tag.
func images(manifests string) []string {
	var found []string
	for line := range strings.Lines(manifests) {
		_, image, named := strings.Cut(strings.TrimSpace(line), "image: ")
		if !named {
			_, image, named = strings.Cut(line, "repository=")
		}
		if !named {
			continue
		}
		image = strings.TrimSpace(image)
		if ours, _, tagged := strings.Cut(image, "pgstorage:"); tagged {
			image = ours + "pgstorage"
		}
		found = append(found, image)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// looksRight checks that the demo says first how long it takes, and last what to look at. Every
// command of the plugin that it prints has the arguments of a real one.
func (m machine) looksRight(t *testing.T, output string) {
	t.Helper()
	first, _, _ := strings.Cut(output, "\n")
	if !strings.Contains(first, "This takes about 4 minutes") {
		t.Errorf("the first line is %q", first)
	}
	for _, words := range []string{"ran: pgstorage status demo", "ran: pgstorage bench result demo-abc", "/cache/pgstorage/demo/report.html", "Ready after"} {
		if !strings.Contains(output, words) {
			t.Errorf("%q is not in\n%s", words, output)
		}
	}
	_, reach, _ := strings.Cut(output, "  eval ")
	reach, _, _ = strings.Cut(reach, "\n")
	if out, err := m.shell(t, "eval "+reach+"; command -v kubectl-pgstorage"); err != nil {
		t.Errorf("eval %s brings no plugin: %v\n%s", reach, err, out)
	}
	suggestions := 0
	for line := range strings.Lines(output) {
		command, found := strings.CutPrefix(line, "  kubectl ")
		if !found {
			continue
		}
		suggestions++
		args, plugin := strings.CutPrefix(strings.TrimSpace(command), "pgstorage ")
		if !plugin {
			continue
		}
		var stdout bytes.Buffer
		sub, rest, err := cli.New(genericiooptions.IOStreams{In: &stdout, Out: &stdout, ErrOut: &stdout}, "test").Find(strings.Fields(args))
		if err == nil {
			err = sub.ParseFlags(rest)
		}
		if err == nil {
			err = sub.ValidateArgs(sub.Flags().Args())
		}
		if err != nil {
			t.Errorf("kubectl pgstorage %s: %v", args, err)
		}
	}
	if suggestions != 3 {
		t.Errorf("%d commands to try\n%s", suggestions, output)
	}
}
