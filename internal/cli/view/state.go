// Package view formats what the commands print: states and their colours, columns and
// bars. It is pure: the caller decides whether to colour.
package view

import (
	"github.com/fatih/color"
)

// State is the state of an object in one word.
type State string

// The states.
const (
	// Ready objects match their spec.
	Ready State = "Ready"
	// Waiting objects can become Ready without the user.
	Waiting State = "Waiting"
	// Stalled objects need the user to act.
	Stalled State = "Stalled"
	// Unknown objects could not be read, or their controller has not observed them.
	Unknown State = "Unknown"
	// Exists is the state of objects without a status to evaluate.
	Exists State = "Exists"
)

// Style is the style of the output.
type Style struct {
	// Colour is set for terminals only.
	Colour bool
}

var colours = map[State]color.Attribute{Ready: color.FgGreen, Waiting: color.FgYellow, Stalled: color.FgRed, Unknown: color.FgMagenta}

// Paint returns text in the colour of a state, which only repeats what the words say.
func (s Style) Paint(state State, text string) string {
	attribute, known := colours[state]
	if !known {
		return text
	}
	return s.paint(text, attribute)
}

// Strong returns text in bold, for a heading.
func (s Style) Strong(text string) string { return s.paint(text, color.Bold) }

// Faint returns dimmed text, for details.
func (s Style) Faint(text string) string { return s.paint(text, color.Faint) }

func (s Style) paint(text string, attribute color.Attribute) string {
	if !s.Colour || text == "" {
		return text
	}
	c := color.New(attribute)
	c.EnableColor()
	return c.Sprint(text)
}
