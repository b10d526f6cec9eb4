package explain

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Text formats an explanation.
func (e Explanation) Text(style view.Style) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	head := e.Cluster + " on profile " + e.Profile
	if e.ProfileType != "" {
		head += ", type " + e.ProfileType
	}
	line("%s", style.Strong(view.Clean(head)))
	for _, note := range e.Notes {
		line("%s %s", style.Paint(view.Waiting, "note:"), view.Clean(note))
	}
	e.durability(line, &b, style)
	e.parameters(line, &b, style)
	e.storage(line, &b, style)
	e.volumes(line, &b, style)
	return b.String()
}

func (e Explanation) parameters(line func(string, ...any), b *strings.Builder, style view.Style) {
	if len(e.Parameters) == 0 {
		return
	}
	line("\n%s", style.Strong("Postgres parameters"))
	rows := [][]string{{"NAME", "VALUE", "SOURCE", "REASON"}}
	for _, p := range e.Parameters {
		rows = append(rows, []string{p.Name, view.Or(p.Value), p.Source, p.Reason})
	}
	b.WriteString(view.Columns(rows...))
}

func (e Explanation) storage(line func(string, ...any), b *strings.Builder, style view.Style) {
	if len(e.Storage) == 0 {
		return
	}
	line("\n%s", style.Strong("Pool and dataset properties"))
	rows := [][]string{{"DATASET", "PROPERTY", "VALUE", "OBSERVED", "SOURCE", "REASON"}}
	for _, p := range e.Storage {
		rows = append(rows, []string{p.Of, p.Name, p.Value, view.Or(p.ReadBack), p.Source, p.Reason})
	}
	b.WriteString(view.Columns(rows...))
}

func (e Explanation) volumes(line func(string, ...any), b *strings.Builder, style view.Style) {
	if len(e.Volumes) == 0 {
		return
	}
	line("\n%s", style.Strong("Observed volumes"))
	rows := [][]string{{"CLAIM", "INSTANCE", "ROLE", "NODE", "DATASET", "RECORDSIZE"}}
	for _, v := range e.Volumes {
		rows = append(rows, []string{v.Claim, v.Instance, v.Role, view.Or(v.Node), view.Or(v.Dataset), recordsize(v.Recordsize)})
	}
	b.WriteString(view.Columns(rows...))
}

func (e Explanation) durability(line func(string, ...any), b *strings.Builder, style view.Style) {
	d := e.Durability
	if d == nil {
		return
	}
	line("\n%s", style.Strong("Durability "+string(d.Tier)))
	line("Postgres acknowledges a commit %s.", view.Clean(d.Acknowledged))
	rows := [][]string{{"EVENT", "ACKNOWLEDGED COMMITS", "REASON"}}
	for _, l := range d.Losses {
		rows = append(rows, []string{l.Event, l.AcknowledgedCommits, l.Detail})
	}
	b.WriteString(view.Columns(rows...))
}

func recordsize(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%dk", n/1024)
}
