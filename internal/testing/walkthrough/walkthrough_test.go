package walkthrough

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = "# Page\n\n```sh\nexport SIZE=${SIZE:-2Gi}\n```\n\n<!-- needs: zfs-node -->\n```console\n$ kubectl get pgns\nNAME   READY\na      True\n$ kubectl apply -f - <<EOF\nsize: ${SIZE:-1Gi}\nEOF\napplied\n$ echo a \\\n    b\na b\n```\n"

func TestBlocksAndStepsAreRead(t *testing.T) {
	p, err := Parse("page.md", sample)
	if err != nil || len(p.Blocks) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	want := Block{Line: 4, Language: "sh", Heading: "Page", Text: "export SIZE=${SIZE:-2Gi}\n"}
	if diff := cmp.Diff(want, p.Blocks[0]); diff != "" {
		t.Error(diff)
	}
	second := p.Blocks[1]
	if second.Needs != "zfs-node" || second.Language != "console" {
		t.Errorf("%+v", second)
	}
	steps := []Step{
		{9, "kubectl get pgns\n", "NAME   READY\na      True\n"},
		{12, "kubectl apply -f - <<EOF\nsize: ${SIZE:-1Gi}\nEOF\n", "applied\n"},
		{16, "echo a \\\n    b\n", "a b\n"},
	}
	if diff := cmp.Diff(steps, second.Steps()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"size: 1Gi\n"}, second.Objects()); diff != "" {
		t.Error(diff)
	}
}

func TestOutputsOfOneShapeAreEqual(t *testing.T) {
	for _, c := range []struct {
		name, page, printed string
		same                bool
	}{
		{"numbers, ages and hashes", "NAME  TPS    AGE\nx-1a2b3c4d   812.4  2m\n", "NAME   TPS   AGE\nx-0011ffee 7  2m31s", true},
		{"columns", "NAME  TPS\nx     8\n", "NAME  RATE\nx     8\n", false},
		{"keywords", "demo  True\n", "demo  False\n", false},
		{"a line is missing", "a\nb\n", "a\n", false},
		{"a line too many", "a\n", "a\nb\n", false},
		{"dots are any lines", "a\n...\nz\n", "a\nb\nc\nz\n", true},
		{"dots are no line", "a\n...\n", "a\n", true},
		{"dots do not hide what follows", "a\n...\nz\n", "a\nb\n", false},
		{"dots in a line are any text", "a ... z\nb", "a 1 to 2 z\nb", true},
		{"dots in a line keep its ends", "a ... z", "a 1 to 2 y", false},
		{"spaces", "a   b", " a b ", true},
		{"a word without digits is no hash", "feedbeef", "cafebabe", false},
	} {
		if err := Compare(c.page, c.printed); (err == nil) != c.same {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSessionKeepsVariablesAndReportsFailures(t *testing.T) {
	s := Session{Dir: t.TempDir(), State: t.TempDir(), Env: append(os.Environ(), "GIVEN=7")}
	for _, step := range []Step{
		{Command: "export A=${GIVEN:-1}"},
		{Command: "echo have $A", Output: "have 7\n"},
	} {
		out, err := s.Run(t.Context(), step)
		if err != nil || step.Check(out) != nil {
			t.Errorf("%v, %v", err, step.Check(out))
		}
		if step.Output != "" && out != step.Output {
			t.Errorf("printed %q", out)
		}
	}
	wrong := Step{Line: 6, Command: "echo no\n", Output: "yes\n"}
	if err := wrong.Check("no\n"); err == nil || !strings.Contains(err.Error(), "line 6: echo no: the page shows") {
		t.Error(err)
	}
	for want, step := range map[string]Step{
		"line 3: exit status 1":            {Line: 3, Command: "false\ntrue"},
		"line 4: exit status 1":            {Line: 4, Command: "false | cat"},
		"unbound variable":                 {Command: "echo $ABSENT"},
		"line 7: output without a command": {Line: 7, Output: "yes\n"},
	} {
		if _, err := s.Run(t.Context(), step); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
