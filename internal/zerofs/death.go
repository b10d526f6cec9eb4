package zerofs

import "strings"

// deathly is what the SlateDB of 0.19.1 logs when a task of the database ended by an
// error, whichever task. The database is closed then for good (add_handler in
// dispatcher.rs of slatedb 0.9.2): each write and flush fails, and the process lives on.
const deathly = "background task panicked unexpectedly"

// Death returns the failure of a database whose server keeps running, by a line of the
// server's log. The line must not contain Secrets. It is nil for any other line.
func Death(line string) *Failure {
	_, said, found := strings.Cut(Plain(line), deathly+". ")
	switch {
	case !found:
		return nil
	case strings.Contains(said, "Fenced"):
		return &Failure{Reason: ReasonFenced, Message: takenOver + " (ZeroFS: " + said + ")"}
	}
	if f := Explain(said, nil); f.Reason != ReasonServerFailed && f.Reason != ReasonEndpointUnreachable {
		return f
	}
	return &Failure{Reason: ReasonStoreLost, Message: storeLost + " (ZeroFS: " + said + ")"}
}
