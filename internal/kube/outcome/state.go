// Package outcome holds plain values that pass between reading, planning and
// reporting: what was seen, and what follows from it. It has no behaviour that
// reaches outside.
package outcome

// OutcomeKind is how far one concern of an object is.
type Kind int

const (
	// Done means as declared.
	Done Kind = iota
	// Wait means not yet; it can come by itself.
	Wait
	// Invalid means that a person must act.
	Invalid
)

// Outcome is what a pass found about one condition. Only package status turns
// it into conditions.
type Outcome struct {
	// Condition type that the outcome is about.
	Condition string
	Kind      Kind
	// Reason is a CamelCase constant of package v1alpha1.
	Reason string
	// Message is for people; it holds nothing that changes by itself.
	Message string
	// Informative outcomes do not take part in Ready.
	Informative bool
	// Unknown is reported where nothing could be read.
	Unknown bool
}

// DoneWith is an Outcome that holds.
func DoneWith(condition, reason, message string) Outcome {
	return Outcome{Condition: condition, Kind: Done, Reason: reason, Message: message}
}

// WaitFor is an Outcome that waits.
func WaitFor(condition, reason, message string) Outcome {
	return Outcome{Condition: condition, Kind: Wait, Reason: reason, Message: message}
}

// InvalidBecause is an Outcome that needs a person.
func InvalidBecause(condition, reason, message string) Outcome {
	return Outcome{Condition: condition, Kind: Invalid, Reason: reason, Message: message}
}
