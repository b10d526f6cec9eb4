package install_test

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// repository is where links of alerts lead to.
const repository = "https://github.com/pgstorage/pgstorage/blob/main/"

// alertFiles of the kustomization; the chart has copies.
var alertFiles = []string{"config/agent/prometheus/alerts.yaml", "config/ceph/alerts/alerts.yaml", "config/prometheus/alerts/alerts.yaml", "config/prometheus/alerts/postgres.yaml"}

// alerts of all files.
func alerts(t *testing.T) []monitoringv1.Rule {
	t.Helper()
	var rules []monitoringv1.Rule
	for _, file := range alertFiles {
		for _, object := range parse(t, readFile(t, file)) {
			for _, group := range into[monitoringv1.PrometheusRule](t, object).Spec.Groups {
				rules = append(rules, group.Rules...)
			}
		}
	}
	return rules
}

// page is what others can link to, and what it links to itself.
type page struct {
	links   []string
	anchors map[string]bool
}

// read a page as GitHub does, with tables.
func read(t *testing.T, name string) page {
	t.Helper()
	source := []byte(readFile(t, name))
	p := page{anchors: map[string]bool{}}
	err := ast.Walk(goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
		case *ast.Image:
			p.links = append(p.links, string(n.Destination))
		case *ast.Heading:
			p.anchors[anchor(plain(n, source))] = true
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// plain text of a node.
func plain(n ast.Node, source []byte) string {
	if leaf, ok := n.(*ast.Text); ok {
		return string(leaf.Value(source))
	}
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		b.WriteString(plain(child, source))
	}
	return b.String()
}

// anchor that GitHub gives a heading. A second heading of the same text, which gets a
// number, is not linked to here.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// pages that people read.
func pages(t *testing.T) map[string]page {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md"}
	for _, dir := range []string{"docs", "charts/pgstorage"} {
		err := fs.WalkDir(os.DirFS(root), dir, func(name string, _ fs.DirEntry, err error) error {
			if path.Ext(name) == ".md" {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]page{}
	for _, name := range names {
		all[name] = read(t, name)
	}
	return all
}

// wrong says what is wrong with a link that is within the repository, or nothing.
func wrong(all map[string]page, from, link string) string {
	to, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case to.Scheme != "" || to.Host != "":
		return "" // what is elsewhere is not for a test that runs alone
	}
	target := from
	if to.Path != "" {
		target = path.Join(path.Dir(from), to.Path)
	}
	if strings.HasPrefix(to.Path, "/") || strings.HasPrefix(target, "..") {
		return "not relative, or outside of the repository"
	}
	if _, err := os.Stat(filepath.Join(root, target)); err != nil {
		return "no such file"
	}
	if to.Fragment != "" && !all[target].anchors[to.Fragment] {
		return "no such heading"
	}
	return ""
}

func TestLinksResolve(t *testing.T) {
	all, followed := pages(t), 0
	for from, p := range all {
		for _, link := range p.links {
			followed++
			if text := wrong(all, from, link); text != "" {
				t.Errorf("%s links %s: %s", from, link, text)
			}
		}
	}
	for _, rule := range alerts(t) {
		followed++
		link, within := strings.CutPrefix(rule.Annotations["runbook_url"], repository)
		if text := wrong(all, "README.md", link); !within || text != "" {
			t.Errorf("alert %s: runbook_url %s: %s", rule.Alert, rule.Annotations["runbook_url"], text)
		}
	}
	if followed < 100 {
		t.Errorf("only %d links were found: is the parser right?", followed)
	}
}

// What TestLinksResolve finds.
func TestWrongLinksAreFound(t *testing.T) {
	all := pages(t)
	for link, want := range map[string]string{
		"docs/install.md":                     "",
		"docs/install.md#the-namespace":       "",
		"#try-it":                             "",
		"config/samples":                      "",
		"https://example.com/absent":          "",
		"docs/absent.md":                      "no such file",
		"docs/install.md#absent":              "no such heading",
		"#absent":                             "no such heading",
		"/docs/install.md":                    "not relative, or outside of the repository",
		"../main/docs/install.md":             "not relative, or outside of the repository",
		"docs/spec/pgstoragecluster.md#a%zzb": `parse "docs/spec/pgstoragecluster.md#a%zzb": invalid URL escape "%zz"`,
	} {
		if got := wrong(all, "README.md", link); got != want {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
}

// Each reason that the code has is explained where users look it up. Each runbook is in the
// list, and linked from a page or an alert.
func TestReasonsAndRunbooksAreDocumented(t *testing.T) {
	all := pages(t)
	var reference strings.Builder
	linked := map[string]bool{}
	for name, p := range all {
		dir := path.Dir(name)
		if dir == "docs/spec" {
			reference.WriteString(readFile(t, name))
		}
		for _, link := range p.links {
			if to, _, _ := strings.Cut(link, "#"); name != "docs/runbooks/README.md" {
				linked[path.Join(dir, to)] = true
			}
		}
	}
	for _, constant := range regexp.MustCompile(`(?m)^\tReason\w+\s+= "(\w+)"$`).FindAllStringSubmatch(readFile(t, "api/v1alpha1/reasons.go")+readFile(t, "api/v1alpha1/reasons_action.go"), -1) {
		if !strings.Contains(reference.String(), "`"+constant[1]+"`") {
			t.Errorf("reason %s is not in docs/spec", constant[1])
		}
	}
	for _, rule := range alerts(t) {
		linked[strings.TrimPrefix(rule.Annotations["runbook_url"], repository)] = true
	}
	for name := range all {
		file, found := strings.CutPrefix(name, "docs/runbooks/")
		if !found || file == "README.md" {
			continue
		}
		if !slices.Contains(all["docs/runbooks/README.md"].links, file) {
			t.Errorf("%s is not in the list of runbooks", name)
		}
		if !linked[name] {
			t.Errorf("%s is linked from no page and no alert", name)
		}
		if title := "# " + strings.TrimSuffix(file, ".md") + "\n"; !strings.HasPrefix(readFile(t, name), title) {
			t.Errorf("%s does not begin with its name", name)
		}
	}
}

// A reason that needs an administrator has a runbook, unless a table says everything there is
// to say.
func TestEveryReasonForUsersHasARunbook(t *testing.T) {
	enough := map[string]string{
		"InvalidSpec": "the message names the field",
		"Failed":      "of one benchmark: read its log, and make another",
		"Interrupted": "of one benchmark: make another",
	}
	person := readFile(t, "api/v1alpha1/reasons_action.go")
	var rows []string
	for name := range pages(t) {
		if path.Dir(name) == "docs/spec" {
			rows = append(rows, strings.Split(readFile(t, name), "\n")...)
		}
	}
	for _, constant := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(person, -1) {
		reason := constant[1]
		leads := slices.ContainsFunc(rows, func(row string) bool {
			return strings.HasPrefix(row, "| ") && strings.Contains(row, "| `"+reason+"` |") && strings.Contains(row, "](../runbooks/")
		})
		if leads == (enough[reason] != "") {
			t.Errorf("reason %s: has a runbook: %v, enough without: %q", reason, leads, enough[reason])
		}
	}
}

// Without Helm, the commands of docs/install.md delete all that install.yaml and the optional
// parts have. The CRDs and the namespace stay: with these, every database would go.
func TestUninstallWithoutHelmIsCompleteAndSafe(t *testing.T) {
	_, section, _ := strings.Cut(readFile(t, "docs/install.md"), "\n## Uninstall without Helm\n")
	section, _, _ = strings.Cut(section, "\n## ")
	deleted := map[string]bool{} // "namespace/kind"
	for _, command := range regexp.MustCompile(`kubectl (?:-n ([a-z-]+) )?delete ([a-z,]+) -l app\.kubernetes\.io/name=pgstorage`).FindAllStringSubmatch(section, -1) {
		for kind := range strings.SplitSeq(command[2], ",") {
			deleted[command[1]+"/"+kind] = true
		}
	}
	for _, dir := range []string{"testdata/agent-optional", "testdata/openshift-agent"} {
		for key, object := range parse(t, kustomize(t, dir)) {
			kind := strings.ToLower(object.GetKind())
			kept := kind == "customresourcedefinition" || kind == "namespace"
			if got := deleted[object.GetNamespace()+"/"+kind]; got == kept {
				t.Errorf("%s: deleted is %t", key, got)
			}
			if object.GetLabels()["app.kubernetes.io/name"] != "pgstorage" {
				t.Errorf("%s has no label to select it by", key)
			}
		}
	}
}
