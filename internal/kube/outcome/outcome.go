// Package outcome has what a reconcile concluded about each condition of an object,
// before it becomes a condition. Outcome is one conclusion, Set is all of one object.
// The packages that decide return outcomes; only package status turns them into
// conditions. The package reads nothing and writes nothing.
package outcome

// Kind says how far one concern of an object is. A larger Kind is worse.
type Kind int

const (
	// Done means that the object is as declared.
	Done Kind = iota
	// Wait means that the object is not as declared yet, and can become so without
	// a user's help.
	Wait
	// Invalid means that a user must act.
	Invalid
)

// Outcome is what a reconcile concluded about one condition.
type Outcome struct {
	// Condition is the type of the condition.
	Condition string
	Kind      Kind
	// Reason is a CamelCase constant of package v1alpha1.
	Reason string
	// Message is for users. It contains nothing that changes while the object is at
	// rest, such as a time, because every change of it is a write.
	Message string
	// Informative outcomes do not count for Ready.
	Informative bool
	// Unknown outcomes become a condition with the status Unknown, because the
	// reconcile could not read what it needed.
	Unknown bool
}

// DoneWith returns an Outcome of a condition that is True.
func DoneWith(condition, reason, message string) Outcome {
	return Outcome{Condition: condition, Kind: Done, Reason: reason, Message: message}
}

// WaitFor returns an Outcome of a condition that is False until something else
// happens.
func WaitFor(condition, reason, message string) Outcome {
	return Outcome{Condition: condition, Kind: Wait, Reason: reason, Message: message}
}

// InvalidBecause returns an Outcome of a condition that is False until a user acts.
func InvalidBecause(condition, reason, message string) Outcome {
	return Outcome{Condition: condition, Kind: Invalid, Reason: reason, Message: message}
}
