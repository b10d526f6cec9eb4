// Command dashboards writes the Grafana dashboards as JSON. Usage:
// go run ./hack/dashboards FOLDER
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/dashboards FOLDER")
		os.Exit(2)
	}
	for name, b := range map[string]*board{"overview": overview(), "cluster": cluster(), "benchmarks": benchmarks(), "nodes": nodes()} {
		if err := write(filepath.Join(os.Args[1], name+".json"), b); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// write a dashboard that Grafana's own schema accepts.
func write(file string, b *board) error {
	built, err := b.builder.Build()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	text, err := json.MarshalIndent(built, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, append(text, '\n'), 0o644) //nolint:gosec // a file of the repository
}
