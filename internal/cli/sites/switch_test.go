package sites

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

func TestTheNextStepFollowsFromTheObjects(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   Switch
		step Step
	}{
		{"nothing was done", Switch{From: at("", writer("north")), To: at("", follower("south", "north"))}, Demote},
		{"the operator has not seen that writes are to stop", Switch{From: at("", changed(writer("north"), func(o *v1alpha1.PgStorageCluster) {
			o.Generation++
			o.Spec.Topology.Primary = "south"
		})), To: at("", follower("south", "north"))}, AwaitDemotion},
		{"writes stop", Switch{From: at("", changed(demoted(), func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SiteDemoting, metav1.ConditionFalse, v1alpha1.ReasonDemoting)
			o.Status.Topology.DemotionToken = ""
		})), To: at("", follower("south", "north"))}, AwaitDemotion},
		{"a token of an older generation", Switch{From: at("", changed(demoted(), func(o *v1alpha1.PgStorageCluster) { o.Generation++ })), To: at("", follower("south", "north"))}, AwaitDemotion},
		{"a role without a token", Switch{From: at("", changed(demoted(), func(o *v1alpha1.PgStorageCluster) { o.Status.Topology.DemotionToken = "" })), To: at("", follower("south", "north"))}, AwaitDemotion},
		{"writes have stopped", Switch{From: at("", demoted()), To: at("", follower("south", "north"))}, Promote},
		{"writes have stopped, and the other site is not healthy", Switch{From: at("", demoted()), To: at("", object("south", "north"))}, Promote},
		{"the operator has not seen that the other site is to write", Switch{From: at("", demoted()), To: at("", promoting(""))}, AwaitPromotion},
		{"the other site has no token", Switch{From: at("", demoted()), To: at("", changed(promoting(""), func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonTokenRequired)
		}))}, Promote},
		{"the other site has an older token, which is refused", Switch{From: at("", demoted()), To: at("", changed(promoting("token-0"), func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonTokenRefused)
		}))}, Promote},
		{"the other site has an older token", Switch{From: at("", demoted()), To: at("", changed(promoting("token-0"), func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonPromoting)
		}))}, Promote},
		{"the other site is promoted without a token", Switch{From: at("", demoted()), To: at("", changed(promoting(""), func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonPromoting)
		}))}, AwaitPromotion},
		{"the other site has the token", Switch{From: at("", demoted()), To: at("", promoting("token-1"))}, AwaitPromotion},
		{"the other site replays", Switch{From: at("", demoted()), To: at("", changed(promoting("token-1"), func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonPromoting)
		}))}, AwaitPromotion},
		{"the other site has the token, and the first one follows already", Switch{From: at("", changed(demoted(), func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SiteFollows, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
		})), To: at("", promoting("token-1"))}, AwaitPromotion},
		{"both were changed by hand", Switch{From: at("", changed(writer("north"), func(o *v1alpha1.PgStorageCluster) { o.Spec.Topology.Primary = "south" })), To: at("", changed(promoting(""), func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonTokenRequired)
		}))}, AwaitDemotion},
		{"the other site writes", Switch{From: at("", demoted()), To: at("", writer("south"))}, AwaitFollowing},
		{"the other site wrote in an older generation", Switch{From: at("", demoted()), To: at("", changed(writer("south"), func(o *v1alpha1.PgStorageCluster) { o.Generation++ }))}, AwaitPromotion},
		{"all is done", Switch{From: at("", follower("north", "south")), To: at("", writer("south"))}, Done},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if step, refusals := tc.in.Next(); step != tc.step || len(refusals) > 0 {
				t.Errorf("step %d, want %d; refusals %q", step, tc.step, refusals)
			}
		})
	}
}

func changed(o *v1alpha1.PgStorageCluster, change func(*v1alpha1.PgStorageCluster)) *v1alpha1.PgStorageCluster {
	change(o)
	return o
}

func TestASwitchIsRefused(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Switch)
		want   []string
	}{
		{"without topology", func(s *Switch) { s.To.Object.Spec.Topology = nil }, []string{"PgStorageCluster prod/shop in context b has no spec.topology"}},
		{"without topology in both", func(s *Switch) { s.From.Object.Spec.Topology, s.To.Object.Spec.Topology = nil, nil }, []string{"context a has no spec.topology", "context b has no spec.topology"}},
		{"for the same site", func(s *Switch) { s.To.Object = writer("north") }, []string{"spec.topology.self of prod/shop in context a and of prod/shop in context b is north; name the PgStorageCluster of another site"}},
		{"with a member less", func(s *Switch) { s.To.Object.Spec.Topology.Members = s.To.Object.Spec.Topology.Members[:2] }, []string{"members of prod/shop in context a and prod/shop in context b differ: only the first has west; make them equal"}},
		{"with a member more", func(s *Switch) { s.From.Object.Spec.Topology.Members = s.From.Object.Spec.Topology.Members[:2] }, []string{"only the second has west"}},
		{"with another host", func(s *Switch) { s.To.Object.Spec.Topology.Members[2].Host = "elsewhere.example" }, []string{"west is at shop.west.example:5432 and at elsewhere.example:5432"}},
		{"with another port", func(s *Switch) { s.To.Object.Spec.Topology.Members[2].Port = new(int32(6432)) }, []string{"west is at shop.west.example:5432 and at shop.west.example:6432"}},
		{"with another Secret", func(s *Switch) { s.To.Object.Spec.Topology.Members[0].TLS.CertificateAuthority = "other" }, []string{"the Secrets in tls of north"}},
		{"for a site that is no member", func(s *Switch) {
			for _, site := range []Site{s.From, s.To} {
				site.Object.Spec.Topology.Members = []v1alpha1.SiteMember{site.Object.Spec.Topology.Members[0], site.Object.Spec.Topology.Members[2]}
			}
		}, []string{"members of prod/shop in context b does not list south"}},
		{"while a site is suspended", func(s *Switch) { s.To.Object.Spec.Suspend = new(true) }, []string{"site south (prod/shop in context b) is suspended, so the operator does nothing for it; set its spec.suspend to false"}},
		{"while both are suspended", func(s *Switch) { s.From.Object.Spec.Suspend, s.To.Object.Spec.Suspend = new(true), new(true) }, []string{"site north (prod/shop in context a) is suspended", "site south (prod/shop in context b) is suspended"}},
		{"while a site is deleted", func(s *Switch) { s.From.Object.DeletionTimestamp = &metav1.Time{} }, []string{"site north (prod/shop in context a) is being deleted"}},
		{"while a promotion without a token is under way", func(s *Switch) { s.To.Object.Annotations = map[string]string{naming.AnnotationPromote: "uid"} }, []string{"kubectl --context b -n prod annotate pgsc shop pgstorage.dev/promote-without-token-"}},
		{"from a site that does not write", func(s *Switch) { s.From.Object, s.To.Object = follower("north", "west"), follower("south", "west") }, []string{"run the command for the PgStorageCluster of site west"}},
		{"to a site that follows a third one", func(s *Switch) { s.To.Object.Spec.Topology.Primary = "west" }, []string{"primary of site south (prod/shop in context b) is west, while that of site north (prod/shop in context a) is north; set it to north first"}},
		{"when the first site stopped for the second, which follows a third one", func(s *Switch) { s.From.Object, s.To.Object = demoted(), follower("south", "west") }, []string{"is west, while that of site north (prod/shop in context a) is south; set it to north"}},
		{"to a site that waits for a token that nobody asked for", func(s *Switch) {
			s.To.Object = promoting("")
			report(s.To.Object, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonTokenRequired)
		}, []string{"is south, while that of site north (prod/shop in context a) is north; set it to north first"}},
		{"while both sites write", func(s *Switch) { s.To.Object = writer("south") }, []string{"both sites are to write", "Keep clients away from one of them"}},
		{"while the other way is under way", func(s *Switch) {
			s.From.Object, s.To.Object = follower("north", "south"), object("south", "north")
			s.From.Object.Status.Topology.DemotionToken = "token-of-an-older-switch"
			report(s.To.Object, v1alpha1.SiteDemoted, metav1.ConditionFalse, v1alpha1.ReasonDemoted)
		}, []string{"a switch the other way is under way: site south (prod/shop in context b) is Demoted"}},
		{"when the token is refused", func(s *Switch) {
			s.From.Object, s.To.Object = demoted(), promoting("token-1")
			report(s.To.Object, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonTokenRefused)
		}, []string{"site south (prod/shop in context b) does not accept the token of site north: PromotionTokenRefused: as Promoting"}},
		{"from a site that is not in its role", func(s *Switch) {
			report(s.From.Object, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonPromoting)
		}, []string{"site north (prod/shop in context a) does not write as declared: Promoting: as Promoting"}},
		{"to a site that does not follow", func(s *Switch) {
			condition(s.To.Object, v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, "NotStreaming", "no connection\x1b[2J")
		}, []string{"does not follow site north as declared: NotStreaming: no connection [2J; wait until"}},
		{"to a site that the operator has not looked at", func(s *Switch) { s.To.Object.Generation++ }, []string{"the operator has not observed the current spec"}},
		{"to a site that is not Ready", func(s *Switch) {
			condition(s.To.Object, v1alpha1.ConditionReady, metav1.ConditionFalse, "ClusterNotHealthy", "1 of 2")
		}, []string{"condition Ready of site south (prod/shop in context b) is not True: ClusterNotHealthy: 1 of 2"}},
		{"to a site that is behind", func(s *Switch) {
			condition(s.To.Object, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionFalse, v1alpha1.ReasonLagging, "200Mi of WAL are not replayed")
		}, []string{"condition FollowersCaughtUp of site south (prod/shop in context b) is not True: Lagging: 200Mi of WAL are not replayed"}},
		{"to a site whose lag is not known", func(s *Switch) { s.To.Object.Status.Conditions = s.To.Object.Status.Conditions[:2] }, []string{"condition FollowersCaughtUp of site south (prod/shop in context b) is not True: not reported"}},
		{"with a further site without topology", func(s *Switch) {
			s.Also = []Site{at("c", changed(follower("west", "north"), func(o *v1alpha1.PgStorageCluster) { o.Spec.Topology = nil }))}
		}, []string{"context c has no spec.topology"}},
		{"with a further site that is one of the two", func(s *Switch) { s.Also = []Site{at("c", follower("south", "north"))} }, []string{"--also prod/shop in context c is site south, which is named already"}},
		{"with a further site twice", func(s *Switch) {
			s.Also = []Site{at("c", follower("west", "north")), at("c", follower("west", "north"))}
		}, []string{"is site west, which is named already"}},
		{"with a further site that follows another one", func(s *Switch) { s.Also = []Site{at("c", writer("west"))} }, []string{"primary of site west (prod/shop in context c) is west, which is none of the two sites to switch"}},
		{"with a further site that has other members", func(s *Switch) {
			s.Also = []Site{at("c", changed(follower("west", "north"), func(o *v1alpha1.PgStorageCluster) { o.Spec.Topology.Members[0].Host = "x" }))}
		}, []string{"context a and prod/shop in context c differ"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := Switch{From: at("a", writer("north")), To: at("b", follower("south", "north"))}
			tc.change(&s)
			_, refusals := s.Next()
			if len(refusals) != len(tc.want) && len(tc.want) != 2 {
				t.Errorf("%d refusals: %q", len(refusals), refusals)
			}
			for _, want := range tc.want {
				if !strings.Contains(strings.Join(refusals, "\n"), want) {
					t.Errorf("no %q in %q", want, refusals)
				}
			}
		})
	}
}

func TestASiteThatIsBehindIsNotRefusedOnceWritesHaveStopped(t *testing.T) {
	s := Switch{From: at("a", demoted()), To: at("b", follower("south", "north"))}
	condition(s.To.Object, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionUnknown, v1alpha1.ReasonNotReadBack, "")
	condition(s.To.Object, v1alpha1.ConditionReady, metav1.ConditionFalse, "ClusterNotHealthy", "")
	if step, refusals := s.Next(); step != Promote || len(refusals) > 0 {
		t.Errorf("step %d, refusals %q", step, refusals)
	}
}

func TestAnOmittedPortIsThatOfPostgres(t *testing.T) {
	s := Switch{From: at("a", writer("north")), To: at("b", follower("south", "north"))}
	s.To.Object.Spec.Topology.Members[1].Port = nil
	if _, refusals := s.Next(); len(refusals) > 0 {
		t.Errorf("refusals %q", refusals)
	}
}

func TestThePlanMarksWhatIsDone(t *testing.T) {
	west := at("c", follower("west", "north"))
	for _, tc := range []struct {
		name string
		in   Switch
		want string
	}{
		{"before the first step", Switch{From: at("a", writer("north")), To: at("b", follower("south", "north"))}, `Switch from site north (prod/shop in context a) to site south (prod/shop in context b):
  1. Set spec.topology.primary of site north to south. Writes stop here.
  2. Wait until site north has stopped writing. Its status then has a token.
  3. Set spec.topology.primary of site south to south, with that token as promotionToken.
  4. Wait until site south writes. Writes continue here.
  5. Wait until site north follows site south.
Site west is a member, too. It needs south as its spec.topology.primary afterwards: name it with --also.
Nothing was changed. --apply does what is not done.
`},
		{"after an interruption", Switch{From: at("a", demoted()), To: at("b", follower("south", "north")), Also: []Site{west}}, `Switch from site north (prod/shop in context a) to site south (prod/shop in context b):
  1. Set spec.topology.primary of site north to south. Writes stop here. (done)
  2. Wait until site north has stopped writing. Its status then has a token. (done)
  3. Set spec.topology.primary of site south to south, with that token as promotionToken.
  4. Wait until site south writes. Writes continue here.
  5. Set spec.topology.primary of site west to south.
  6. Wait until site north follows site south.
Nothing was changed. --apply does what is not done.
`},
		{"afterwards", Switch{From: at("a", follower("north", "south")), To: at("b", writer("south")), Also: []Site{at("c", follower("west", "south"))}}, `Switch from site north (prod/shop in context a) to site south (prod/shop in context b):
  1. Set spec.topology.primary of site north to south. Writes stop here. (done)
  2. Wait until site north has stopped writing. Its status then has a token. (done)
  3. Set spec.topology.primary of site south to south, with that token as promotionToken. (done)
  4. Wait until site south writes. Writes continue here. (done)
  5. Set spec.topology.primary of site west to south. (done)
  6. Wait until site north follows site south. (done)
Nothing is left to do.
`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			step, refusals := tc.in.Next()
			if got := tc.in.Plan(step); got != tc.want || len(refusals) > 0 {
				t.Errorf("%s%q", got, refusals)
			}
		})
	}
}
