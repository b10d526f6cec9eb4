package clusters

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/site/report"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// sites are north and south; self is this one, and primary writes.
func sites(self, primary string) func(*v1alpha1.PgStorageClusterSpec) {
	return func(s *v1alpha1.PgStorageClusterSpec) {
		member := func(name string) v1alpha1.SiteMember {
			port := int32(5432)
			return v1alpha1.SiteMember{
				Name: name, Host: "shop." + name + ".example", Port: &port,
				TLS: v1alpha1.SiteTLS{ClientCertificate: "shop-" + name + "-replication", CertificateAuthority: "shop-" + name + "-ca"},
			}
		}
		s.Topology = &v1alpha1.TopologySpec{Self: self, Primary: primary, Members: []v1alpha1.SiteMember{member("north"), member("south")}}
	}
}

// allowed are facts with the consent of a cluster administrator.
func allowed() observed.Cluster {
	f := facts()
	f.Profile.Spec.AllowedOverrides = []string{fieldExternalClusters}
	return f
}

const uid = "22222222-3333-4444-5555-666666666666"

// at is what CloudNativePG reports of site south, where replica says which site it holds for
// the one that writes.
func at(primary string, writing bool) *cnpgv1.Cluster {
	c := &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop", UID: uid},
		Spec: cnpgv1.ClusterSpec{
			Instances:      1,
			Bootstrap:      &cnpgv1.BootstrapConfiguration{PgBaseBackup: &cnpgv1.BootstrapPgBaseBackup{Source: "north"}},
			ReplicaCluster: &cnpgv1.ReplicaClusterConfiguration{Self: "south", Primary: primary, Source: "north"},
		},
		Status: cnpgv1.ClusterStatus{
			CurrentPrimary: "shop-1", SystemID: "7000", Instances: 1, ReadyInstances: 1,
			InstancesReportedState: map[cnpgv1.PodName]cnpgv1.InstanceReportedState{"shop-1": {IsPrimary: writing}},
		},
	}
	return c
}

func tokenOf(system string, timeline int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"databaseSystemIdentifier":%q,"latestCheckpointTimelineID":"%d","latestCheckpointREDOLocation":"0/5000028"}`, system, timeline))
}

func TestSitePlans(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.PgStorageClusterSpec)
		live   *cnpgv1.Cluster
	}{
		"site-writes":  {sites("north", "north"), nil},
		"site-follows": {sites("south", "north"), nil},
		"site-promoted": {func(s *v1alpha1.PgStorageClusterSpec) {
			sites("south", "south")(s)
			s.Topology.PromotionToken = tokenOf("7000", 1)
		}, at("north", false)},
	} {
		t.Run(name, func(t *testing.T) {
			f := allowed()
			f.Cluster = tc.live
			built, err := Build(shop(tc.change), f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			golden.Plan(t, "cluster-"+name, &built.Plan)
		})
	}
}

func TestSiteIsInItsRole(t *testing.T) {
	streaming := func(timeline int64) func(*v1alpha1.PgStorageCluster, *observed.Cluster) {
		return func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.ReadBack.Receivers = map[string]observed.Receiver{"shop-1": {Streaming: true, Timeline: timeline}}
		}
	}
	demoted := func(timeline int64) func(*v1alpha1.PgStorageCluster, *observed.Cluster) {
		return func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Cluster.Status.DemotionToken = tokenOf("7000", 2)
			streaming(timeline)(cr, f)
		}
	}
	token := func(text string) func(*v1alpha1.PgStorageCluster, *observed.Cluster) {
		return func(cr *v1alpha1.PgStorageCluster, _ *observed.Cluster) { cr.Spec.Topology.PromotionToken = text }
	}
	elsewhere := func(timeline int64) func(*v1alpha1.PgStorageCluster, *observed.Cluster) {
		return func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			cr.Spec.Topology.PromotionToken = tokenOf("7000", 1)
			f.Sites.Members = answer(cr, func(m *report.Member) { m.InRecovery, m.Timeline = false, timeline })
		}
	}
	for name, tc := range map[string]struct {
		primary string
		live    *cnpgv1.Cluster
		change  func(*v1alpha1.PgStorageCluster, *observed.Cluster)
		kind    outcome.Kind
		reason  string
		says    string
		role    v1alpha1.SiteRole
	}{
		"it is being created":                  {"south", nil, nil, outcome.Wait, v1alpha1.ReasonClusterCreating, "being created", ""},
		"it writes":                            {"south", at("south", true), nil, outcome.Done, v1alpha1.ReasonWriting, "no other site follows", v1alpha1.SiteWrites},
		"it follows":                           {"north", at("north", false), streaming(1), outcome.Done, v1alpha1.ReasonFollowing, "site south follows site north", v1alpha1.SiteFollows},
		"it follows, and receives nothing now": {"north", at("north", false), nil, outcome.Done, v1alpha1.ReasonFollowing, "", v1alpha1.SiteFollows},
		"it is to stop writing":                {"north", at("south", true), nil, outcome.Wait, v1alpha1.ReasonDemoting, "", v1alpha1.SiteDemoting},
		"it still writes":                      {"north", at("north", true), nil, outcome.Wait, v1alpha1.ReasonDemoting, "", v1alpha1.SiteDemoting},
		"CloudNativePG stops it": {"north", at("north", false), func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Cluster.Status.SwitchReplicaClusterStatus.InProgress = true
		}, outcome.Wait, v1alpha1.ReasonDemoting, "", v1alpha1.SiteDemoting},
		"it has stopped writing":                    {"north", at("north", false), demoted(0), outcome.Wait, v1alpha1.ReasonDemoted, "promotionToken", v1alpha1.SiteDemoted},
		"it receives its own timeline of the other": {"north", at("north", false), demoted(2), outcome.Wait, v1alpha1.ReasonDemoted, "", v1alpha1.SiteDemoted},
		"it follows again after its demotion":       {"north", at("north", false), demoted(3), outcome.Done, v1alpha1.ReasonFollowing, "", v1alpha1.SiteFollows},
		"it has followed since, and receives nothing now": {"north", at("north", false), func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			demoted(0)(cr, f)
			cr.Status.Topology = &v1alpha1.TopologyStatus{Role: v1alpha1.SiteFollows, DemotionToken: f.Cluster.Status.DemotionToken}
		}, outcome.Done, v1alpha1.ReasonFollowing, "", v1alpha1.SiteFollows},
		"its checkpoint is on a later timeline": {"north", at("north", false), func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			demoted(0)(cr, f)
			f.Cluster.Status.InstancesReportedState["shop-1"] = cnpgv1.InstanceReportedState{TimeLineID: 3}
		}, outcome.Done, v1alpha1.ReasonFollowing, "", v1alpha1.SiteFollows},
		"it is promoted":                               {"south", at("south", false), nil, outcome.Wait, v1alpha1.ReasonPromoting, "", v1alpha1.SitePromoting},
		"it may be promoted with a token":              {"south", at("north", false), token(tokenOf("7000", 1)), outcome.Wait, v1alpha1.ReasonPromoting, "", v1alpha1.SitePromoting},
		"there is no token, and its lag is not known":  {"south", at("north", false), nil, outcome.Invalid, v1alpha1.ReasonTokenRequired, "pgstorage.dev/promote-without-token=" + uid, v1alpha1.SitePromoting},
		"there is no token, and the other site writes": {"south", at("north", false), streaming(1), outcome.Invalid, v1alpha1.ReasonTokenRequired, "still receives WAL", v1alpha1.SitePromoting},
		"there is no token, and the other site is silent": {"south", at("north", false), func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.ReadBack.Receivers = map[string]observed.Receiver{"shop-1": {Delay: 60}}
		}, outcome.Invalid, v1alpha1.ReasonTokenRequired, "up to 1m4s old", v1alpha1.SitePromoting},
		"the loss is accepted": {"south", at("north", false), consented, outcome.Wait, v1alpha1.ReasonPromoting, "", v1alpha1.SitePromoting},
		"the loss is accepted for another Cluster": {"south", at("north", false), func(cr *v1alpha1.PgStorageCluster, _ *observed.Cluster) {
			cr.Annotations = map[string]string{naming.AnnotationPromote: "another"}
		}, outcome.Invalid, v1alpha1.ReasonTokenRequired, "", v1alpha1.SitePromoting},
		"the token is none":                {"south", at("north", false), token("not a token"), outcome.Invalid, v1alpha1.ReasonTokenRefused, "not a token of CloudNativePG", v1alpha1.SitePromoting},
		"the token has no content":         {"south", at("north", false), token(base64.StdEncoding.EncodeToString([]byte(`{}`))), outcome.Invalid, v1alpha1.ReasonTokenRefused, "not a token", v1alpha1.SitePromoting},
		"the token is of another database": {"south", at("north", false), token(tokenOf("7001", 1)), outcome.Invalid, v1alpha1.ReasonTokenRefused, "system identifier 7001, and this one has 7000", v1alpha1.SitePromoting},
		"the token was used":               {"south", at("north", false), used, outcome.Invalid, v1alpha1.ReasonTokenRefused, "promoted with it before", v1alpha1.SitePromoting},
		"the token is of an earlier demotion": {"south", at("north", false), func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			demoted(3)(cr, f)
			token(tokenOf("7000", 1))(cr, f)
		}, outcome.Invalid, v1alpha1.ReasonTokenRefused, "older", v1alpha1.SitePromoting},
		"it goes back after its own demotion": {"south", at("north", false), func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			demoted(2)(cr, f)
			token(tokenOf("7000", 2))(cr, f)
		}, outcome.Wait, v1alpha1.ReasonPromoting, "", v1alpha1.SitePromoting},
		"another site was promoted with the token":       {"south", at("north", false), elsewhere(2), outcome.Invalid, v1alpha1.ReasonTokenRefused, "site north writes already", v1alpha1.SitePromoting},
		"the site that was demoted answers late":         {"south", at("north", false), elsewhere(1), outcome.Wait, v1alpha1.ReasonPromoting, "", v1alpha1.SitePromoting},
		"it is promoted with its token":                  {"south", withToken(at("south", false)), token(tokenOf("7000", 1)), outcome.Wait, v1alpha1.ReasonPromoting, "", v1alpha1.SitePromoting},
		"its token is removed before it is promoted":     {"south", withToken(at("south", false)), nil, outcome.Invalid, v1alpha1.ReasonTokenRequired, "nothing proves", v1alpha1.SitePromoting},
		"its token is replaced before it is promoted":    {"south", withToken(at("south", false)), token(tokenOf("7001", 1)), outcome.Invalid, v1alpha1.ReasonTokenRefused, "7001", v1alpha1.SitePromoting},
		"its token is removed, and the loss is accepted": {"south", withToken(at("south", false)), consented, outcome.Wait, v1alpha1.ReasonPromoting, "", v1alpha1.SitePromoting},
		"its token is removed once it was promoted": {"south", withToken(at("south", true)), func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Cluster.Status.LastPromotionToken = tokenOf("7000", 1)
		}, outcome.Done, v1alpha1.ReasonWriting, "", v1alpha1.SiteWrites},
	} {
		f, cr := allowed(), shop(sites("south", tc.primary))
		f.Cluster = tc.live
		if tc.change != nil {
			tc.change(cr, &f)
		}
		built, err := Build(cr, f, catalog.All(), config)
		if err != nil {
			t.Fatal(err)
		}
		o, found := built.Outcomes.Get(v1alpha1.ConditionSiteInRole)
		if !found || o.Kind != tc.kind || o.Reason != tc.reason || !strings.Contains(o.Message, tc.says) {
			t.Errorf("%s: %+v", name, o)
		}
		if _, held := built.Plan.GateOf(plan.StageDatabase); held != (tc.kind == outcome.Invalid) {
			t.Errorf("%s: held %v", name, held)
		}
		if got := built.Status(cr, f).Topology; got.Role != tc.role {
			t.Errorf("%s: role %q", name, got.Role)
		}
	}
}

func consented(cr *v1alpha1.PgStorageCluster, _ *observed.Cluster) {
	cr.Annotations = map[string]string{naming.AnnotationPromote: uid}
}

// withToken is a Cluster that is promoted by a token.
func withToken(c *cnpgv1.Cluster) *cnpgv1.Cluster {
	c.Spec.ReplicaCluster.PromotionToken = tokenOf("7000", 1)
	return c
}

// Without its topology CloudNativePG would promote a site that follows, and nothing would
// keep two sites from writing.
func TestSiteWithoutTopologyIsLeftAsItIs(t *testing.T) {
	for name, tc := range map[string]struct {
		live *cnpgv1.Cluster
		held bool
	}{
		"it writes":                    {inEpoch(at("south", true), "2"), false},
		"it follows":                   {inEpoch(at("north", false), "2"), true},
		"it waits for its token":       {inEpoch(withToken(at("south", false)), "2"), true},
		"it is fenced":                 {sitesFenced(inEpoch(at("south", false), "1")), true},
		"it never was a site":          {running("shop", 1), false},
		"it does not exist, or is new": {nil, false},
	} {
		f := allowed()
		f.Cluster = tc.live
		cr := shop(nil)
		built, err := Build(cr, f, catalog.All(), config)
		if err != nil {
			t.Fatal(err)
		}
		o, found := built.Outcomes.Get(v1alpha1.ConditionSiteInRole)
		if found != tc.held || tc.held && (o.Kind != outcome.Invalid || o.Reason != v1alpha1.ReasonTokenRequired || !strings.Contains(o.Message, "set spec.topology as it was")) {
			t.Errorf("%s: %+v", name, o)
		}
		if _, held := built.Plan.GateOf(plan.StageDatabase); held != tc.held {
			t.Errorf("%s: held %v", name, held)
		}
		if fence, lift := SiteFence(cr, f); fence || lift {
			t.Errorf("%s: fence %v, lift %v", name, fence, lift)
		}
	}
}

// used is a token by which the site was promoted before.
func used(cr *v1alpha1.PgStorageCluster, _ *observed.Cluster) {
	cr.Spec.Topology.PromotionToken = tokenOf("7000", 1)
	cr.Status.Topology = &v1alpha1.TopologyStatus{PromotedWith: naming.Hash(tokenOf("7000", 1))}
}

func TestTokenIsRememberedOnceTheSiteWrites(t *testing.T) {
	cr, f := shop(sites("south", "south")), allowed()
	cr.Spec.Topology.PromotionToken = tokenOf("7000", 1)
	f.Cluster = at("south", false)
	built := Cluster{}
	if got := built.Status(cr, f).Topology.PromotedWith; got != "" {
		t.Errorf("while it is promoted: %q", got)
	}
	f.Cluster = at("south", true)
	f.Cluster.Status.LastPromotionToken = cr.Spec.Topology.PromotionToken
	if got := built.Status(cr, f).Topology.PromotedWith; got != naming.Hash(cr.Spec.Topology.PromotionToken) {
		t.Errorf("once it writes: %q", got)
	}
}

func TestTopologyNeedsConsent(t *testing.T) {
	built, err := Build(shop(sites("north", "north")), facts(), catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	o, found := built.Outcomes.Get(v1alpha1.ConditionParametersAccepted)
	if !found || o.Reason != v1alpha1.ReasonOverrideRefused || !strings.Contains(o.Message, "spec.topology") || !strings.Contains(o.Message, "externalClusters") {
		t.Errorf("%+v", o)
	}
}

func TestSiteThatFollowsPromisesNothing(t *testing.T) {
	cr, f := shop(sites("south", "north")), allowed()
	f.Cluster = at("north", false)
	s := (&Cluster{}).Status(cr, f)
	if s.Endpoints.ReadWrite != "" || s.Endpoints.ReadOnly == "" || s.Durability.Tier != "" || !strings.Contains(s.Durability.Acknowledged, "follows site north") {
		t.Errorf("%+v, %+v", s.Endpoints, s.Durability)
	}
}

func TestLossOfASiteDependsOnWhoFollows(t *testing.T) {
	cr, f := shop(sites("south", "south")), allowed()
	f.Cluster = at("south", true)
	siteLoss := func() v1alpha1.LossEvent {
		for _, l := range (&Cluster{}).Status(cr, f).Durability.Losses {
			if l.Event == "SiteLoss" {
				return l
			}
		}
		return v1alpha1.LossEvent{}
	}
	if l := siteLoss(); l.AcknowledgedCommits != "Lost" {
		t.Errorf("nobody follows: %+v", l)
	}
	f.ReadBack.Followers = []string{"shop-2", "pgstorage-site-north"}
	if l := siteLoss(); l.AcknowledgedCommits != commitsMayBeLost || !strings.Contains(l.Detail, "site north") {
		t.Errorf("north follows: %+v", l)
	}
}

// A client that connects for replication chooses the name of its application. The API server
// refuses a status with a long one.
func TestOnlyDeclaredSitesAreFollowers(t *testing.T) {
	cr, f := shop(sites("south", "south")), allowed()
	f.Cluster = at("south", true)
	f.ReadBack.Followers = []string{"pgstorage-site-", "pgstorage-site-" + strings.Repeat("x", 48), "pgstorage-site-north", "pgstorage-site-south"}
	if got := (&Cluster{}).Status(cr, f).Topology.Followers; len(got) != 1 || got[0] != "north" {
		t.Errorf("%q", got)
	}
}

func TestConsentIsUsedUpByThePromotion(t *testing.T) {
	cr, f := shop(sites("south", "south")), allowed()
	cr.Annotations = map[string]string{naming.AnnotationPromote: uid}
	for name, tc := range map[string]struct {
		live *cnpgv1.Cluster
		want bool
	}{
		"no Cluster":                 {nil, false},
		"it replicates another site": {at("north", false), false},
		"it does not any more":       {at("south", false), true},
		"it waits for a token":       {withToken(at("south", false)), false},
	} {
		f.Cluster = tc.live
		if got := PromotionConsentUsed(cr, f); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
