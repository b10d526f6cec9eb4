package decide

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/testing/facts"
)

func TestDevicesOutcome(t *testing.T) {
	counted := disk("b")
	counted.Read, counted.Write, counted.Checksum = 1, 2, 14
	gone := zfs.VdevStatus{Class: zfs.Data, Type: "disk", Name: "4073388554813144833", State: zfs.Unavail, Note: "was /dev/disk/by-id/b-part1"}
	offline := disk("c")
	offline.State = zfs.Offline
	resilvering := disk("c")
	resilvering.Note = "(resilvering)"
	spare := func(state zfs.Health) zfs.VdevStatus {
		v := class(zfs.Spares, disk("s"))
		v.State = state
		return v
	}
	cache := class(zfs.Cache, disk("k"))
	cache.State = "" // of a pool that was just imported
	errors := func(n int) func(*Seen) { return reported(func(s *zfs.Status) { s.DataErrors = n }) }
	zfsSays := reported(func(s *zfs.Status) {
		s.Explanation, s.Action = "One or more devices could not be used because the label is missing or\n\tinvalid.", "Replace the device using 'zpool replace'."
	})
	ab := creates(mirrors("a", "b"))
	for _, c := range []struct {
		name string
		s    *v1alpha1.PgNodeStorage
		seen Seen
		want string
	}{
		{"no pool", storage(ab), converged(absent), "wait unknown informative NotReadBack: …"},
		{"no module", storage(), converged(unloaded), "wait unknown informative NotReadBack: …"},
		{"healthy", storage(), converged(), "done informative Healthy: every device of the pool works and none has counted an error"},
		{"as declared", storage(ab), converged(), "done informative Healthy: every device of the pool works and none has counted an error"},
		{"spares and caches", storage(), converged(layout(mirror(disk("a"), disk("b")), spare(zfs.Available), spare(zfs.InUse), cache)), "done informative Healthy: every device of the pool works and none has counted an error"},
		{
			"errors counted", storage(ab), converged(layout(mirror(disk("a"), counted))),
			"invalid informative PoolUnhealthy: /dev/disk/by-id/b is ONLINE (errors: 1 read, 2 write, 14 checksum)",
		},
		{
			"a device gone", storage(ab), converged(layout(mirror(disk("a"), gone)), zfsSays),
			"invalid informative PoolUnhealthy: 4073388554813144833 is UNAVAIL (errors: 0 read, 0 write, 0 checksum) was /dev/disk/by-id/b-part1. ZFS says: One or more devices could not be used because the label is missing or invalid. Replace the device using 'zpool replace'.",
		},
		{
			"several, and a log", storage(), converged(layout(mirror(counted, gone), class(zfs.Logs, offline))),
			"invalid informative PoolUnhealthy: /dev/disk/by-id/b is ONLINE (errors: 1 read, 2 write, 14 checksum); 4073388554813144833 is UNAVAIL (errors: 0 read, 0 write, 0 checksum) was /dev/disk/by-id/b-part1; /dev/disk/by-id/c is OFFLINE (errors: 0 read, 0 write, 0 checksum)",
		},
		{
			"being replaced", storage(ab), converged(layout(mirror(disk("a"), group("replacing").of(gone, resilvering)))),
			"invalid informative PoolUnhealthy: 4073388554813144833 is UNAVAIL (errors: 0 read, 0 write, 0 checksum) was /dev/disk/by-id/b-part1",
		},
		{"being replaced while it works", storage(ab), converged(layout(mirror(disk("a"), group("replacing").of(disk("b"), resilvering)))), "done informative Healthy: every device of the pool works and none has counted an error"},
		{"a spare failed", storage(), converged(layout(mirror(disk("a"), disk("b")), spare(zfs.Faulted))), "invalid informative PoolUnhealthy: /dev/disk/by-id/s is FAULTED (errors: 0 read, 0 write, 0 checksum)"},
		{"a file damaged", storage(), converged(errors(1)), "invalid informative PoolUnhealthy: 1 data error that redundancy could not repair"},
		{
			"files damaged", storage(), converged(errors(2), zfsSays, layout(counted)),
			"invalid informative PoolUnhealthy: /dev/disk/by-id/b is ONLINE (errors: 1 read, 2 write, 14 checksum). 2 data errors that redundancy could not repair. ZFS says: One or more devices could not be used because the label is missing or invalid. Replace the device using 'zpool replace'.",
		},
		{"damage that ZFS cannot list", storage(), converged(errors(-1)), "invalid informative PoolUnhealthy: …"},
		{
			"degraded though every device works", storage(), converged(pools("health=DEGRADED"), zfsSays),
			"invalid informative PoolUnhealthy: One or more devices could not be used because the label is missing or invalid. Replace the device using 'zpool replace'.",
		},
		{
			"another layout", storage(ab), converged(layout(mirror(disk("a"), disk("b")), class(zfs.Logs, disk("c")))),
			"invalid informative LayoutDiffers: … 2, logs disk, and pool.create declares data mirror of 2; … zpool(8), …",
		},
		{
			"an ailing device comes ahead of the layout", storage(ab), converged(layout(counted)),
			"invalid informative PoolUnhealthy: /dev/disk/by-id/b is ONLINE (errors: 1 read, 2 write, 14 checksum)",
		},
	} {
		facts.Same(t, c.name, describe(DevicesOutcome(c.s, c.seen)), "DevicesHealthy "+c.want)
	}
}

// Shapes of what is declared, and of what zpool status shows of it.
func TestShapes(t *testing.T) {
	two := []zfs.VdevStatus{disk("a"), disk("b")}
	for _, c := range []struct {
		name   string
		create v1alpha1.ZFSPoolCreate
		seen   []zfs.VdevStatus
		want   string
	}{
		{"stripe", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "a", "b")}}, two, "data disk, data disk"},
		{"stripe in two vdevs", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "a"), vdev(stripe, "b")}}, two, "data disk, data disk"},
		{"selected", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{selected(stripe, choose(2))}}, two, "data disk, data disk"},
		{"mirror", mirrors("a", "b"), []zfs.VdevStatus{mirror(two...)}, "data mirror of 2"},
		{"mirror selected", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{selected(mirror2, choose(2))}}, []zfs.VdevStatus{mirror(two...)}, "data mirror of 2"},
		{"raidz", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(v1alpha1.VdevRaidz2, "a", "b", "c")}}, []zfs.VdevStatus{group("raidz2").of(disk("a"), disk("b"), disk("c"))}, "data raidz2 of 3"},
		{
			"classes, in any order",
			v1alpha1.ZFSPoolCreate{
				Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "a"), vdev(mirror2, "b", "c")}, Logs: []v1alpha1.ZFSVdev{vdev(mirror2, "d", "e")},
				Caches: []v1alpha1.ZFSVdev{vdev(stripe, "f", "g")}, Special: []v1alpha1.ZFSVdev{vdev(mirror2, "h", "i")},
			},
			[]zfs.VdevStatus{
				mirror(disk("b"), disk("c")), disk("a"), class(zfs.Special, mirror(disk("h"), disk("i"))),
				class(zfs.Cache, disk("f")), class(zfs.Cache, disk("g")), class(zfs.Logs, mirror(disk("d"), disk("e"))),
			},
			"cache disk, cache disk, data disk, data mirror of 2, logs mirror of 2, special mirror of 2",
		},
		{"a spare takes the place of a disk", mirrors("a", "b"), []zfs.VdevStatus{mirror(disk("a"), group("spare").of(disk("b"), disk("s"))), class(zfs.Spares, disk("s"))}, "data mirror of 2"},
		{"a disk of a mirror is replaced", mirrors("a", "b"), []zfs.VdevStatus{mirror(disk("a"), group("replacing").of(disk("b"), disk("c")))}, "data mirror of 2"},
		{"a disk of a stripe is replaced", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "a", "b")}}, []zfs.VdevStatus{disk("a"), group("replacing").of(disk("b"), disk("c"))}, "data disk, data disk"},
		{"a spare of a stripe", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "a")}}, []zfs.VdevStatus{group("spare").of(disk("a"), disk("s"))}, "data disk"},
		{"a vdev was removed", mirrors("a", "b"), []zfs.VdevStatus{mirror(two...), {Class: zfs.Data, Type: "indirect", Name: "indirect-1", State: zfs.Online}}, "data mirror of 2"},
	} {
		same(t, c.name+", declared", words(shapeOf(c.create)), c.want)
		same(t, c.name+", seen", words(shapeSeen(zfs.Status{Vdevs: c.seen})), c.want)
	}
	for name, seen := range map[string][]zfs.VdevStatus{
		"a disk added":         {mirror(two...), disk("c")},
		"a disk attached":      {mirror(disk("a"), disk("b"), disk("c"))},
		"a disk detached":      {disk("a")},
		"raidz for the mirror": {group("raidz1").of(two...)},
		"dedup added":          {mirror(two...), class(zfs.Dedup, disk("c"))},
	} {
		if got := words(shapeSeen(zfs.Status{Vdevs: seen})); got == words(shapeOf(mirrors("a", "b"))) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestCapacityOutcome(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	free := func(bytes int64) func(*Seen) {
		return pools(fmt.Sprintf("free=%d", bytes), fmt.Sprintf("capacity=%d", 100-bytes/gib))
	}
	headroom := func(percent *int32) *v1alpha1.PgNodeStorage {
		return storage(func(s *v1alpha1.PgNodeStorage) { s.Spec.Pool.HeadroomPercent = percent })
	}
	const (
		roomy  = "done informative Healthy: at least 20% of the pool is free"
		scarce = "invalid informative PoolNearlyFull: less than 20% of the pool is free: ZFS slows down and fragments, and at 0 every database on it stops. Add a vdev, delete snapshots (usedBySnapshots in status), or move databases"
	)
	for _, c := range []struct {
		name   string
		s      *v1alpha1.PgNodeStorage
		seen   Seen
		fullAt time.Time
		want   string
	}{
		{"roomy", storage(), converged(), never, roomy},
		{"exactly the headroom", storage(), converged(free(20 * gib)), never, roomy},
		{"a byte more", storage(), converged(free(20*gib + 1)), never, roomy},
		{"a byte less", storage(), converged(free(20*gib - 1)), never, scarce},
		{"full", storage(), converged(free(0)), never, scarce},
		{"default headroom", headroom(nil), converged(free(20 * gib)), never, roomy},
		{"less than the default headroom", headroom(nil), converged(free(20*gib - 1)), never, scarce},
		{"no headroom is the default", headroom(new(int32(0))), converged(free(20*gib - 1)), never, scarce},
		{"least headroom", headroom(new(int32(5))), converged(free(5 * gib)), never, "done informative Healthy: at least 5% of the pool is free"},
		{
			"less than a headroom of 50", headroom(new(int32(50))), converged(free(50*gib - 1)), never,
			"invalid informative PoolNearlyFull: less than 50% of the pool is free: ZFS slows down and fragments, and at 0 every database on it stops. Add a vdev, delete snapshots (usedBySnapshots in status), or move databases",
		},
		{
			"the largest pool", storage(),
			converged(pools(fmt.Sprint("size=", uint64(128<<50)), fmt.Sprint("free=", uint64(64<<50)))), never, roomy,
		},
		{"no pool", storage(), converged(absent), never, "wait unknown informative NotReadBack: …"},
		{"a faulted pool has no figures", storage(), converged(pools("size=- -", "free=- -", "capacity=- -")), never, "wait unknown informative NotReadBack: …"},
		{"full in 72 hours", storage(), converged(), now.Add(72 * time.Hour), roomy},
		{
			"full sooner", storage(), converged(), now.Add(71 * time.Hour),
			"invalid informative PoolFilling: … 2026-11-24 07:00 …",
		},
		{
			"told in UTC", storage(), converged(), now.Add(time.Hour).In(time.FixedZone("CET", 3600)),
			"invalid informative PoolFilling: … 2026-11-21 09:00 …",
		},
		{"nearly full comes ahead of filling", storage(), converged(free(gib)), now.Add(time.Hour), scarce},
	} {
		facts.Same(t, c.name, describe(CapacityOutcome(c.s, c.seen, now, c.fullAt)), "CapacityHealthy "+c.want)
	}
}

// never is the zero time.
var never time.Time

func TestTrend(t *testing.T) {
	start := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	minutes := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	// grow by a rate for each minute, from one minute up to another.
	grow := func(trend *Trend, from, to int, rate int64) {
		for m := from; m <= to; m++ {
			trend.Add(minutes(m), uint64(50*tib+rate*int64(m-from)))
		}
	}
	for _, c := range []struct {
		name string
		feed func(*Trend)
		free uint64
		want time.Time
	}{
		{"nothing known", func(*Trend) {}, gib, never},
		{"one reading", func(trend *Trend) { grow(trend, 0, 0, gib) }, gib, never},
		{"a minute short of an hour", func(trend *Trend) { grow(trend, 0, 59, gib) }, 630 * gib, never},
		{"an hour", func(trend *Trend) { grow(trend, 0, 60, gib) }, 630 * gib, start.Add(11 * time.Hour)},
		{"an hour, of two readings", func(trend *Trend) { trend.Add(start, 0); trend.Add(minutes(60), 60*gib) }, 630 * gib, start.Add(11 * time.Hour)},
		{"flat", func(trend *Trend) { grow(trend, 0, 120, 0) }, gib, never},
		{"flat and full", func(trend *Trend) { grow(trend, 0, 120, 0) }, 0, never},
		{"shrinking", func(trend *Trend) { grow(trend, 0, 120, -gib) }, gib, never},
		{"growing, and full", func(trend *Trend) { grow(trend, 0, 90, gib) }, 0, start.Add(time.Hour)},
		{"a day of growth", func(trend *Trend) { grow(trend, 0, 24*60, gib) }, 1470 * gib, start.Add(48 * time.Hour)},
		{"too slow to speak of", func(trend *Trend) { grow(trend, 0, 24*60, 1) }, 11 * 365 * 24 * 60, never},
		{"within ten years", func(trend *Trend) { grow(trend, 0, 24*60, 1) }, 9*365*24*60 + 30, start.Add(24*time.Hour + 9*365*24*time.Hour)},
		{
			// Readings of an hour ago still count, those of the day before do not.
			"a day's window", func(trend *Trend) { grow(trend, 0, 60, 100*gib); grow(trend, 61, 61+24*60, gib) },
			630 * gib, minutes(61 + 24*60).Add(630 * time.Minute).Truncate(time.Hour),
		},
		{
			"readings within a minute are left out",
			func(trend *Trend) {
				for m := range 61 {
					trend.Add(minutes(m), uint64(m)*gib)
					trend.Add(minutes(m).Add(59*time.Second), 900*gib)
				}
			},
			630 * gib, start.Add(11 * time.Hour),
		},
		{
			"a clock set back adds nothing",
			func(trend *Trend) { grow(trend, 0, 60, gib); trend.Add(start.Add(-time.Hour), 900*gib) },
			630 * gib, start.Add(11 * time.Hour),
		},
		{
			"a saw's teeth do not hide the slope",
			func(trend *Trend) {
				for m := range 121 {
					trend.Add(minutes(m), uint64(m/10)*10*gib) // WAL comes in steps of 10 minutes
				}
			},
			630 * gib, start.Add(12 * time.Hour),
		},
	} {
		trend := &Trend{}
		c.feed(trend)
		if got := trend.FullAt(c.free); !got.Equal(c.want) {
			t.Errorf("%s: %s, wanted %s", c.name, got, c.want)
		}
	}
}

// A trend holds a day of readings, however long it is fed.
func TestTrendIsBounded(t *testing.T) {
	trend := &Trend{}
	for second := 0; second < 72*3600; second += 10 {
		trend.Add(time.Unix(int64(second), 0), uint64(second))
	}
	if n := len(trend.samples); n != 24*60+1 {
		t.Errorf("%d samples", n)
	}
}

func TestForeseen(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	in := func(hours int) time.Time { return now.Add(time.Duration(hours) * time.Hour) }
	told := func(hours int) *v1alpha1.PgNodeStorage {
		return storage(func(s *v1alpha1.PgNodeStorage) { s.Status.Pool.FullAt = new(metav1.NewTime(in(hours).Local())) })
	}
	for _, c := range []struct {
		name   string
		s      *v1alpha1.PgNodeStorage
		fullAt time.Time
		want   time.Time
	}{
		{"no forecast", told(100), never, never},
		{"the first", storage(), in(100), in(100)},
		{"the first of all", storage(fresh), in(100), in(100)},
		{"the same", told(100), in(100), in(100)},
		{"a tenth later", told(90), in(100), in(90)},
		{"more than a tenth later", told(89), in(100), in(100)},
		{"a tenth sooner", told(110), in(100), in(110)},
		{"more than a tenth sooner", told(111), in(100), in(100)},
		{"an hour, shortly before", told(3), in(2), in(3)},
		{"two hours, shortly before", told(4), in(2), in(2)},
		{"a forecast that has passed", told(-5), in(2), in(2)},
	} {
		if got := Foreseen(c.s, now, c.fullAt); !got.Equal(c.want) || got.Location() != time.UTC && !got.IsZero() {
			t.Errorf("%s: %s, wanted %s", c.name, got, c.want)
		}
	}
}
