package pgbench

import (
	"errors"
	"strings"
	"testing"
)

func TestScriptsThatRunProgramsAreRefused(t *testing.T) {
	for script, line := range map[string]int{
		`\shell id`:                          1,
		"SELECT 1;\n\\setshell x id":         2,
		"\\set x 1\r\n\\SETSHELL x id":       2,
		"SELECT 1\n\\; SELECT 2 \\sHell id":  2,
		"\\ \t\v\f shell id":                 1,
		"\\\\\n\\\\\r\nshell id":             2,
		"\\\\\n setshell x id":               1,
		"\\shell\\\n id":                     1,
		"-- \\shell":                         1,
		"SELECT 'a\\\\shell'":                1,
		"\\set x 1\x00\n\\setshell y id":     2,
		"\xff\\shell id":                     1,
		"SELECT $$ \\ $$; \\ \n\\shell id\n": 2,
	} {
		err := CheckScript([]byte(script))
		var refused *RefusedScript
		if !errors.As(err, &refused) || refused.Line != line || !strings.Contains(err.Error(), "runs a program") {
			t.Errorf("%q: %v", script, err)
		}
	}
	for _, script := range []string{
		"", "SELECT 1;", "\\set shell 1\nSELECT :shell;", "SELECT 'a shell';", "\\set x random(1, 10)\n\\sleep 1 ms\n\\gset\nUPDATE t SET shell = 1;", `\set setshell 2`,
	} {
		if err := CheckScript([]byte(script)); err != nil {
			t.Errorf("%q: %v", script, err)
		}
	}
}
