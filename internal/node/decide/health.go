package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// defaultHeadroom of a pool in percent, where the profile does not say.
const defaultHeadroom = 20

// soon is how far ahead a pool that fills is spoken of.
const soon = 72 * time.Hour

// DevicesOutcome is the condition DevicesHealthy. It does not take part in Ready:
// a degraded mirror still serves.
func DevicesOutcome(s *v1alpha1.PgNodeStorage, seen Seen) outcome.Outcome {
	const c = v1alpha1.ConditionDevicesHealthy
	o := outcome.DoneWith(c, v1alpha1.ReasonHealthy, msgDevicesHealthy)
	var bad []string
	for _, v := range seen.Status.Vdevs {
		for _, d := range v.Disks() {
			if text := ailing(d); text != "" {
				bad = append(bad, text)
			}
		}
	}
	switch {
	case seen.Pool == nil:
		o = outcome.WaitFor(c, v1alpha1.ReasonNotReadBack, msgDevicesUnread)
		o.Unknown = true
	case len(bad) > 0 || seen.Status.DataErrors != 0:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonPoolUnhealthy, ailment(seen.Status, bad))
	case seen.health() == zfs.Degraded:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonPoolUnhealthy, said(seen.Status))
	default:
		if text := otherLayout(s, seen); text != "" {
			o = outcome.InvalidBecause(c, v1alpha1.ReasonLayoutDiffers, text)
		} else if problem := LocalDevices(s, seen).Problem; problem != nil {
			o = *problem
		}
	}
	o.Informative = true
	return o
}

// otherLayout says how a pool differs from its declaration.
func otherLayout(s *v1alpha1.PgNodeStorage, seen Seen) string {
	switch {
	case s.Spec.NetworkDevices != nil:
		if is, want := dataShape(seen.Status), networkShape(s.Spec.NetworkDevices); !slices.Equal(is, want) {
			return fmt.Sprintf(msgNetworkLayout, words(is), words(want))
		}
	case s.Spec.Pool.Create != nil:
		if is, want := shapeSeen(seen.Status), shapeOf(*s.Spec.Pool.Create); !slices.Equal(is, want) {
			return fmt.Sprintf(msgDiskLayout, words(is), words(want))
		}
	}
	return ""
}

func ailing(d zfs.VdevStatus) string {
	working := d.State == zfs.Online || d.State == zfs.Available || d.State == zfs.InUse || d.State == ""
	if working && d.Read+d.Write+d.Checksum == 0 {
		return ""
	}
	text := fmt.Sprintf(msgDiskErrors, d.Name, d.State, d.Read, d.Write, d.Checksum)
	if d.Note != "" {
		text += " " + d.Note
	}
	return text
}

func ailment(s zfs.Status, bad []string) string {
	var parts []string
	if len(bad) > 0 {
		parts = append(parts, strings.Join(bad, "; "))
	}
	switch {
	case s.DataErrors < 0:
		parts = append(parts, msgDataErrorsUnknown)
	case s.DataErrors == 1:
		parts = append(parts, msgDataError)
	case s.DataErrors > 1:
		parts = append(parts, fmt.Sprintf(msgDataErrors, s.DataErrors))
	}
	if text := said(s); text != "" {
		parts = append(parts, "ZFS says: "+text)
	}
	return strings.Join(parts, ". ")
}

// shapeOf describes each top-level vdev of a pool in words, sorted. A replaced device makes no
// difference to it; an added vdev does.
func shapeOf(c v1alpha1.ZFSPoolCreate) []string {
	var out []string
	for _, part := range []struct {
		class zfs.Class
		vdevs []v1alpha1.ZFSVdev
	}{{zfs.Data, c.Vdevs}, {zfs.Logs, c.Logs}, {zfs.Cache, c.Caches}, {zfs.Special, c.Special}} {
		for _, v := range part.vdevs {
			n := len(v.Devices)
			if v.Selector != nil {
				n = int(v.Selector.Count)
			}
			if v.Type == v1alpha1.VdevStripe {
				for range n {
					out = append(out, string(part.class)+" disk")
				}
				continue
			}
			out = append(out, fmt.Sprintf("%s %s of %d", part.class, v.Type, n))
		}
	}
	slices.Sort(out)
	return out
}

func shapeSeen(s zfs.Status) []string {
	var out []string
	for _, v := range s.Vdevs {
		switch {
		case v.Class == zfs.Spares, v.Type == "indirect": // what is left of a vdev that was removed
		case len(v.Children) == 0 || v.Type == "replacing" || v.Type == "spare":
			out = append(out, string(v.Class)+" disk")
		default:
			out = append(out, fmt.Sprintf("%s %s of %d", v.Class, v.Type, len(v.Children)))
		}
	}
	slices.Sort(out)
	return out
}

func words(shape []string) string { return strings.Join(shape, ", ") }

// CapacityOutcome is the condition CapacityHealthy. It does not take part in
// Ready. FullAt is when the pool will be full, or zero.
func CapacityOutcome(s *v1alpha1.PgNodeStorage, seen Seen, now, fullAt time.Time) outcome.Outcome {
	const c = v1alpha1.ConditionCapacityHealthy
	headroom := uint64(defaultHeadroom)
	if h := s.Spec.Pool.HeadroomPercent; h != nil && *h > 0 {
		headroom = uint64(*h)
	}
	o := outcome.DoneWith(c, v1alpha1.ReasonHealthy, fmt.Sprintf(msgCapacityHealthy, headroom))
	size, known := seen.Pool["size"].Number()
	free, _ := seen.Pool["free"].Number() // capacity is cut to a whole number
	switch {
	case !known:
		o = outcome.WaitFor(c, v1alpha1.ReasonNotReadBack, msgCapacityUnread)
		o.Unknown = true
	case free*100 < headroom*size:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonPoolNearlyFull, fmt.Sprintf(msgNearlyFull, headroom))
	case !fullAt.IsZero() && fullAt.Sub(now) < soon:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonPoolFilling, fmt.Sprintf(msgFilling, fullAt.UTC().Format("2006-01-02 15:00 MST")))
	}
	o.Informative = true
	return o
}

// Foreseen is when the pool will be full, as the status shows it. A forecast varies with each
// reading. So the status keeps its time until that moved by a tenth of the time left, and by
// more than an hour.
func Foreseen(s *v1alpha1.PgNodeStorage, now, fullAt time.Time) time.Time {
	if fullAt.IsZero() || s.Status.Pool == nil || s.Status.Pool.FullAt == nil {
		return fullAt
	}
	last := s.Status.Pool.FullAt.Time
	if fullAt.Sub(last).Abs() > max(time.Hour, fullAt.Sub(now)/10) {
		return fullAt
	}
	return last.UTC()
}

// Trend foretells when a pool is full, from what was allocated over the last day.
type Trend struct {
	samples []sample
}

type sample struct {
	at        time.Time
	allocated uint64
}

// The trend covers a day, from samples a minute apart, once they span an hour. A shorter span
// says more about a checkpoint than about growth.
const (
	trendSpan  = 24 * time.Hour
	trendEvery = time.Minute
	trendLeast = time.Hour
)

// Add a reading.
func (t *Trend) Add(at time.Time, allocated uint64) {
	if n := len(t.samples); n > 0 && at.Sub(t.samples[n-1].at) < trendEvery {
		return
	}
	t.samples = append(t.samples, sample{at, allocated})
	for len(t.samples) > 0 && at.Sub(t.samples[0].at) > trendSpan {
		t.samples = t.samples[1:]
	}
}

// FullAt is when the free bytes will be used up, in whole hours. It is zero while the pool does
// not fill, or without enough samples. The slope is by least squares.
func (t *Trend) FullAt(free uint64) time.Time {
	n := len(t.samples)
	if n < 2 || t.samples[n-1].at.Sub(t.samples[0].at) < trendLeast {
		return time.Time{}
	}
	first := t.samples[0]
	var sumX, sumY, sumXX, sumXY float64
	for _, s := range t.samples {
		x, y := s.at.Sub(first.at).Seconds(), float64(s.allocated)-float64(first.allocated)
		sumX, sumY, sumXX, sumXY = sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	slope := (float64(n)*sumXY - sumX*sumY) / (float64(n)*sumXX - sumX*sumX)
	const tenYears = 10 * 365 * 24 * 3600
	if seconds := float64(free) / slope; slope > 0 && seconds < tenYears {
		return t.samples[n-1].at.Add(time.Duration(seconds) * time.Second).Truncate(time.Hour)
	}
	return time.Time{}
}
