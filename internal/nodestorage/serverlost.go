package nodestorage

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
	// restartEvery is how long a node lives at least between two restarts by its agent.
	restartEvery = 10 * time.Minute
)

// lost devices beneath an imported pool: nothing is connected. Only a restart of the
// node lets go of a pool whose devices are gone, and after it the pool is imported at
// its last transaction group.
func (d networkDecision) lost() NetworkStep {
	bad := d.net.in(DeviceLost, DeviceDetached)
	var why []string
	for _, device := range bad {
		if text := d.ending(device); !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	step := networkInvalid(v1alpha1.ReasonServerLost, "pool %s has lost %s: %s. The pool is not connected to a new server, which may lack what ZFS takes for written. ",
		d.s.Spec.Pool.Name, names(bad), strings.Join(why, "; "))
	if d.s.Spec.NetworkDevices.OnServerLost == v1alpha1.ServerLostRebootNode {
		d.restart(&step, bad)
		return step
	}
	step.Outcome.Message += "Switch its databases over to other nodes, do not run zpool clear, and restart this node: the pool is then imported with all that was flushed; see the runbook ServerLost"
	return step
}

// ending of a device's server, in words.
func (d networkDecision) ending(device NetworkDevice) string {
	life := d.net.Lives[device.Server]
	switch {
	case device.Attached == nil:
		return fmt.Sprintf("a device of store %s was disconnected beneath it", device.Server)
	case life.Problem != "":
		return fmt.Sprintf("the device of store %s fails, and of its server nothing is known: %s", device.Server, life.Problem)
	case life.ID == device.Attached.Life && d.net.Runs(device.Server):
		return fmt.Sprintf("the server of store %s runs, but the connection to it broke, as when a request takes longer than requestTimeout", device.Server)
	case life.ID == device.Attached.Life && life.Clean, life.Previous == device.Attached.Life && life.PreviousClean:
		return fmt.Sprintf("the server of store %s was stopped in order while the pool was imported", device.Server)
	}
	return fmt.Sprintf("the server of store %s ended uncleanly", device.Server)
}

// restart of the node: told first, done a while later and once, and only where every
// device that is lost has failed to answer.
func (d networkDecision) restart(step *NetworkStep, bad []NetworkDevice) {
	want := Restart{BootID: d.net.BootID, Lost: lives(bad), At: d.now}
	last := d.net.Record.Restart
	same := last.of(want)
	switch {
	case !failed(bad):
		step.Outcome.Message += "onServerLost is RebootNode: the node is restarted once the devices fail to answer"
	case same && last.Done:
		step.Outcome.Message += "onServerLost is RebootNode, and the agent has asked the kernel for a restart, which did not happen; restart the node by hand"
	case same:
		step.Outcome.Message += "onServerLost is RebootNode: the node is being restarted"
		if d.now.Sub(last.At) >= RestartDelay {
			step.Restart = last
		}
	case last.recent(d.now):
		step.Outcome.Message += fmt.Sprintf("onServerLost is RebootNode, but the agent restarted the node less than %s ago; it does so again after that, or restart it by hand once its servers stay up", restartEvery)
	default:
		step.Outcome.Message += "onServerLost is RebootNode: the node is being restarted"
		step.Intend = &want
	}
}

// of this boot, which ends with its first restart: done, or meant for the same loss and
// of late, since what healed meanwhile is not restarted for.
func (r *Restart) of(want Restart) bool {
	if r == nil || r.BootID != want.BootID {
		return false
	}
	return r.Done || r.Lost == want.Lost && want.At.Sub(r.At) < restartEvery
}

// recent restarts are not followed by another.
func (r *Restart) recent(now time.Time) bool {
	return r != nil && r.Done && now.Sub(r.At) < restartEvery
}

// failed says that a device was asked and failed, and so did every other that is still
// attached. Without any, nothing was lost that a restart would bring back.
func failed(bad []NetworkDevice) bool {
	attached := slices.DeleteFunc(slices.Clone(bad), func(d NetworkDevice) bool { return d.Attached == nil })
	return len(attached) > 0 && !slices.ContainsFunc(attached, func(d NetworkDevice) bool { return !d.Attached.Dead })
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
