package clusters

import (
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/site/report"
)

// inEpoch is what a Cluster has been given.
func inEpoch(c *cnpgv1.Cluster, epoch string) *cnpgv1.Cluster {
	c.Spec.PostgresConfiguration.Parameters = map[string]string{cnpg.ParameterEpoch: epoch}
	return c
}

// answer of site north to site south, of which everything agrees.
func answer(cr *v1alpha1.PgStorageCluster, change func(*report.Member)) []report.Member {
	m := report.Member{
		Name: "north", Asked: 1, Answered: true, InRecovery: cr.Spec.Topology.Primary != "north", System: "7000", Timeline: 1,
		Primary: cr.Spec.Topology.Primary, Epoch: 1, Topology: cnpg.TopologyHash(cr.Spec.Topology),
	}
	if change != nil {
		change(&m)
	}
	return []report.Member{m}
}

func TestSitesAgree(t *testing.T) {
	writes := func(epoch int64) func(*report.Member) {
		return func(m *report.Member) { m.InRecovery, m.Epoch, m.Primary = false, epoch, "north" }
	}
	for name, tc := range map[string]struct {
		primary string
		live    *cnpgv1.Cluster
		change  func(*report.Member)
		kind    outcome.Kind
		reason  string
		says    string
		fence   bool
		lift    bool
	}{
		"the other one follows":                   {"south", inEpoch(at("south", true), "2"), nil, outcome.Done, v1alpha1.ReasonAgreed, "hold site south", false, false},
		"the other one writes":                    {"north", inEpoch(at("north", false), "1"), nil, outcome.Done, v1alpha1.ReasonAgreed, "hold site north", false, false},
		"it does not answer":                      {"south", inEpoch(at("south", true), "2"), func(m *report.Member) { *m = report.Member{Name: "north", Asked: 1, Problem: report.TimedOut} }, outcome.Wait, v1alpha1.ReasonSiteUnreachable, "timed out", false, false},
		"it is another database":                  {"south", inEpoch(at("south", true), "2"), func(m *report.Member) { m.System = "8000" }, outcome.Invalid, v1alpha1.ReasonSitesDiffer, "system identifier 8000, and here 7000", false, false},
		"another database writes":                 {"south", inEpoch(at("south", true), "2"), func(m *report.Member) { writes(9)(m); m.System = "8000" }, outcome.Invalid, v1alpha1.ReasonSitesDiffer, "", false, false},
		"it has other members":                    {"south", inEpoch(at("south", true), "2"), func(m *report.Member) { m.Topology = "another" }, outcome.Invalid, v1alpha1.ReasonSitesDiffer, "other members", false, false},
		"a switch is under way":                   {"south", inEpoch(at("south", true), "2"), func(m *report.Member) { m.Primary = "north" }, outcome.Wait, v1alpha1.ReasonSwitchUnderWay, `holds "north"`, false, false},
		"its clock is ahead":                      {"south", inEpoch(at("south", true), "2"), func(m *report.Member) { m.ClockSkewMilliseconds = 1001 }, outcome.Wait, v1alpha1.ReasonClocksApart, "", false, false},
		"its clock is behind":                     {"south", inEpoch(at("south", true), "2"), func(m *report.Member) { m.ClockSkewMilliseconds = -1001 }, outcome.Wait, v1alpha1.ReasonClocksApart, "", false, false},
		"it writes, and was promoted before":      {"south", inEpoch(at("south", true), "2"), writes(1), outcome.Invalid, v1alpha1.ReasonTwoSitesWrite, "accepts writes, too", false, false},
		"it writes, and was promoted after":       {"south", inEpoch(at("south", true), "1"), writes(2), outcome.Invalid, v1alpha1.ReasonTwoSitesWrite, "fenced every instance", true, false},
		"both write, and nobody knows":            {"south", inEpoch(at("south", true), "2"), writes(2), outcome.Invalid, v1alpha1.ReasonTwoSitesWrite, "fenced every instance", true, false},
		"a writer while this one is to follow":    {"north", inEpoch(at("south", true), "1"), writes(2), outcome.Done, v1alpha1.ReasonAgreed, "", false, false},
		"fenced, and the other still writes":      {"south", sitesFenced(inEpoch(at("south", false), "1")), writes(2), outcome.Invalid, v1alpha1.ReasonTwoSitesWrite, "", false, false},
		"fenced, and the other is silent":         {"south", sitesFenced(inEpoch(at("south", false), "1")), func(m *report.Member) { *m = report.Member{Name: "north", Asked: 1, Problem: report.NoRoute} }, outcome.Wait, v1alpha1.ReasonSiteUnreachable, "", false, false},
		"fenced, and the other follows":           {"south", sitesFenced(inEpoch(at("south", false), "1")), nil, outcome.Invalid, v1alpha1.ReasonTwoSitesWrite, "", false, true},
		"fenced, and the other was demoted since": {"south", sitesFenced(inEpoch(at("south", false), "1")), func(m *report.Member) { m.Epoch = 2 }, outcome.Invalid, v1alpha1.ReasonTwoSitesWrite, "", false, false},
		"fenced, and this one is to follow":       {"north", sitesFenced(inEpoch(at("south", false), "1")), writes(2), outcome.Invalid, v1alpha1.ReasonTwoSitesWrite, "", false, false},
		"fenced, and this one follows":            {"north", sitesFenced(inEpoch(at("north", false), "1")), writes(2), outcome.Invalid, v1alpha1.ReasonTwoSitesWrite, "", false, true},
	} {
		cr, f := shop(sites("south", tc.primary)), allowed()
		f.Cluster = tc.live
		f.Sites.Members = answer(cr, tc.change)
		o := sitesAgree(cr, f)
		if o.Kind != tc.kind || o.Reason != tc.reason || !strings.Contains(o.Message, tc.says) || o.Informative != (tc.kind != outcome.Invalid) {
			t.Errorf("%s: %+v", name, o)
		}
		if fence, lift := SiteFence(cr, f); fence != tc.fence || lift != tc.lift {
			t.Errorf("%s: fence %v, lift %v", name, fence, lift)
		}
	}
}

// sitesFenced is a Cluster that the operator has stopped.
func sitesFenced(c *cnpgv1.Cluster) *cnpgv1.Cluster {
	c.Annotations = map[string]string{naming.AnnotationFencedBySites: "true"}
	return c
}

func TestSitesAreUnknownWithoutTheirWatcher(t *testing.T) {
	cr, f := shop(sites("south", "south")), allowed()
	f.Cluster = at("south", true)
	for _, problem := range []string{"", "it does not run"} {
		f.Sites.Problem = problem
		if o := sitesAgree(cr, f); o.Reason != v1alpha1.ReasonNotReadBack || !o.Unknown || !o.Informative || !strings.Contains(o.Message, problem) {
			t.Errorf("%q: %+v", problem, o)
		}
		if fence, lift := SiteFence(cr, f); fence || lift {
			t.Errorf("%q: fence %v, lift %v", problem, fence, lift)
		}
	}
}

func TestFencesOfOthersOutliveThatOfASite(t *testing.T) {
	for _, before := range []string{"", `["shop-2"]`} {
		c := at("south", true)
		if before != "" {
			c.Annotations = map[string]string{AnnotationCNPGFenced: before}
		}
		apply := func(changes map[string]any) {
			for name, value := range changes {
				if c.Annotations == nil {
					c.Annotations = map[string]string{}
				}
				if delete(c.Annotations, name); value != nil {
					c.Annotations[name] = value.(string)
				}
			}
		}
		apply(SiteFenceAnnotations(c, true))
		if c.Annotations[AnnotationCNPGFenced] != `["*"]` || !fencedBySites(c) {
			t.Errorf("%q: fenced %v", before, c.Annotations)
		}
		apply(SiteFenceAnnotations(c, false))
		if c.Annotations[AnnotationCNPGFenced] != before || fencedBySites(c) {
			t.Errorf("%q: lifted %v", before, c.Annotations)
		}
	}
}

func TestEpochCountsPromotions(t *testing.T) {
	for name, tc := range map[string]struct {
		primary string
		live    *cnpgv1.Cluster
		peer    int64
		want    int64
	}{
		"a new site that writes":               {"south", nil, 0, 1},
		"a new site that follows":              {"north", nil, 3, 3},
		"the site that writes keeps its own":   {"south", inEpoch(at("south", true), "2"), 5, 2},
		"a site that follows takes the other":  {"north", inEpoch(at("north", false), "1"), 4, 4},
		"a site that follows never goes back":  {"north", inEpoch(at("north", false), "4"), 1, 4},
		"a site that is promoted adds one":     {"south", inEpoch(at("north", false), "2"), 2, 3},
		"nobody answers a site that is":        {"south", inEpoch(at("north", false), "2"), 0, 3},
		"once it was promoted it adds no more": {"south", inEpoch(at("south", false), "3"), 2, 3},
		"another database has no say":          {"north", inEpoch(at("north", false), "1"), -7, 1},
		"no epoch is beyond the bound":         {"south", inEpoch(at("north", false), "2"), report.MaxEpoch, report.MaxEpoch},
		"it was given what is no number":       {"south", inEpoch(at("south", true), "x"), 0, 1},
	} {
		cr, f := shop(sites("south", tc.primary)), allowed()
		f.Cluster = tc.live
		f.Sites.Members = answer(cr, func(m *report.Member) {
			if m.Epoch = tc.peer; tc.peer < 0 {
				m.Epoch, m.System = -tc.peer, "8000"
			}
		})
		if got := epoch(cr, f); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

func TestStatusShowsWhatOtherSitesAnswered(t *testing.T) {
	cr, f := shop(sites("south", "south")), allowed()
	f.Cluster = at("south", true)
	f.Sites.Members = append(answer(cr, nil), report.Member{Name: "hostile", Answered: true})
	got := (&Cluster{}).Status(cr, f).Topology.Members
	if len(got) != 1 || got[0] != (v1alpha1.SiteObserved{Name: "north", Role: v1alpha1.SiteFollows, Primary: "south", Timeline: 1}) {
		t.Errorf("%+v", got)
	}
}

// The API server refuses a status with a longer name than that of any member.
func TestStatusHasNoLongNameOfAnotherSite(t *testing.T) {
	cr, f := shop(sites("south", "south")), allowed()
	f.Cluster = at("south", true)
	f.Sites.Members = answer(cr, func(m *report.Member) { m.Primary = strings.Repeat("x", report.MaxName) })
	if got := (&Cluster{}).Status(cr, f).Topology.Members[0].Primary; got == "" || len(got) > 24 {
		t.Errorf("%q", got)
	}
}

func TestTopologyIsRefusedWhereSitesAreOff(t *testing.T) {
	off := config
	off.Sites = false
	built, err := Build(shop(sites("north", "north")), allowed(), catalog.All(), off)
	if err != nil {
		t.Fatal(err)
	}
	if o, found := built.Outcomes.Get(v1alpha1.ConditionSiteInRole); !found || o.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(o.Message, "sites.enabled=true") {
		t.Errorf("%+v", o)
	}
	for _, o := range built.Plan.Objects {
		if o.Content.GetKind() == "StatefulSet" {
			t.Error("a watcher is planned")
		}
	}
}

// A hash that depended on the order would have sites differ that were given the same.
func TestTopologyHashIsOfTheMembers(t *testing.T) {
	a, b := shop(sites("north", "north")).Spec.Topology, shop(sites("south", "south")).Spec.Topology
	b.Members[0], b.Members[1] = b.Members[1], b.Members[0]
	if cnpg.TopologyHash(a) != cnpg.TopologyHash(b) {
		t.Error("the order of members, self or primary changes it")
	}
	b.Members[0].Host = "shop.elsewhere.example"
	if cnpg.TopologyHash(a) == cnpg.TopologyHash(b) {
		t.Error("another host does not change it")
	}
}
