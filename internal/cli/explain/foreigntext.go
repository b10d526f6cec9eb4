package explain

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Text formats the explanation of a CloudNativePG Cluster.
func (f Foreign) Text(style view.Style) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	head := fmt.Sprintf("CloudNativePG Cluster %s, PostgreSQL %s, %d instances", f.Cluster, f.Version, f.Instances)
	if f.Phase != "" {
		head += ", " + f.Phase
	}
	line("%s", style.Strong(view.Clean(head)))
	for _, n := range f.Notes {
		line("%s %s", style.Paint(view.Waiting, "note:"), view.Clean(n))
	}
	if d := f.Durability; d != nil {
		line("\n%s", style.Strong("Durability, as declared"))
		line("Postgres acknowledges a commit %s.", view.Clean(d.Acknowledged))
		rows := [][]string{{"EVENT", "ACKNOWLEDGED COMMITS", "REASON"}}
		for _, l := range d.Losses {
			rows = append(rows, []string{l.Event, l.AcknowledgedCommits, l.Detail})
		}
		b.WriteString(view.Columns(rows...))
	}
	if len(f.Volumes) > 0 {
		line("\n%s", style.Strong("Volumes of each instance"))
		rows := [][]string{{"ROLE", "SIZE", "STORAGECLASS", "PROVISIONER", "RECLAIM", "EXPANSION"}}
		for _, v := range f.Volumes {
			rows = append(rows, []string{v.Role, v.Size, view.Or(v.Class), view.Or(v.Provisioner), view.Or(v.Reclaim), view.Or(v.Grows)})
		}
		b.WriteString(view.Columns(rows...))
	}
	f.settings(line, &b, style)
	return b.String()
}

func (f Foreign) settings(line func(string, ...any), b *strings.Builder, style view.Style) {
	if len(f.Parameters) > 0 {
		line("\n%s", style.Strong("Postgres parameters of the Cluster"))
		rows := [][]string{{"NAME", "VALUE", "SET BY"}}
		for _, p := range f.Parameters {
			rows = append(rows, []string{p.Name, view.Or(p.Value), p.SetBy})
		}
		b.WriteString(view.Columns(rows...))
	}
	if len(f.Different) > 0 {
		line("\n%s", style.Strong("Parameters that pgstorage would derive for an OLTP and analytics mix on SSD"))
		rows := [][]string{{"NAME", "NOW", "PGSTORAGE", "REASON"}}
		for _, d := range f.Different {
			rows = append(rows, []string{d.Name, view.Or(d.Now), d.Ours, d.Reason})
		}
		b.WriteString(view.Columns(rows...))
	}
	if len(f.Findings) > 0 {
		line("\n%s", style.Strong("Further settings that pgstorage would set differently"))
		for _, text := range f.Findings {
			line("- %s", view.Clean(text))
		}
	}
	line("\nkubectl pgstorage adopt shows how to take it over without a change.")
}
