package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SaveRuns writes every run as a line of JSON into a file of the folder.
func SaveRuns[T any](folder, name string, runs []T) error {
	lines, err := Lines(runs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), lines, 0o644)
}

// Lines of JSON, one for each value.
func Lines[T any](values []T) ([]byte, error) {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, v := range values {
		if err := lines.Encode(v); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// Header of a Markdown table with these columns.
func Header(out io.Writer, columns ...string) {
	_, _ = fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

// Settings lists lines and, below a title each, parameters, in a folded block.
func Settings(out io.Writer, lines []string, parameters map[string]map[string]string) {
	var parts []string
	if len(lines) > 0 {
		parts = append(parts, strings.Join(lines, "\n")+"\n")
	}
	for _, title := range slices.Sorted(maps.Keys(parameters)) {
		var part strings.Builder
		part.WriteString(title + ":\n")
		for _, name := range slices.Sorted(maps.Keys(parameters[title])) {
			part.WriteString(name + " = " + parameters[title][name] + "\n")
		}
		parts = append(parts, part.String())
	}
	_, _ = fmt.Fprintf(out, "\n<details><summary>Properties and parameters</summary>\n\n```\n%s```\n\n</details>\n", strings.Join(parts, "\n"))
}
