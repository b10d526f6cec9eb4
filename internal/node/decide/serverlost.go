package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

const (
	// RestartDelay between the report of the decision to restart a node and the restart.
	RestartDelay = 15 * time.Second
	// restartWait after a restart of a node by its agent before the next one. It doubles up to
	// restartLongest while restarts follow each other, until restartForgotten.
	restartWait      = 10 * time.Minute
	restartLongest   = 4 * time.Hour
	restartForgotten = 24 * time.Hour
)

// lost devices under an imported pool: the agent connects nothing. Only a restart of the node
// releases a pool whose devices are lost. After it the pool is imported at its last transaction
// group.
func (d networkDecider) lost() NetworkDecision {
	bad := d.net.in(DeviceLost, DeviceDetached)
	pool := d.s.Spec.Pool.Name
	if fenced := slices.DeleteFunc(d.away(), func(server string) bool { return !d.net.Fenced(server) }); len(fenced) > 0 {
		decision := d.waitFor(fenced, msgFencedNoRestart, pool)
		decision.PoolWaits = true
		return decision
	}
	why := strings.Join(d.endings(bad), "; ")
	if d.net.Mirror && d.net.Unread && d.each(func(n NetworkDevice) bool { return d.net.State(n) == DeviceAttached }) {
		return networkWait(v1alpha1.ReasonServerNotRunning, msgServerLostUnread, why, pool)
	}
	decision := networkInvalid(v1alpha1.ReasonServerLost, msgServerLost,
		pool, names(bad), why)
	if d.s.Spec.NetworkDevices.OnServerLost == v1alpha1.ServerLostRebootNode {
		d.restart(&decision, bad)
		return decision
	}
	decision.Outcome.Message += msgServerLostWait
	return decision
}

// endings of devices' servers, each once.
func (d networkDecider) endings(devices []NetworkDevice) []string {
	var out []string
	for _, device := range devices {
		if text := d.ending(device); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// ending of a device's server, in words.
func (d networkDecider) ending(device NetworkDevice) string {
	life := d.net.Lives[device.Server]
	switch {
	case device.Attached == nil:
		return fmt.Sprintf(msgEndedDisconnected, device.Server)
	case life.Problem != "":
		return fmt.Sprintf(msgEndedUnknown, device.Server, life.Problem)
	case d.net.Fenced(device.Server):
		return fmt.Sprintf(msgEndedFenced, device.Server)
	case life.Has(device.Attached.Life) && (life.Clean || d.net.Runs(device.Server)):
		return fmt.Sprintf(msgEndedConnection, device.Server)
	}
	return fmt.Sprintf(msgEndedUncleanly, device.Server)
}

// restart of the node. The agent reports it first, and does it once, a while later. It does so
// only where a restart brings back a lost device.
func (d networkDecider) restart(decision *NetworkDecision, bad []NetworkDevice) {
	last := d.net.Record.Restart
	want := Restart{BootID: d.net.BootID, Lost: lives(bad), At: d.now, Wait: last.wait(d.now)}
	same := last.of(want)
	switch {
	case !slices.ContainsFunc(bad, func(n NetworkDevice) bool { return n.Attached != nil }):
		decision.Outcome.Message += msgRestartUseless
	case same && last.Done:
		decision.Outcome.Message += msgRestartFailed
	case same:
		decision.Outcome.Message += msgRestarting
		if d.now.Sub(last.At) >= RestartDelay {
			decision.Action = RestartNode{Restart: *last}
		}
	case last.recent(d.now):
		decision.Outcome.Message += fmt.Sprintf(msgRestartedLately,
			last.At.UTC().Format(time.RFC3339), last.pause())
	default:
		decision.Outcome.Message += fmt.Sprintf(msgRestartAnnounced, want.Wait)
		decision.Action = AnnounceRestart{Restart: want}
	}
}

// of reports whether a restart is of this boot, which ends with its first restart. The restart
// is done, or was recently meant for the same loss: a loss that healed meanwhile causes no
// restart.
func (r *Restart) of(want Restart) bool {
	if r == nil || r.BootID != want.BootID {
		return false
	}
	return r.Done || r.Lost == want.Lost && want.At.Sub(r.At) < restartWait
}

// recent restarts are not followed by another.
func (r *Restart) recent(now time.Time) bool {
	return r != nil && r.Done && now.Sub(r.At) < r.pause()
}

// pause after a restart.
func (r *Restart) pause() time.Duration { return max(r.Wait, restartWait) }

// wait after a restart that follows this one, which may not have come to be.
func (r *Restart) wait(now time.Time) time.Duration {
	switch {
	case r == nil || now.Sub(r.At) >= restartForgotten:
		return restartWait
	case r.Done:
		return min(2*r.pause(), restartLongest)
	}
	return r.pause()
}

// lives that were lost, in words that distinguish them.
func lives(bad []NetworkDevice) string {
	var out []string
	for _, d := range bad {
		life := "none"
		if d.Attached != nil {
			life = d.Attached.Life
		}
		out = append(out, d.Name()+"@"+life)
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}
