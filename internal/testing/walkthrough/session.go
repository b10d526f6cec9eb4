package walkthrough

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Session runs commands one after the other, as a terminal would: what one exports, the next has.
type Session struct {
	// Dir is where commands begin, the root of the repository for a tutorial.
	Dir string
	// State is a folder for the variables between commands.
	State string
	// Env is the environment, with the values that the page documents.
	Env []string
}

// patience with one command. A page bounds its own waits.
const patience = 12 * time.Minute

// Run runs the command of a step and returns its output. It returns an error if the command fails.
func (s Session) Run(ctx context.Context, step Step) (string, error) {
	if strings.TrimSpace(step.Command) == "" {
		return "", fmt.Errorf("line %d: output without a command", step.Line)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	state := filepath.Join(s.State, "exported")
	script := fmt.Sprintf("[ ! -e %[1]q ] || . %[1]q\nset -eu -o pipefail\n%[2]s\nexport -p >%[1]q\n", state, step.Command)
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, "bash", "-c", script) //nolint:gosec // G204: the commands of a page of this repository
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.Dir, s.Env, 5*time.Second
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("line %d: %w: %s\n%s%s", step.Line, err, step.Command, out.String(), problems.String())
	}
	return out.String(), nil
}
