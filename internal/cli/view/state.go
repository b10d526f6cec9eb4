// Package view is how the commands show things: states and their colours, trees,
// columns and bars. It is pure: the caller says whether there is a terminal.
package view

import (
	"github.com/fatih/color"
)

// State of an object in one word.
type State string

// The states.
const (
	// Ready is as declared.
	Ready State = "Ready"
	// Waits for something that can come by itself.
	Waits State = "Waits"
	// Stalled needs a person.
	Stalled State = "Stalled"
	// Unknown could not be read, or nobody has looked yet.
	Unknown State = "Unknown"
	// Exists says no more than that.
	Exists State = "Exists"
)

// rank orders states by how much they matter.
var rank = map[State]int{Exists: 0, Ready: 1, Unknown: 2, Waits: 3, Stalled: 4}

// Worse of two states.
func Worse(a, b State) State {
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// Style of the output.
type Style struct {
	// Colour is for terminals only.
	Colour bool
}

var colours = map[State]color.Attribute{Ready: color.FgGreen, Waits: color.FgYellow, Stalled: color.FgRed, Unknown: color.FgMagenta}

// Paint text in the colour of a state. The words say the same without it.
func (s Style) Paint(state State, text string) string {
	attribute, known := colours[state]
	if !known {
		return text
	}
	return s.paint(text, attribute)
}

// Strong sets text apart, such as a heading.
func (s Style) Strong(text string) string { return s.paint(text, color.Bold) }

// Faint holds back what is of less interest.
func (s Style) Faint(text string) string { return s.paint(text, color.Faint) }

func (s Style) paint(text string, attribute color.Attribute) string {
	if !s.Colour || text == "" {
		return text
	}
	c := color.New(attribute)
	c.EnableColor()
	return c.Sprint(text)
}
