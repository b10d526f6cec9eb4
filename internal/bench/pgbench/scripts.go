package pgbench

import (
	"bytes"
	"fmt"
	"regexp"
)

// shell is \shell and \setshell, which run a program beside pgbench. It matches them after any
// backslash, since pgbench takes commands after SQL too, in any case, after any space and any
// continued line. (PostgreSQL, src/bin/pgbench/pgbench.c, process_backslash_command, and
// exprscan.l.) It also finds them in strings and comments, where pgbench would not: which those
// are depends on settings of the server.
var shell = regexp.MustCompile(`\\(?:[\s\v]|\\\r?\n)*((?i:set)?(?i:shell))`)

// RefusedScript is a script with a command that may not be used.
type RefusedScript struct {
	// Line of the command, from 1.
	Line int
	// Command as the script has it, without its backslash.
	Command string
}

func (e *RefusedScript) Error() string {
	return fmt.Sprintf(`line %d: \%s runs a program in the benchmark's pod, which a script may not; remove it, also from strings and comments`, e.Line, e.Command)
}

// CheckScript returns a *RefusedScript where a script would run programs.
func CheckScript(script []byte) error {
	found := shell.FindSubmatchIndex(script)
	if found == nil {
		return nil
	}
	return &RefusedScript{Line: 1 + bytes.Count(script[:found[0]], []byte{'\n'}), Command: string(script[found[2]:found[3]])}
}
