package decide

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

func arc(seen Seen, last v1alpha1.PgNodeStorageStatus) *v1alpha1.ObservedARC {
	old := v1alpha1.ObservedARC{}
	if last.ARC != nil {
		old = *last.ARC
	}
	a := seen.ARC
	return &v1alpha1.ObservedARC{
		// The ARC breathes; a tenth of its limit is news.
		Size: settle(old.Size, a.Size, a.Max*10), Min: amount(a.Min), Max: amount(a.Max),
		HitPercent:   steady(old.HitPercent, hits(int64(a.Hits), int64(a.Hits+a.Misses))),         //nolint:gosec // counts
		L2HitPercent: steady(old.L2HitPercent, hits(int64(a.L2Hits), int64(a.L2Hits+a.L2Misses))), //nolint:gosec // counts
	}
}

func pool(s *v1alpha1.PgNodeStorage, seen Seen, fullAt time.Time) *v1alpha1.ObservedPool {
	last := s.Status.Pool
	if last == nil {
		last = &v1alpha1.ObservedPool{}
	}
	size, _ := seen.Pool["size"].Number()
	allocated, _ := seen.Pool["allocated"].Number()
	free, _ := seen.Pool["free"].Number()
	out := &v1alpha1.ObservedPool{
		Name: s.Spec.Pool.Name, GUID: seen.Pool["guid"].Value, Health: string(seen.health()),
		Message: said(seen.Status),
		Size:    amount(size), Allocated: settle(last.Allocated, allocated, size), Free: settle(last.Free, free, size),
		FragmentationPercent: steady(last.FragmentationPercent, percent(seen.Pool["fragmentation"])),
		Vdevs:                first(vdevs(seen.Status.Vdevs, 0), maxVdevs),
		Scrub:                &v1alpha1.ObservedScrub{State: string(seen.Status.Scan.State), Text: scanText(seen.Status.Scan)},
	}
	if size > 0 { // that of a faulted pool is 0
		used := int32(out.Allocated.Value() * 100 / int64(size)) //nolint:gosec // at most 100
		out.UsedPercent = &used
	}
	if !fullAt.IsZero() {
		at := metav1.NewTime(fullAt)
		out.FullAt = &at
	}
	for _, p := range s.Spec.Pool.Properties {
		have := seen.Pool[p.Name]
		out.Properties = append(out.Properties, v1alpha1.ObservedProperty{Name: p.Name, Value: have.Value, Source: have.Source})
	}
	return out
}

// scanText of a scan that runs changes each second; when it began is enough.
func scanText(s zfs.Scan) string {
	if s.State != zfs.ScanInProgress {
		return s.Text
	}
	text := "scrub in progress"
	if s.Resilver {
		text = "resilver in progress"
	}
	if s.At.IsZero() {
		return text
	}
	return fmt.Sprintf("%s since %s", text, s.At.UTC().Format(time.RFC3339))
}

func percent(p zfs.Property) *int32 {
	n, ok := p.Number()
	if !ok || n > 100 {
		return nil
	}
	v := int32(n)
	return &v
}

func vdevs(in []zfs.VdevStatus, depth int32) []v1alpha1.ObservedVdev {
	var out []v1alpha1.ObservedVdev
	for _, v := range in {
		out = append(out, v1alpha1.ObservedVdev{
			Name: v.Name, Depth: depth, Class: string(v.Class), State: string(v.State),
			ReadErrors: int64(v.Read), WriteErrors: int64(v.Write), ChecksumErrors: int64(v.Checksum), //nolint:gosec // counts of errors
		})
		out = append(out, vdevs(v.Children, depth+1)...)
	}
	return out
}
