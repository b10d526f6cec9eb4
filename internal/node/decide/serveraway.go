package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// reconnectable devices: their server was stopped in order, or their connection broke,
// and a server that has all that was written to them answers.
func (d networkDecision) reconnectable() []NetworkDevice {
	return slices.DeleteFunc(d.net.in(DeviceReconnecting), func(n NetworkDevice) bool { return !d.net.Answers(n.Server) })
}

func (d networkDecision) reconnecting(ready []NetworkDevice) NetworkStep {
	step := networkWait(v1alpha1.ReasonReconnecting, "being connected to a server that has all that was written to them: %s; requests wait meanwhile, and none is lost", names(ready))
	step.Reconnect, step.Hold = ready, d.net.Stalls()
	return step
}

// away are the servers that do not answer, of all that are declared.
func (d networkDecision) away() []string {
	var out []string
	for _, server := range d.s.Spec.NetworkDevices.Servers {
		if !d.net.Answers(server.Name) {
			out = append(out, server.Name)
		}
	}
	return out
}

// waitFor servers that are away. What is told ends with what that means.
func (d networkDecision) waitFor(away []string, meaning string, args ...any) NetworkStep {
	var told []string
	for _, server := range away {
		told = append(told, d.tell(server))
	}
	text := strings.Join(told, "; ") + fmt.Sprintf(meaning, args...)
	// What needs a person comes first, then what a person may want to look at.
	for _, reason := range []string{v1alpha1.ReasonFenced, v1alpha1.ReasonStoreUnavailable, v1alpha1.ReasonServerNotRunning} {
		if slices.ContainsFunc(away, func(server string) bool { return d.whyAway(server) == reason }) {
			if reason == v1alpha1.ReasonFenced {
				return networkInvalid(reason, "%s", text)
			}
			return networkWait(reason, "%s", text)
		}
	}
	return networkWait(v1alpha1.ReasonReconnecting, "%s", text)
}

// whyAway is the reason of a server that does not answer.
func (d networkDecision) whyAway(server string) string {
	life, phase := d.net.Lives[server], d.net.phase(server)
	switch {
	case life.Problem != "":
		return v1alpha1.ReasonServerNotRunning
	case d.net.Fenced(server):
		return v1alpha1.ReasonFenced
	case phase == zerofs.PhaseHolding, phase == zerofs.PhaseStarting && d.net.Servers[server].Reason != "":
		return v1alpha1.ReasonStoreUnavailable
	case phase == zerofs.PhaseStopping, d.waits(server):
		return v1alpha1.ReasonReconnecting
	}
	return v1alpha1.ReasonServerNotRunning
}

// waits says that a device of a server waits for its successor.
func (d networkDecision) waits(server string) bool {
	return slices.ContainsFunc(d.net.in(DeviceReconnecting), func(n NetworkDevice) bool { return n.Server == server })
}

// tell of a server that does not answer.
func (d networkDecision) tell(server string) string {
	life, told := d.net.Lives[server], d.net.Servers[server]
	switch {
	case life.Problem != "":
		return fmt.Sprintf("of the server of store %s nothing is known: %s", server, life.Problem)
	case d.net.Fenced(server):
		return fmt.Sprintf("another writer has opened the prefix of store %s, and its server answers nothing any more: find and stop the other writer, then restart this node%s", server, toldBy(told))
	case life.BootID != d.net.BootID:
		return fmt.Sprintf("the server of store %s has not started since the node did", server)
	}
	switch d.net.phase(server) {
	case zerofs.PhaseHolding:
		return fmt.Sprintf("the server of store %s holds all requests since %s, until its store is back (ZeroFS was started again %d times)%s",
			server, told.Since.UTC().Format(time.RFC3339), told.Restarts, toldBy(told))
	case zerofs.PhaseStarting:
		return fmt.Sprintf("the server of store %s is starting%s", server, toldBy(told))
	case zerofs.PhaseStopping:
		return fmt.Sprintf("the server of store %s was told to stop, and flushes", server)
	}
	if d.waits(server) {
		return fmt.Sprintf("the server of store %s was stopped in order, and its successor is awaited", server)
	}
	return fmt.Sprintf("the server of store %s does not run", server)
}

// toldBy is what a server told of its phase.
func toldBy(told zerofs.ServerStatus) string {
	switch {
	case told.Reason == "" && told.Message == "":
		return ""
	case told.Message == "":
		return ": " + told.Reason
	}
	return fmt.Sprintf(": %s: %s", told.Reason, told.Message)
}
