package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// away are the servers that do not answer, of all that are declared.
func (d networkDecider) away() []string {
	var out []string
	for _, server := range d.s.Spec.NetworkDevices.Servers {
		if !d.net.Answers(server.Name) {
			out = append(out, server.Name)
		}
	}
	return out
}

// waitFor servers that are away. The message ends with what their absence means.
func (d networkDecider) waitFor(away []string, meaning string, args ...any) NetworkDecision {
	var told []string
	for _, server := range away {
		told = append(told, d.describe(server))
	}
	text := strings.Join(told, "; ") + fmt.Sprintf(meaning, args...)
	// Reasons that need an administrator come first, then those that one may want to check.
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
func (d networkDecider) whyAway(server string) string {
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
func (d networkDecider) waits(server string) bool {
	return slices.ContainsFunc(d.net.in(DeviceReconnecting), func(n NetworkDevice) bool { return n.Server == server })
}

// describe says why a server does not answer.
func (d networkDecider) describe(server string) string {
	life, told := d.net.Lives[server], d.net.Servers[server]
	switch {
	case life.Problem != "":
		return fmt.Sprintf(msgServerUnknown, server, life.Problem)
	case d.net.Fenced(server):
		return fmt.Sprintf(msgServerFenced, server, phaseInWords(told))
	case life.BootID != d.net.BootID:
		return fmt.Sprintf(msgServerNotStarted, server)
	}
	switch d.net.phase(server) {
	case zerofs.PhaseHolding:
		return fmt.Sprintf(msgServerHolds,
			server, told.Since.UTC().Format(time.RFC3339), told.Restarts, phaseInWords(told))
	case zerofs.PhaseStarting:
		return fmt.Sprintf(msgServerStarts, server, phaseInWords(told))
	case zerofs.PhaseStopping:
		return fmt.Sprintf(msgServerStops, server)
	}
	if d.waits(server) {
		return fmt.Sprintf(msgServerHandsOver, server)
	}
	return fmt.Sprintf(msgServerNotRunning, server)
}

// phaseInWords describes the phase that a server reported.
func phaseInWords(told zerofs.ServerStatus) string {
	switch {
	case told.Reason == "" && told.Message == "":
		return ""
	case told.Message == "":
		return ": " + told.Reason
	}
	return fmt.Sprintf(": %s: %s", told.Reason, told.Message)
}
