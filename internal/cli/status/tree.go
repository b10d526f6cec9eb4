// Package status shows what an object stands on: a line for each object with its state,
// its conditions, and what is waited for. It is pure.
package status

import (
	"fmt"
	"strings"

	"github.com/xlab/treeprint"

	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Item is an object and what it stands on.
type Item struct {
	Kind      string     `json:"kind"`
	Namespace string     `json:"namespace,omitempty"`
	Name      string     `json:"name,omitempty"`
	State     view.State `json:"state"`
	// Reason and Message of a state other than Ready: what is waited for, or what a
	// person has to do.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Details in words, such as a pool's health.
	Details []string `json:"details,omitempty"`
	// Runbook of the reason, where there is one.
	Runbook    string      `json:"runbook,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
	Children   []Item      `json:"children,omitempty"`
}

// Condition of an object without times.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Runbook string `json:"runbook,omitempty"`
}

// Text draws the tree.
func (i Item) Text(style view.Style) string {
	root := treeprint.NewWithRoot(i.head(style) + i.lines(style, i.stem()))
	for _, c := range i.Children {
		c.add(root, style)
	}
	return root.String()
}

func (i Item) add(to treeprint.Tree, style view.Style) {
	branch := to.AddBranch(i.head(style) + i.lines(style, i.stem()))
	for _, c := range i.Children {
		c.add(branch, style)
	}
}

// stem before further lines of an item: it leads to the children, where there are.
func (i Item) stem() string {
	if len(i.Children) == 0 {
		return "   "
	}
	return "│  "
}

// head is the line of the object itself.
func (i Item) head(style view.Style) string {
	name := strings.TrimPrefix(i.Namespace+"/"+i.Name, "/")
	out := strings.TrimSpace(view.Clean(i.Kind) + " " + style.Strong(view.Clean(name)))
	if i.State != view.Exists {
		out += "  " + style.Paint(i.State, string(i.State))
	}
	if i.Reason != "" && i.State != view.Ready {
		out += " (" + view.Clean(i.Reason) + ")"
	}
	if len(i.Details) > 0 {
		out += "  " + style.Faint(view.Clean(strings.Join(i.Details, ", ")))
	}
	return out
}

// lines beneath the head: what is waited for, then each condition.
func (i Item) lines(style view.Style, stem string) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString("\n" + stem + fmt.Sprintf(format, args...)) }
	if i.Message != "" && i.State != view.Ready && !i.told() {
		line("%s", view.Clean(i.Message))
	}
	width := 0
	for _, c := range i.Conditions {
		width = max(width, len(c.Type)+len(c.Status)+1)
	}
	for _, c := range i.Conditions {
		pair := view.Clean(c.Type + "=" + c.Status)
		line("%s%s  %s", style.Paint(c.state(), pair), strings.Repeat(" ", width-len(pair)), view.Clean(c.Reason+c.tail()))
	}
	if i.Runbook != "" && i.State != view.Ready && !i.told() {
		line("see kubectl pgstorage runbook %s", i.Runbook)
	}
	return b.String()
}

// told says that a condition has the message already.
func (i Item) told() bool {
	for _, c := range i.Conditions {
		if c.Status != "True" && c.Message == i.Message {
			return true
		}
	}
	return false
}

func (c Condition) state() view.State {
	switch c.Status {
	case "True":
		return view.Ready
	case "False":
		return view.Waits
	}
	return view.Unknown
}

// tail of a condition that does not hold: why, and where it is explained.
func (c Condition) tail() string {
	if c.Status == "True" {
		return ""
	}
	out := ""
	if c.Message != "" {
		out = ": " + c.Message
	}
	if c.Runbook != "" {
		out += "; see kubectl pgstorage runbook " + c.Runbook
	}
	return out
}
