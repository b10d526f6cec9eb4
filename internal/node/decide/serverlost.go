package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

const (
	// RestartDelay between the decision to restart a node, which is told, and the
	// restart.
	RestartDelay = 15 * time.Second
	// restartWait after a restart of a node by its agent before the next one; it doubles
	// up to restartLongest while they follow each other, until restartForgotten.
	restartWait      = 10 * time.Minute
	restartLongest   = 4 * time.Hour
	restartForgotten = 24 * time.Hour
)

// lost devices beneath an imported pool: nothing is connected. Only a restart of the
// node lets go of a pool whose devices are gone, and after it the pool is imported at
// its last transaction group.
func (d networkDecision) lost() NetworkStep {
	bad := d.net.in(DeviceLost, DeviceDetached)
	pool := d.s.Spec.Pool.Name
	if fenced := slices.DeleteFunc(d.away(), func(server string) bool { return !d.net.Fenced(server) }); len(fenced) > 0 {
		step := d.waitFor(fenced, "; requests to pool %s wait until then, and the agent does not restart the node for it", pool)
		step.Hold = true
		return step
	}
	why := strings.Join(d.endings(bad), "; ")
	if d.net.Mirror && d.net.Unread && d.each(func(n NetworkDevice) bool { return d.net.State(n) == DeviceAttached }) {
		return networkWait(v1alpha1.ReasonServerNotRunning, "%s; what pool %s makes of that is not known, as ZFS does not answer", why, pool)
	}
	step := networkInvalid(v1alpha1.ReasonServerLost, "pool %s has lost %s: %s. The pool is not connected to a new server, which may lack what ZFS takes for written. ",
		pool, names(bad), why)
	if d.s.Spec.NetworkDevices.OnServerLost == v1alpha1.ServerLostRebootNode {
		d.restart(&step, bad)
		return step
	}
	step.Outcome.Message += "Switch its databases over to other nodes, do not run zpool clear, and restart this node: the pool is then imported with all that was flushed; see the runbook ServerLost"
	return step
}

// endings of devices' servers, each once.
func (d networkDecision) endings(devices []NetworkDevice) []string {
	var out []string
	for _, device := range devices {
		if text := d.ending(device); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// ending of a device's server, in words.
func (d networkDecision) ending(device NetworkDevice) string {
	life := d.net.Lives[device.Server]
	switch {
	case device.Attached == nil:
		return fmt.Sprintf("a device of store %s was disconnected beneath it", device.Server)
	case life.Problem != "":
		return fmt.Sprintf("the device of store %s fails, and of its server nothing is known: %s", device.Server, life.Problem)
	case d.net.Fenced(device.Server):
		return fmt.Sprintf("another writer has opened the prefix of store %s", device.Server)
	case life.Has(device.Attached.Life) && (life.Clean || d.net.Runs(device.Server)):
		return fmt.Sprintf("the connection to the server of store %s broke, as when a request takes longer than requestTimeout, and the device fails", device.Server)
	}
	return fmt.Sprintf("the server of store %s ended uncleanly", device.Server)
}

// restart of the node: told first, done a while later and once, and only where a device
// is lost that it would bring back.
func (d networkDecision) restart(step *NetworkStep, bad []NetworkDevice) {
	last := d.net.Record.Restart
	want := Restart{BootID: d.net.BootID, Lost: lives(bad), At: d.now, Wait: last.wait(d.now)}
	same := last.of(want)
	switch {
	case !slices.ContainsFunc(bad, func(n NetworkDevice) bool { return n.Attached != nil }):
		step.Outcome.Message += "onServerLost is RebootNode, but no device is attached that a restart would bring back; restart the node by hand"
	case same && last.Done:
		step.Outcome.Message += "onServerLost is RebootNode, and the agent has asked the kernel for a restart, which did not happen; restart the node by hand"
	case same:
		step.Outcome.Message += "onServerLost is RebootNode: the node is being restarted"
		if d.now.Sub(last.At) >= RestartDelay {
			step.Restart = last
		}
	case last.recent(d.now):
		step.Outcome.Message += fmt.Sprintf("onServerLost is RebootNode, but the agent restarted the node at %s and leaves %s between two restarts, longer each time they follow each other; it does so again after that, or restart the node by hand once its servers stay up",
			last.At.UTC().Format(time.RFC3339), last.pause())
	default:
		step.Outcome.Message += fmt.Sprintf("onServerLost is RebootNode: the node is being restarted, and not again within %s", want.Wait)
		step.Intend = &want
	}
}

// of this boot, which ends with its first restart: done, or meant for the same loss and
// of late, since what healed meanwhile is not restarted for.
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

// lives that were lost, in words that tell them from others.
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
