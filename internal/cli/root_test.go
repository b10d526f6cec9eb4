package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// execute runs a command that needs no cluster.
func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}, "v0.1.0")
	c.SetArgs(args)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// Each example is a command line or a comment.
func TestEveryCommandHasHelpAndExamples(t *testing.T) {
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		seen++
		if c.Short == "" || len(c.Long) <= len(c.Short) || c.Example == "" {
			t.Errorf("%s: short, long or example is missing", c.CommandPath())
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if len(strings.TrimRight(line, "\n")) > 110 {
				t.Errorf("%s: line exceeds 110 characters: %s", c.CommandPath(), line)
			}
		}
		for line := range strings.Lines(c.Example) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "#") && !strings.Contains(line, "kubectl") && !strings.HasPrefix(line, "chmod") {
				t.Errorf("%s: example %q", c.CommandPath(), line)
			}
		}
		for _, sub := range c.Commands() {
			if sub.Name() != "help" {
				walk(sub)
			}
		}
	}
	walk(New(genericiooptions.NewTestIOStreamsDiscard(), "v0.1.0"))
	if seen != 25 {
		t.Errorf("got %d commands, want 25", seen)
	}
}

func TestScreensMatchGoldenFiles(t *testing.T) {
	for name, args := range map[string][]string{
		"help":        {"--help"},
		"status-help": {"status", "--help"},
		"runbook":     {"runbook", "zfsnotloaded"},
		"start":       {"bench", "start", "shop", "-n", "prod", "--dry-run", "client", "--scale", "100", "--clients", "1,16", "--duration", "5m", "--name", "nightly"},
		"branch":      {"branch", "create", "shop", "-n", "prod", "--dry-run", "client", "--name", "pr-123", "--ttl", "24h", "--mask", "shop-mask", "--cpu", "500m", "--memory", "1Gi"},
		"branch-past": {"branch", "create", "shop", "-n", "prod", "--dry-run", "client", "--name", "past", "--from-backup", "--target-time", "2026-03-01T12:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := execute(t, args...)
			if err != nil {
				t.Fatal(err)
			}
			golden.Text(t, "testdata/"+name+".golden.txt", out)
		})
	}
}

func TestVersionNamesProgramAndAPI(t *testing.T) {
	out, err := execute(t, "version")
	if err != nil || !strings.HasPrefix(out, "kubectl-pgstorage v0.1.0, API pgstorage.dev/v1alpha1, go") {
		t.Errorf("%q %v", out, err)
	}
	out, err = execute(t, "version", "-o", "yaml")
	if err != nil || !strings.Contains(out, "\nversion: v0.1.0\n") {
		t.Errorf("%q %v", out, err)
	}
}

func TestRunbooksAreListed(t *testing.T) {
	out, err := execute(t, "runbook")
	if err != nil || !strings.Contains(out, "\nPoolLost ") || strings.Count(out, "\n") < 50 {
		t.Errorf("%q %v", out, err)
	}
	if _, err := execute(t, "runbook", "Nonsense"); err == nil || !strings.Contains(err.Error(), `no runbook for "Nonsense"`) {
		t.Error(err)
	}
}

func TestCompletionScriptsOfEveryShell(t *testing.T) {
	for shell, want := range map[string]string{
		"bash": "__start_kubectl-pgstorage", "zsh": "#compdef kubectl-pgstorage", "fish": "complete -c kubectl-pgstorage", "powershell": "Register-ArgumentCompleter",
		"kubectl": "exec kubectl pgstorage __complete \"$@\"\n",
	} {
		if out, err := execute(t, "completion", shell); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v", shell, err)
		}
	}
	if _, err := execute(t, "completion", "tcsh"); err == nil || !strings.Contains(err.Error(), `unknown shell "tcsh"`) {
		t.Error(err)
	}
	if out, err := execute(t, "__complete", "runbook", "Pool"); err != nil || !strings.Contains(out, "PoolLost\n") {
		t.Errorf("%q %v", out, err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte("contexts:\n- {name: north}\n- {name: south}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := execute(t, "__complete", "switch", "shop", "--kubeconfig", path, "--to-context", ""); err != nil || !strings.Contains(out, "north\nsouth\n") {
		t.Errorf("%q %v", out, err)
	}
	if out, err := execute(t, "__complete", "bench", "start", "shop", "--script", ""); err != nil || !strings.Contains(out, "TPCB\nSimpleUpdate\nSelectOnly\n") {
		t.Errorf("%q %v", out, err)
	}
}

func TestWrongArgumentsAreRejected(t *testing.T) {
	for want, args := range map[string][]string{
		`unknown command "nonsense"`:                {"nonsense"},
		"unknown flag: --nonsense":                  {"status", "--nonsense"},
		`required flag(s) "filename" not set`:       {"render"},
		"accepts 1 arg(s), received 0":              {"bench", "follow"},
		"requires at least 1 arg(s), only received": {"explain"},
		`--dry-run: unknown value "often"`:          {"bench", "start", "shop", "--dry-run", "often"},
		`--output: unknown format "wide"; use json`: {"version", "-o", "wide"},
		"name the PgStorageCluster of the site":     {"switch", "shop", "-n", "prod", "--to-name", "shop"},
		`--also "prod/shop" is not CONTEXT/`:        {"switch", "shop", "-n", "prod", "--to-name", "other", "--also", "prod/shop"},
		"--timeout must be more than 0":             {"promote", "shop", "--timeout", "0s"},
		"such as 1h, and needs --wait":              {"verify", "shop", "--timeout", "1h"},
		`required flag(s) "name" not set`:           {"branch", "create", "shop"},
		"need --from-backup":                        {"branch", "create", "shop", "--name", "a", "--target-lsn", "0/1"},
		`--mask "/names.sql" is not CONFIGMAP`:      {"branch", "create", "shop", "--name", "a", "--mask", "/names.sql"},
		`--cpu "much" is not a quantity`:            {"branch", "create", "shop", "--name", "a", "--cpu", "much", "--memory", "1Gi"},
		"--target-name needs --backup-id":           {"branch", "create", "shop", "--name", "a", "--from-backup", "--target-name", "b"},
		"--backup-id need --from-backup":            {"branch", "create", "shop", "--name", "a", "--backup-id", "20260301T023000"},
		"[target-lsn target-name] were all set":     {"branch", "create", "shop", "--name", "a", "--from-backup", "--target-lsn", "0/1", "--target-name", "b"},
		"missing [memory]":                          {"branch", "create", "shop", "--name", "a", "--cpu", "1"},
		"--output needs --wait=false or --dry-run":  {"branch", "create", "shop", "--name", "a", "-o", "json"},
		"such as 10m, and needs --wait":             {"branch", "create", "shop", "--name", "a", "--wait=false", "--timeout", "10m"},
		"--wait needs --apply":                      {"branch", "delete", "a", "--wait"},
		"requires at least 1 arg(s)":                {"branch", "delete"},
		"put the arguments of psql after --":        {"branch", "psql", "a", "b"},
		"name a branch":                             {"branch", "psql", "--", "-l"},
	} {
		if _, err := execute(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}

func TestClientDryRunValidates(t *testing.T) {
	dry := []string{"bench", "start", "-n", "prod", "--dry-run", "client"}
	for want, args := range map[string][]string{
		"duration and transactions exclude":       {"shop", "--duration", "1m", "--transactions", "5"},
		`Unsupported value: "Everything"`:         {"shop", "--script", "Everything"},
		"--scale must be 1 or more":               {"shop", "--scale", "0"},
		"spec.pgbench.scale: Invalid value":       {"shop", "--scale", "-1"},
		"spec.pgbench.duration: Invalid value":    {"shop", "--duration", "soon"},
		"metadata.name: Invalid value: \"Upper\"": {"shop", "--name", "Upper"},
		"spec.pgbench.clients":                    {"shop", "--clients", "0"},
		"metadata.generateName: Invalid value":    {"Not_a_Name"},
	} {
		if out, err := execute(t, append(dry, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s\n%s", args, err, want, out)
		}
	}
	branch := []string{"branch", "create", "shop", "-n", "prod", "--dry-run", "client"}
	for want, args := range map[string][]string{
		"spec.ttl must be a duration":                        {"--name", "a", "--ttl", "1d"},
		"spec.source.backup.targetLSN must be a position":    {"--name", "a", "--from-backup", "--target-lsn", "soon"},
		"metadata.name must be at most 50 characters":        {"--name", "1a"},
		"spec.masking.configMap.key must be a key of a Conf": {"--name", "a", "--mask", "shop-mask/a/b"},
	} {
		if out, err := execute(t, append(branch, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s\n%s", args, err, want, out)
		}
	}
	out, err := execute(t, append(dry, "shop", "--scale", "7")...)
	if err != nil || !strings.Contains(out, "generateName: shop-\n") || strings.Contains(out, "\n  name: ") || !strings.Contains(out, "scale: 7\n") || strings.Contains(out, "repeats") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRenderWarnsOnStandardError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	content := `apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageProfile
metadata: {name: standard}
spec: {type: External, external: {storageClassName: fast}}
---
apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageCluster
metadata: {name: shop, annotations: {cnpg.io/podPatch: "[]"}}
spec:
  profile: standard
  postgres: {version: "17"}
  storage: {size: 1Gi}
  resources: {requests: {cpu: "1", memory: 1Gi}}
  durability: Local
`
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := execute(t, "render", "-f", path, "-o", "json")
	if err != nil || !strings.HasPrefix(out, "Warning: PgStorageCluster default/shop: metadata.annotations[cnpg.io/podPatch] does not reach") {
		t.Errorf("%v\n%s", err, out)
	}
}

type broken struct{}

var errBroken = errors.New("no space left")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestFailedWriteIsAnError(t *testing.T) {
	c := New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: broken{}, ErrOut: io.Discard}, "v0.1.0")
	c.SetArgs([]string{"version"})
	if err := c.ExecuteContext(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
}

// An error can have text that others wrote into an object.
func TestErrorsArePrintedWithoutControlCharacters(t *testing.T) {
	var out bytes.Buffer
	err := errors.Join(errors.New("one\x1b[2J\rline"), errors.New("another\u009b"))
	if code := exitCode(genericiooptions.IOStreams{ErrOut: &out}, err); code != 1 || out.String() != "error: one [2J line\nanother \n" {
		t.Errorf("%d %q", code, out.String())
	}
}
