package benchmark

import (
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// layers formats the storage layers of a run; empty without layers.
func layers(run *v1alpha1.BenchmarkRun, style view.Style) string {
	if len(run.Layers) == 0 {
		return ""
	}
	rows := [][]string{{"LAYER", "MS", "REPEATS", "PER TRANSACTION", "METHOD", "NOTE"}}
	for _, l := range run.Layers {
		rows = append(rows, []string{l.Name, view.Or(l.Milliseconds), view.Or(strings.Join(l.MillisecondsOfRepeats, " ")), view.Or(perTransaction(l)), view.Or(l.Method), l.Note})
	}
	out := "\n" + style.Strong("Storage layers") + "\n" + view.Columns(rows...)
	if run.LayersVerdict != "" {
		out += view.Clean(run.LayersVerdict) + "\n"
	}
	return out
}

// perTransaction returns what each transaction writes to a layer; empty if not counted.
func perTransaction(l v1alpha1.BenchmarkLayer) string {
	var parts []string
	for _, p := range []struct{ count, of string }{{l.BytesPerTransaction, "B"}, {l.RequestsPerTransaction, "writes"}, {l.FlushesPerTransaction, "flushes"}} {
		if p.count != "" {
			parts = append(parts, p.count+" "+p.of)
		}
	}
	return strings.Join(parts, ", ")
}
