package outcome

// Event is an Event that a reconcile emits once the status is written.
type Event struct {
	// Type is Normal or Warning.
	Type string
	// Reason is CamelCase, and Message is for users.
	Reason, Message string
}
