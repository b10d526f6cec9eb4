package install_test

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"

	"github.com/pgstorage/pgstorage/internal/cli"
)

const runbooks = "docs/runbooks/"

// severityLine of a runbook: the severities, and what the page is for.
var severityLine = regexp.MustCompile("^Severity: ((?:critical|warning|info)(?:, (?:critical|warning))?)\\. (Alert of the group `[a-z-]+`|Reason of (?:the conditions? `|several conditions)).*\\.$")

// runbookPages are the texts of the runbooks by name.
func runbookPages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name := range pages(t) {
		if file, is := strings.CutPrefix(name, runbooks); is && file != "README.md" {
			found[strings.TrimSuffix(file, ".md")] = readFile(t, name)
		}
	}
	return found
}

// malformed says how a runbook departs from the form that its README states.
func malformed(name, text string) (findings []string) {
	report := func(format string, args ...any) { findings = append(findings, fmt.Sprintf(format, args...)) }
	lines := strings.Split(text, "\n")
	if len(lines) < 5 || lines[0] != "# "+name || lines[1] != "" || lines[3] != "" {
		report("does not begin with its name, an empty line, the severity and an empty line")
		return findings
	}
	if !severityLine.MatchString(lines[2]) {
		report("line 3 is not a severity: %q", lines[2])
	}
	parts := strings.Split(text, "\n## ")
	if len(parts) != 5 {
		report("has %d sections", len(parts)-1)
		return findings
	}
	for i, want := range []string{"Meaning", "Impact", "Diagnosis", "Mitigation"} {
		title, body, _ := strings.Cut(parts[i+1], "\n")
		if title != want || !strings.HasPrefix(body, "\n") || strings.TrimSpace(body) == "" {
			report("section %d is %q, want %s with text after an empty line", i+1, title, want)
		}
		if want == "Diagnosis" && !regexp.MustCompile("`(?:kubectl|zpool|zfs|ceph|wipefs|lsblk|modprobe|zdb|SELECT) ").MatchString(body) {
			report("Diagnosis has no command")
		}
	}
	if before := strings.Join(lines[3:], "\n"); !strings.HasPrefix(before, "\n## Meaning\n") {
		report("has text before Meaning")
	}
	return findings
}

func TestRunbooksHaveOneForm(t *testing.T) {
	all := runbookPages(t)
	for name, text := range all {
		for _, finding := range malformed(name, text) {
			t.Errorf("%s: %s", name, finding)
		}
	}
	if len(all) < 50 {
		t.Errorf("%d runbooks were found", len(all))
	}
}

// What TestRunbooksHaveOneForm finds.
func TestMalformedRunbooksAreFound(t *testing.T) {
	good := "# A\n\nSeverity: warning, critical. Alert of the group `pgstorage-agent`.\n\n## Meaning\n\na\n\n## Impact\n\na\n\n## Diagnosis\n\n`kubectl get pgsc`\n\n## Mitigation\n\na\n"
	if found := malformed("A", good); len(found) != 0 {
		t.Fatal(found)
	}
	for _, change := range [][2]string{
		{"# A", "# B"},
		{"warning, critical", "high"},
		{"Severity: ", "severity: "},
		{"## Impact\n\na\n\n", ""},
		{"## Impact", "## Diagnosis"},
		{"## Impact\n\na", "## Impact\n\n"},
		{"`kubectl get pgsc`", "look at it"},
		{"\n\n## Meaning", "\n\nMore.\n\n## Meaning"},
		{"## Mitigation", "## Mitigation\n\nb\n\n## More"},
	} {
		if found := malformed("A", strings.Replace(good, change[0], change[1], 1)); len(found) == 0 {
			t.Errorf("%q in place of %q was not found", change[1], change[0])
		}
	}
}

// An alert leads to the runbook of its name, which has its group and its severities.
func TestRunbooksAgreeWithTheirAlerts(t *testing.T) {
	all, severities, groups := runbookPages(t), map[string][]string{}, map[string]string{}
	for _, file := range alertFiles {
		for _, object := range parse(t, readFile(t, file)) {
			for _, group := range into[monitoringv1.PrometheusRule](t, object).Spec.Groups {
				for _, rule := range group.Rules {
					groups[rule.Alert] = group.Name
					severities[rule.Alert] = append(severities[rule.Alert], rule.Labels["severity"])
					if want := repository + runbooks + rule.Alert + ".md"; rule.Annotations["runbook_url"] != want {
						t.Errorf("%s: runbook_url is %q, want %s", rule.Alert, rule.Annotations["runbook_url"], want)
					}
				}
			}
		}
	}
	for alert, found := range severities {
		slices.Sort(found)
		slices.Reverse(found) // warning before critical
		want := fmt.Sprintf("Severity: %s. Alert of the group `%s`", strings.Join(slices.Compact(found), ", "), groups[alert])
		if !strings.Contains(all[alert], "\n"+want) {
			t.Errorf("the runbook of %s does not say %q", alert, want)
		}
	}
	for name, text := range all {
		if strings.Contains(text, "\nSeverity: ") && strings.Contains(text, " Alert of the group ") && severities[name] == nil {
			t.Errorf("%s is no alert", name)
		}
	}
}

// A runbook of a reason names conditions that exist.
func TestRunbooksNameConditions(t *testing.T) {
	conditions := readFile(t, "api/v1alpha1/conditions.go")
	for name, text := range runbookPages(t) {
		line := strings.Split(text, "\n")[2]
		if !strings.Contains(line, "Reason of the condition") {
			continue
		}
		for _, code := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(strings.Split(line, ";")[0], -1) {
			if !strings.Contains(conditions, `= "`+code[1]+`"`) {
				t.Errorf("%s: there is no condition %s", name, code[1])
			}
		}
	}
}

func TestEveryRunbookHasASymptom(t *testing.T) {
	index := map[string]bool{}
	for line := range strings.Lines(readFile(t, runbooks, "README.md")) {
		if strings.HasPrefix(line, "| ") {
			for _, link := range regexp.MustCompile(`\]\((\w+)\.md\)`).FindAllStringSubmatch(line, -1) {
				index[link[1]] = true
			}
		}
	}
	for name := range runbookPages(t) {
		if !index[name] {
			t.Errorf("%s is not in the table of symptoms", name)
		}
	}
}

// inlineCode of Markdown.
var inlineCode = regexp.MustCompile("`([^`\n]+(?:\n[^`\n]+)?)`")

// Commands of the plugin in a runbook exist.
func TestRunbooksUseCommandsOfThePlugin(t *testing.T) {
	seen := 0
	for name, text := range runbookPages(t) {
		for _, code := range inlineCode.FindAllStringSubmatch(text, -1) {
			args, is := strings.CutPrefix(code[1], "kubectl pgstorage ")
			if !is {
				continue
			}
			seen++
			root := cli.New(genericiooptions.IOStreams{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}, "test")
			command, rest, err := root.Find(strings.Fields(args))
			if err == nil && command == root {
				err = fmt.Errorf("no command %s", args)
			}
			if err == nil {
				err = command.ParseFlags(rest)
			}
			if err == nil && command.Args != nil {
				err = command.Args(command, command.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %s: %v", name, code[1], err)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands were found", seen)
	}
}

// wrongAdvice is text that leads readers to a step that fails or loses data.
var wrongAdvice = []struct {
	pattern *regexp.Regexp
	because string
}{
	{regexp.MustCompile(`\b(?:its|the) claim and`), "CloudNativePG clones an instance once none of its claims is left: delete pvc,pod -l cnpg.io/instanceName=INSTANCE"},
	{regexp.MustCompile("`kubectl cnpg restart \\w+(?: -n \\w+)?`"), "CloudNativePG restarts no supervised primary; name the instance"},
	{regexp.MustCompile("[Ss]et `(?:spec\\.\\w+\\.)?pool\\.name`"), "pool.name of a profile is immutable"},
}

func TestPagesGiveNoWrongAdvice(t *testing.T) {
	for name := range pages(t) {
		text := strings.Join(strings.Fields(readFile(t, name)), " ")
		for _, advice := range wrongAdvice {
			if found := advice.pattern.FindString(text); found != "" {
				t.Errorf("%s: %q: %s", name, found, advice.because)
			}
		}
	}
}

// A page that stops Rook's operator starts it again.
func TestPagesStartRookAgain(t *testing.T) {
	const scale = "kubectl -n rook-ceph scale deploy rook-ceph-operator --replicas="
	seen := 0
	for name := range pages(t) {
		if text := readFile(t, name); strings.Contains(text, scale+"0") {
			seen++
			if !strings.Contains(text, scale+"1") {
				t.Errorf("%s stops Rook's operator and never starts it again", name)
			}
		}
	}
	if seen == 0 {
		t.Error("no page was found")
	}
}

// Sites can be Kubernetes clusters. The command that deletes the data of one names its context.
func TestRunbooksOfSitesNameTheContext(t *testing.T) {
	deletes := regexp.MustCompile(`delete clusters?\.postgresql\.cnpg\.io`)
	seen := 0
	for name, text := range runbookPages(t) {
		if !strings.Contains(text, "spec.topology") {
			continue
		}
		for _, code := range inlineCode.FindAllStringSubmatch(text, -1) {
			if !deletes.MatchString(code[1]) {
				continue
			}
			seen++
			if !strings.HasPrefix(code[1], "kubectl --context ") {
				t.Errorf("%s: %s does not name the context of the site", name, code[1])
			}
		}
	}
	if seen == 0 {
		t.Error("no command was found")
	}
}

// kinds by their short names.
var kinds = map[string]string{"pgsc": "pgstorageclusters", "pgbr": "pgstoragebranches", "pgsp": "pgstorageprofiles", "pgns": "pgnodestorages", "pgb": "pgbenchmarks", "pgsb": "pgscheduledbenchmarks"}

// Fields that a command of a runbook reads exist.
func TestRunbooksReadFieldsThatExist(t *testing.T) {
	schemas := map[string]apiextensionsv1.JSONSchemaProps{}
	for short, plural := range kinds {
		for _, object := range parse(t, readFile(t, "config/crd/bases/pgstorage.dev_"+plural+".yaml")) {
			schemas[short] = *into[apiextensionsv1.CustomResourceDefinition](t, object).Spec.Versions[0].Schema.OpenAPIV3Schema
		}
	}
	get := regexp.MustCompile(`(?s)kubectl (?:--context \w+ )?(?:-n \w+ )?get (\w+)\b.*?jsonpath='(.*?)'`)
	field := regexp.MustCompile(`\{(\.(?:spec|status)[^}]*)\}`)
	seen := 0
	for name, text := range runbookPages(t) {
		for _, command := range get.FindAllStringSubmatch(text, -1) {
			schema, ours := schemas[command[1]]
			if !ours {
				continue
			}
			for _, found := range field.FindAllStringSubmatch(command[2], -1) {
				seen++
				if missing := absent(schema, found[1]); missing != "" {
					t.Errorf("%s: %s of %s: there is no field %s", name, found[1], command[1], missing)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d fields were found", seen)
	}
	for path, want := range map[string]string{".status.pool.guid": "", ".status.pool.gid": "gid", `.status.conditions[?(@.type=="A")].message`: "", ".spec.networkDevices.servers[*].uri": "uri"} {
		if got := absent(schemas["pgns"], path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// absent returns the first field of a JSONPath that a schema does not have.
func absent(schema apiextensionsv1.JSONSchemaProps, jsonPath string) string {
	for part := range strings.SplitSeq(regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllString(jsonPath, ""), ".") {
		if part == "" {
			continue
		}
		if schema.Items != nil {
			schema = *schema.Items.Schema
		}
		next, has := schema.Properties[part]
		if !has {
			return path.Base(part)
		}
		schema = next
	}
	return ""
}
