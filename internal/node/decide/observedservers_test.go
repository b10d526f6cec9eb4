package decide

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

func TestObservedServers(t *testing.T) {
	since := metav1.NewTime(noon)
	told := func(change func(*zerofs.ServerStatus)) zerofs.ServerStatus {
		s := zerofs.ServerStatus{Life: "a1", Phase: zerofs.PhaseServing, Since: noon.Add(time.Millisecond), Restarts: 2}
		change(&s)
		return s
	}
	traffic := func(reads, gets, errors, sent int64) func(*zerofs.ServerStatus) {
		return func(s *zerofs.ServerStatus) {
			s.Reads, s.S3 = reads, &zerofs.StoreTraffic{Requests: map[string]int64{"GET": gets}, Errors: errors, SentBytes: sent}
		}
	}
	same := func(*zerofs.ServerStatus) {}
	figures := func(errors int64, sent string, percent int32) v1alpha1.ObservedServer {
		return v1alpha1.ObservedServer{Name: "a", URL: "s3://a/n1", Phase: "Serving", Since: &since, Restarts: 2, StoreErrors: errors, SentToStore: new(resource.MustParse(sent)), CacheHitPercent: &percent}
	}
	for _, tc := range []struct {
		name string
		life Life
		told zerofs.ServerStatus
		last v1alpha1.ObservedServer
		want v1alpha1.ObservedServer
	}{
		{name: "serves", told: told(same), want: v1alpha1.ObservedServer{Phase: "Serving", Since: &since, Restarts: 2}},
		{name: "has told nothing yet", want: v1alpha1.ObservedServer{Phase: "Starting"}},
		{name: "told of a former life", told: told(func(s *zerofs.ServerStatus) { s.Life = "a0" }), want: v1alpha1.ObservedServer{Phase: "Starting"}},
		{
			name: "holds", told: told(func(s *zerofs.ServerStatus) { s.Phase, s.Reason, s.Message = zerofs.PhaseHolding, "StoreLost", "503" }),
			want: v1alpha1.ObservedServer{Phase: "Holding", Since: &since, Restarts: 2, Message: "StoreLost: 503"},
		},
		{name: "ended", life: Life{ID: "a1", BootID: "boot", Clean: true}, told: told(same), want: v1alpha1.ObservedServer{Phase: "Ended", Restarts: 2}},
		{
			name: "ended while it was fenced", life: Life{ID: "a1", BootID: "boot"}, told: told(func(s *zerofs.ServerStatus) { s.Phase, s.Message = zerofs.PhaseFenced, "taken over" }),
			want: v1alpha1.ObservedServer{Phase: "Fenced", Since: &since, Restarts: 2, Message: "taken over"},
		},
		{name: "figures", told: told(traffic(1000, 15, 3, 123456789)), want: figures(3, "120Mi", 98)},
		{name: "figures that moved little", told: told(traffic(1000, 20, 5, 130<<20)), last: figures(3, "120Mi", 99), want: figures(3, "120Mi", 99)},
		{name: "figures that moved", told: told(traffic(1000, 30, 6, 133<<20)), last: figures(3, "120Mi", 99), want: figures(6, "130Mi", 97)},
		{name: "figures of a new life", told: told(traffic(10, 30, 0, 99)), last: figures(3, "120Mi", 99), want: figures(0, "99", 0)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := network()
			seen := seenNetwork(s)
			if tc.life.ID != "" {
				seen.Network.Lives["a"] = tc.life
			}
			if tc.told.Life != "" {
				seen.Network.Servers["a"] = tc.told
			}
			s.Status.Servers = []v1alpha1.ObservedServer{{Name: "b"}, tc.last}
			tc.want.Name, tc.want.URL = "a", "s3://a/n1"
			if got := Status(s, seen, time.Time{}).Servers; len(got) != 1 || !equality.Semantic.DeepEqual(got[0], tc.want) {
				t.Errorf("%+v\nwant %+v", got, tc.want)
			}
		})
	}
	s := network()
	seen := seenNetwork(s)
	delete(seen.Network.Lives, "a")
	if got := ObservedServers(s, seen.Network); got != nil {
		t.Errorf("of a server that never was: %+v", got)
	}
}

func TestTwoDigits(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 9: "9", 99: "99", 104: "100", 1024: "1000", 10 << 10: "10Ki", 123 << 30: "120Gi", 10239 << 30: "10000Gi", 10 << 40: "10Ti", 1 << 30: "1000Mi",
	} {
		if q := twoDigits(n); q.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("%d: %s, want %s", n, q, want)
		}
	}
}

// What a month costs: what the pool has allocated, in each store. It stays while the
// pool is away.
func TestMonthlyStorage(t *testing.T) {
	s := network(mirrored)
	seen := seenNetwork(s)
	seen.Pool["allocated"] = seen.Pool["size"]
	first := Status(s, seen, time.Time{})
	allocated := first.Pool.Allocated.Value()
	if got := first.EstimatedMonthlyStorage; got == nil || got.Cmp(*twoDigits(2 * allocated)) != 0 || got.Value() < allocated {
		t.Fatalf("%s of %d bytes in two stores", got, allocated)
	}
	s.Status = first
	seen.Pool = nil
	if got := Status(s, seen, time.Time{}).EstimatedMonthlyStorage; got == nil || got.Cmp(*first.EstimatedMonthlyStorage) != 0 {
		t.Errorf("%v without the pool, want %v", got, first.EstimatedMonthlyStorage)
	}
	if got := Status(storage(), converged(layout()), time.Time{}).EstimatedMonthlyStorage; got != nil {
		t.Errorf("%v of a pool on disks", got)
	}
}

func TestARCHits(t *testing.T) {
	s := storage()
	seen := converged(layout())
	if a := Status(s, seen, time.Time{}).ARC; a.HitPercent != nil || a.L2HitPercent != nil {
		t.Errorf("%+v before the first read", a)
	}
	seen.ARC.Hits, seen.ARC.Misses, seen.ARC.L2Hits, seen.ARC.L2Misses = 900, 100, 75, 25
	s.Status = Status(s, seen, time.Time{})
	if a := s.Status.ARC; *a.HitPercent != 90 || *a.L2HitPercent != 75 {
		t.Errorf("%d %d", *a.HitPercent, *a.L2HitPercent)
	}
	seen.ARC.Hits, seen.ARC.Misses = 910, 90
	if a := Status(s, seen, time.Time{}).ARC; *a.HitPercent != 90 {
		t.Errorf("moved by one: %d", *a.HitPercent)
	}
	seen.ARC.Hits, seen.ARC.Misses = 920, 80
	if a := Status(s, seen, time.Time{}).ARC; *a.HitPercent != 92 {
		t.Errorf("moved by two: %d", *a.HitPercent)
	}
}
