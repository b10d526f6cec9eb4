package decide

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
)

// leastFreePercent is the share of a volume in memory that should stay free.
const leastFreePercent = 10

// VolumesMounted.
const (
	msgVolumesMounted   = "%d volumes in memory are mounted"
	msgVolumesUnread    = "the volumes in memory could not be read: %v"
	msgMounting         = "Waiting for volumes to be mounted: %s"
	msgUnmounting       = "Waiting for volumes to be unmounted: %s"
	msgVolumesInUse     = "Waiting for volumes to be released, which are not declared any more: %s"
	msgVolumesFailed    = "the node refused to mount or unmount a volume; the agent retries every minute: %v"
	msgVolumesBusy      = "Waiting for volumes to be released, which are not declared any more: %v"
	msgVolumesHalfMade  = "at %s a tmpfs is mounted that the agent did not make and that is not empty. Unmount it on the node, once nothing in it is needed"
	msgVolumeRefused    = "volume %q is not mounted: its name must be one element of a path, and its size above 0"
	msgVolumesLost      = "lost with all that was in them: %s; the operator clones read pools again. Delete a database of durability Ephemeral, and create it again"
	msgVolumeOther      = "%s (mounted there is incarnation %s)"
	msgVolumeUnfinished = "%s (mounted there is a tmpfs without an incarnation)"
)

// CapacityHealthy.
const (
	msgMemoryHealthy    = "every volume in memory has at least %d%% free"
	msgMemoryUnread     = "Waiting for the volumes in memory to be read"
	msgMemoryNearlyFull = "less than %d%% is free: %s; at 0 the database stops. Delete data, or create the cluster or read pool again with a larger size"
)

// MemoryOutcomes returns the conditions of volumes in memory. Failed is the error of the change
// that was due, or nil. Lost volumes do not take part in Ready, because the node can have others.
func MemoryOutcomes(status *v1alpha1.ObservedMemory, d MemoryDecision, failed error) []outcome.Outcome {
	return []outcome.Outcome{d.volumesMounted(failed), d.capacity(status)}
}

// MemoryUnread returns the conditions of a pass that could not read the volumes.
func MemoryUnread(err error) []outcome.Outcome {
	unread := outcome.WaitFor(v1alpha1.ConditionVolumesMounted, v1alpha1.ReasonHostCommandFailed, fmt.Sprintf(msgVolumesUnread, err))
	capacity := outcome.WaitFor(v1alpha1.ConditionCapacityHealthy, v1alpha1.ReasonNotReadBack, msgMemoryUnread)
	unread.Unknown, capacity.Unknown, capacity.Informative = true, true, true
	return []outcome.Outcome{unread, capacity}
}

// volumesMounted is the condition VolumesMounted. What is lost is in the message of every reason,
// so that a failure does not hide it.
func (d MemoryDecision) volumesMounted(failed error) outcome.Outcome {
	o := d.wrong(failed)
	if len(d.Lost) == 0 {
		return o
	}
	lost := fmt.Sprintf(msgVolumesLost, d.lost())
	if o.Kind != outcome.Done && !o.Informative {
		o.Message += "; " + lost
		return o
	}
	o = outcome.InvalidBecause(v1alpha1.ConditionVolumesMounted, v1alpha1.ReasonVolumeLost, lost)
	o.Informative = true
	return o
}

// wrong is the condition VolumesMounted without regard to lost volumes.
func (d MemoryDecision) wrong(failed error) outcome.Outcome {
	const c = v1alpha1.ConditionVolumesMounted
	busy := onlyInUse(failed)
	switch {
	case failed != nil && !busy:
		return outcome.InvalidBecause(c, v1alpha1.ReasonHostCommandFailed, fmt.Sprintf(msgVolumesFailed, failed))
	case len(d.HalfMade)+len(d.Refused) > 0:
		return outcome.InvalidBecause(c, v1alpha1.ReasonHostCommandFailed, d.refusals())
	case len(d.Mount) > 0:
		return informativeWait(fmt.Sprintf(msgMounting, placeNames(d.toMount())))
	case busy:
		return informativeWait(fmt.Sprintf(msgVolumesBusy, failed))
	case len(d.Unmount) > 0:
		return informativeWait(fmt.Sprintf(msgUnmounting, placeNames(d.Unmount)))
	case len(d.InUse) > 0:
		return informativeWait(fmt.Sprintf(msgVolumesInUse, d.uses()))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonVolumesMounted, fmt.Sprintf(msgVolumesMounted, len(d.Mounted)))
}

// informativeWait does not take part in Ready: the node can have volumes meanwhile. A
// profile that is not Ready would hold up all of its databases.
func informativeWait(message string) outcome.Outcome {
	o := outcome.WaitFor(v1alpha1.ConditionVolumesMounted, v1alpha1.ReasonMounting, message)
	o.Informative = true
	return o
}

// onlyInUse reports whether an error says of each volume that something uses it.
func onlyInUse(err error) bool {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return errors.Is(err, tmpfs.ErrInUse)
	}
	return !slices.ContainsFunc(joined.Unwrap(), func(one error) bool { return !onlyInUse(one) })
}

func (d MemoryDecision) refusals() string {
	var out []string
	for _, m := range d.HalfMade {
		out = append(out, fmt.Sprintf(msgVolumesHalfMade, m.Path()))
	}
	for _, name := range d.Refused {
		out = append(out, fmt.Sprintf(msgVolumeRefused, name))
	}
	return strings.Join(out, "; ")
}

// lost names the lost volumes, each with what is mounted in its place.
func (d MemoryDecision) lost() string {
	var out []string
	for _, l := range d.Lost {
		switch {
		case l.Found == nil:
			out = append(out, l.Name)
		case l.Found.Incarnation == "":
			out = append(out, fmt.Sprintf(msgVolumeUnfinished, l.Name))
		default:
			out = append(out, fmt.Sprintf(msgVolumeOther, l.Name, l.Found.Incarnation))
		}
	}
	return strings.Join(out, ", ")
}

// uses names the volumes in use, and where.
func (d MemoryDecision) uses() string {
	var out []string
	for _, m := range d.InUse {
		out = append(out, m.Name+" (used at "+strings.Join(m.Elsewhere, ", ")+")")
	}
	return strings.Join(out, "; ")
}

// capacity is the condition CapacityHealthy of volumes in memory.
func (d MemoryDecision) capacity(status *v1alpha1.ObservedMemory) outcome.Outcome {
	const c = v1alpha1.ConditionCapacityHealthy
	used := map[string]*resource.Quantity{}
	for _, v := range status.Volumes {
		used[v.Name] = v.Used
	}
	var full []string
	for _, m := range d.Mounted {
		if (m.Size-m.Used)*100 < m.Size*leastFreePercent {
			full = append(full, fmt.Sprintf("%s (%d of %d MiB)", m.Name, mebibytes(used[m.Name], m.Used), m.Size>>20))
		}
	}
	o := outcome.DoneWith(c, v1alpha1.ReasonHealthy, fmt.Sprintf(msgMemoryHealthy, leastFreePercent))
	if len(full) > 0 {
		o = outcome.InvalidBecause(c, v1alpha1.ReasonVolumeNearlyFull, fmt.Sprintf(msgMemoryNearlyFull, leastFreePercent, strings.Join(full, ", ")))
	}
	o.Informative = true
	return o
}

// mebibytes of the figure in the status, which moves in steps of 1%, so that the message does too.
func mebibytes(settled *resource.Quantity, now uint64) uint64 {
	if settled != nil {
		now = uint64(max(settled.Value(), 0))
	}
	return now >> 20
}

func placeNames(places []tmpfs.Place) string {
	var out []string
	for _, p := range places {
		out = append(out, p.Name)
	}
	return strings.Join(out, ", ")
}

func (d MemoryDecision) toMount() []tmpfs.Place {
	var out []tmpfs.Place
	for _, v := range d.Mount {
		out = append(out, v.Place)
	}
	return out
}
