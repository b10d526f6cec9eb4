// Package status builds the tree of an object and everything it depends on: for each
// object its state, its conditions, and what it waits for. It is pure.
package status

import (
	"fmt"
	"strings"

	"github.com/xlab/treeprint"

	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Tree is an object and, as its children, what it depends on.
type Tree struct {
	Kind      string     `json:"kind"`
	Namespace string     `json:"namespace,omitempty"`
	Name      string     `json:"name,omitempty"`
	State     view.State `json:"state"`
	// Reason and Message explain a state other than Ready: what the object waits for, or
	// what the user has to do.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Details in words, such as the health of a pool.
	Details []string `json:"details,omitempty"`
	// Runbook is the reason, if it has a runbook.
	Runbook    string      `json:"runbook,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
	Children   []Tree      `json:"children,omitempty"`
}

// Condition is a condition of an object without its times.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Runbook string `json:"runbook,omitempty"`
}

// Text draws the tree for a terminal.
func (i Tree) Text(style view.Style) string {
	root := treeprint.NewWithRoot(i.head(style) + i.lines(style, i.stem()))
	for _, c := range i.Children {
		c.add(root, style)
	}
	return root.String()
}

func (i Tree) add(to treeprint.Tree, style view.Style) {
	branch := to.AddBranch(i.head(style) + i.lines(style, i.stem()))
	for _, c := range i.Children {
		c.add(branch, style)
	}
}

// stem is what further lines of an object begin with: a line down to its children, if any.
func (i Tree) stem() string {
	if len(i.Children) == 0 {
		return "   "
	}
	return "│  "
}

// head returns the first line of the object: kind, name, state and details.
func (i Tree) head(style view.Style) string {
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

// lines returns the lines below the head: the message, and then each condition.
func (i Tree) lines(style view.Style, stem string) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString("\n" + stem + fmt.Sprintf(format, args...)) }
	if i.Message != "" && i.State != view.Ready && !i.messageInConditions() {
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
	if i.Runbook != "" && i.State != view.Ready && !i.messageInConditions() {
		line("see kubectl pgstorage runbook %s", i.Runbook)
	}
	return b.String()
}

// messageInConditions reports whether a condition shows the message already.
func (i Tree) messageInConditions() bool {
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
		return view.Waiting
	}
	return view.Unknown
}

// tail returns the message and the runbook of a condition that is not True.
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
