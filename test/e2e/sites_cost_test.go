//go:build e2e

package e2e

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
)

const (
	// distanceRounds is how often TPS is measured at each distance. Many short rounds differ less
	// in pairs than few long ones: other work on the machine lasts longer than a round.
	distanceRounds = 40
	// distanceSeconds of a round.
	distanceSeconds = 5
	// leastFarTPS of a site whose other site is far, compared with TPS where it is near.
	leastFarTPS = 0.95
)

// TestSiteDistance measures what the distance to the other site costs the one that writes. The
// other site follows at both distances, so both share the processors alike. It is not in make
// test.
func TestSiteDistance(t *testing.T) {
	if err := helm("sites.enabled=true"); err != nil {
		t.Fatal(err)
	}
	s := &sites{profile: "site-distance"}
	s.declare(t)
	if s.distance == nil {
		t.Fatal("set PGSTORAGE_SITE_DELAY: there is no distance to compare with")
	}
	s.north.Spec.Instances, s.north.Spec.Durability = new(int32(2)), v1alpha1.DurabilityQuorum
	s.follows(t)
	tr := &trial{writer: s.north, follower: s.south}
	psql(t, s.north.Namespace, s.north.Status.Database.Primary, "CREATE TABLE acked (id int PRIMARY KEY)")
	pgbench(t, s.north, "-i", "-s", "5", "-q")
	near, far := faults.Way{Name: "the other site is near"}, faults.Way{Name: "the other site is " + s.distance.delay.String() + " away", Mark: leastFarTPS}
	turns := []struct {
		way   *faults.Way
		delay time.Duration
	}{{&near, 0}, {&far, s.distance.delay}}
	for range distanceRounds {
		for _, turn := range turns {
			s.distance.change(t, s.north.Namespace, turn.delay)
			tr.caughtUp(t)
			turn.way.TPS = append(turn.way.TPS, tps(t, s.north, distanceSeconds))
		}
		// What the first of two costs the second must not count for one way alone.
		slices.Reverse(turns)
	}
	tr.caughtUp(t)
	t.Logf("TPS near %.0f, far %.0f", near.TPS, far.TPS)
	if err := faults.WriteCost(os.Getenv("PGSTORAGE_FOLLOWERS_REPORT"), "a distance", time.Now().UTC().Format(time.DateOnly), near, far); err != nil {
		t.Error(err)
	}
}
