package decide

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// What a status lists at most, as the schema bounds it.
const (
	maxVolumes = 1024
	maxDevices = 256
	maxVdevs   = 1024
	// volumeBytes of volumes in a status, as JSON. The API server keeps about as much
	// again to know who wrote each field, and takes no object above 1.5 MiB.
	volumeBytes = 384 << 10
)

// listed returns the volumes that the status has room for, in their own order. Volumes that it
// listed before come first, so that a new volume never displaces one that a database relies on.
func listed(all, before []v1alpha1.ObservedVolume) []v1alpha1.ObservedVolume {
	known := map[string]bool{}
	for _, v := range before {
		known[v.Name] = true
	}
	kept := make([]bool, len(all))
	count, size := 0, 0
	for _, round := range []bool{true, false} {
		for i, v := range all {
			if known[v.Name] != round || count == maxVolumes {
				continue
			}
			if n := bytesOf(v); size+n <= volumeBytes {
				kept[i] = true
				count, size = count+1, size+n
			}
		}
	}
	var out []v1alpha1.ObservedVolume
	for i, v := range all {
		if kept[i] {
			out = append(out, v)
		}
	}
	return out
}

func bytesOf(v v1alpha1.ObservedVolume) int {
	text, err := json.Marshal(v)
	if err != nil {
		return volumeBytes // a volume that cannot be stored has no room
	}
	return len(text)
}

// Complete returns the condition StatusComplete, or nil while the status lists everything that
// was read. An unlisted volume works, but the manager cannot see it: a database on it keeps
// full_page_writes on.
func Complete(status v1alpha1.PgNodeStorageStatus, seen Seen) *outcome.Outcome {
	var missing []string
	if n := status.VolumeCount; n != nil && int(*n) > len(status.Volumes) {
		missing = append(missing, fmt.Sprintf(msgVolumesTruncated, len(status.Volumes), *n, maxVolumes, volumeBytes>>10))
	}
	if all := len(disks(seen)); all > len(status.Devices) {
		missing = append(missing, fmt.Sprintf(msgDevicesTruncated, len(status.Devices), all, maxDevices))
	}
	if all := len(vdevs(seen.Status.Vdevs, 0)); status.Pool != nil && len(status.Pool.Vdevs) == maxVdevs && all > maxVdevs {
		missing = append(missing, fmt.Sprintf(msgVdevsTruncated, maxVdevs, all))
	}
	if len(missing) == 0 {
		return nil
	}
	o := outcome.InvalidBecause(v1alpha1.ConditionStatusComplete, v1alpha1.ReasonListTruncated, strings.Join(missing, "; "))
	o.Informative = true
	return &o
}

// first items of a list, at most so many.
func first[T any](list []T, most int) []T { return list[:min(len(list), most)] }
