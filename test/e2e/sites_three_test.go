//go:build e2e

package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// TestThreeSites switches the site that writes under load, while a third one follows. Both sites
// that write in turn have a quorum of their own. It is not in make test.
func TestThreeSites(t *testing.T) {
	if err := helm("sites.enabled=true"); err != nil {
		t.Fatal(err)
	}
	s := &sites{profile: "three-sites", west: &v1alpha1.PgStorageCluster{}}
	s.declare(t)
	for _, cr := range []*v1alpha1.PgStorageCluster{s.north, s.south} {
		cr.Spec.Instances, cr.Spec.Durability = new(int32(2)), v1alpha1.DurabilityQuorum
	}
	step := live.InTurn(t)
	step("two sites follow the one that writes", s.follows)
	step("a switch takes the third site along", s.takesAlong)
	step("a switch back takes it along again", s.takesAlong)
	step("no acknowledged row is lost", s.lostNothing)
}

// takesAlong moves the role of the site that writes by the plugin, with the third site.
func (s *sites) takesAlong(t *testing.T) {
	from, to := s.writer, s.other()
	if from == s.north {
		s.load(t)
	}
	t.Log(plugin(t, from.Namespace, "switch", "shop", "--to-namespace", to.Namespace, "--also", "/"+s.west.Namespace+"/shop", "--apply"))
	s.writer = to
	has(t, to, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonWriting)
	ready(t, to)
	for _, cr := range s.all() {
		if cr == to {
			continue
		}
		has(t, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
		ready(t, cr)
		(&trial{writer: to, follower: cr}).caughtUp(t)
	}
	s.names(t, to, []string{from.Spec.Topology.Self, "west"})
	s.agree(t)
}
