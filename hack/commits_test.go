// Package hack_test proves the scripts of make lint.
package hack_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script runs commits.sh in dir, which has a copy of it in hack.
func script(t *testing.T, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "hack/commits.sh"), args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// repository with the script and no commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{"commits.sh", "hooks/commit-msg"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, "hack", file)
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestCommitMessagesAreChecked(t *testing.T) {
	dir := repository(t)
	for name, test := range map[string]struct{ message, want string }{
		"good":                     {"Count device bytes per transaction\n\nA database pays for them.\n", ""},
		"verb that ends in s":      {"Process events one after the other\n", ""},
		"wrapping what cannot be":  {"Count bytes\n\nSee https://example.com/" + strings.Repeat("x", 80) + "\n", ""},
		"comments are not counted": {"Count bytes\n# " + strings.Repeat("x", 80) + "\n", ""},
		"clause":                   {"What of a transaction reaches the devices is counted\n", `begins with "What"`},
		"third person":             {"Counts device bytes\n", `begins with "Counts"`},
		"past":                     {"Counted device bytes\n", `begins with "Counted"`},
		"prefix":                   {"feat: count bytes\n", `begins with "feat"`},
		"period":                   {"Count bytes.\n", "ends with a period"},
		"long subject":             {"Count " + strings.Repeat("x", 67) + "\n", "73 characters"},
		"no empty line":            {"Count bytes\nfor databases\n", "line 2 is not empty"},
		"long body":                {"Count bytes\n\n" + strings.Repeat("x", 73) + "\n", "line 3 has 73 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "message")
			if err := os.WriteFile(file, []byte(test.message), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := script(t, dir, nil, "message", file)
			if (err != nil) != (test.want != "") || !strings.Contains(out, test.want) {
				t.Errorf("%q: error %v, output %q; want %q", test.message, err, out, test.want)
			}
		})
	}
}

func TestCommitsSinceTheBaseAreChecked(t *testing.T) {
	dir := repository(t)
	if out, err := script(t, dir, []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}); err != nil || !strings.Contains(out, "skipped, this is not a clone") {
		t.Errorf("without a repository: error %v, output %q; want it skipped with the reason", err, out)
	}
	git(t, dir, "init", "--quiet")
	git(t, dir, "commit", "--quiet", "--allow-empty", "-m", "what came before the rule.")
	if out, err := script(t, dir, nil); err != nil || !strings.Contains(out, "skipped, the history of this clone does not reach") {
		t.Errorf("without the base: error %v, output %q; want it skipped with the reason", err, out)
	}
	base := []string{"PGSTORAGE_COMMITS_BASE=" + git(t, dir, "rev-parse", "HEAD")}
	git(t, dir, "commit", "--quiet", "--allow-empty", "-m", "Count bytes")
	if out, err := script(t, dir, base); err != nil || !strings.Contains(out, "1 checked, no findings") {
		t.Errorf("good commit: error %v, output %q; want 1 checked", err, out)
	}
	git(t, dir, "commit", "--quiet", "--allow-empty", "-m", "bytes are counted")
	if out, err := script(t, dir, base); err == nil || !strings.Contains(out, `begins with "bytes"`) {
		t.Errorf("bad commit: error %v, output %q; want an error about its subject", err, out)
	}
}

func TestHookRejectsACommit(t *testing.T) {
	dir := repository(t)
	git(t, dir, "init", "--quiet")
	if out, err := script(t, dir, []string{"GIT_CONFIG_GLOBAL=/dev/null"}, "install"); err != nil {
		t.Fatalf("install the hook: %v\n%s", err, out)
	}
	git(t, dir, "commit", "--quiet", "--allow-empty", "-m", "Count bytes")
	cmd := exec.CommandContext(t.Context(), "git", "-C", dir, "-c", "user.name=n", "-c", "user.email=n@example.com", "commit", "--quiet", "--allow-empty", "-m", "bytes are counted")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), `begins with "bytes"`) {
		t.Errorf("commit with a bad subject: error %v, output %q; want the hook to reject it", err, out)
	}
}
