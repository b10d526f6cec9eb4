package sites

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// alone is south after it has lost north.
func alone() *v1alpha1.PgStorageCluster {
	o := follower("south", "north")
	condition(o, v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, "NotStreaming", "no connection to site north")
	condition(o, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionUnknown, v1alpha1.ReasonNotReadBack, "")
	o.Status.Follower = &v1alpha1.FollowerStatus{Streaming: new(false), Lag: &v1alpha1.FollowerLag{Bytes: new(int64(16 << 20)), Seconds: new(int64(8))}}
	return o
}

func TestThePromotionOfASite(t *testing.T) {
	byHand := func(o *v1alpha1.PgStorageCluster) { o.Spec.Topology.Primary = "south" }
	for _, tc := range []struct {
		name    string
		change  func(*v1alpha1.PgStorageCluster)
		step    Step
		forced  Forced
		refusal string
	}{
		{"that lost the one that writes", func(*v1alpha1.PgStorageCluster) {}, Promote, Forced{}, ""},
		{"whose state is unknown", func(o *v1alpha1.PgStorageCluster) { o.Status.Follower, o.Status.Topology = nil, nil }, Promote, Forced{}, ""},
		{"that was made primary by hand", func(o *v1alpha1.PgStorageCluster) {
			byHand(o)
			report(o, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonTokenRequired)
		}, Promote, Forced{}, ""},
		{"with a consent for another database", func(o *v1alpha1.PgStorageCluster) {
			byHand(o)
			o.Annotations = map[string]string{naming.AnnotationPromote: "other"}
		}, Promote, Forced{}, ""},
		{"with the consent", func(o *v1alpha1.PgStorageCluster) {
			byHand(o)
			o.Annotations = map[string]string{naming.AnnotationPromote: "uid-of-south"}
		}, AwaitPromotion, Forced{}, ""},
		{"that is being promoted", func(o *v1alpha1.PgStorageCluster) {
			byHand(o)
			report(o, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonPromoting)
		}, AwaitPromotion, Forced{}, ""},
		{"that writes", func(o *v1alpha1.PgStorageCluster) {
			byHand(o)
			report(o, v1alpha1.SiteWrites, metav1.ConditionTrue, v1alpha1.ReasonWriting)
		}, Done, Forced{}, ""},
		{"that still receives WAL", func(o *v1alpha1.PgStorageCluster) { o.Status.Follower.Streaming = new(true) }, Promote, Forced{}, "use kubectl pgstorage switch, which loses nothing, or --even-if-streaming"},
		{"that still receives WAL, on request", func(o *v1alpha1.PgStorageCluster) { o.Status.Follower.Streaming = new(true) }, Promote, Forced{EvenIfStreaming: true}, ""},
		{"without topology", func(o *v1alpha1.PgStorageCluster) { o.Spec.Topology = nil }, Promote, Forced{}, "has no spec.topology"},
		{"that is suspended", func(o *v1alpha1.PgStorageCluster) { o.Spec.Suspend = new(true) }, Promote, Forced{}, "is suspended"},
		{"without a database", func(o *v1alpha1.PgStorageCluster) { o.Status.Database = nil }, Promote, Forced{}, "status.database.uid is empty"},
		{"that is being demoted", func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SiteDemoting, metav1.ConditionFalse, v1alpha1.ReasonDemoting)
		}, Promote, Forced{EvenIfStreaming: true}, "is being demoted by a switch (Demoting)"},
		{"that has not noticed its demotion", func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SiteWrites, metav1.ConditionTrue, v1alpha1.ReasonWriting)
		}, Promote, Forced{EvenIfStreaming: true}, "is being demoted by a switch (Writes)"},
		{"that was demoted", func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SiteDemoted, metav1.ConditionFalse, v1alpha1.ReasonDemoted)
		}, Promote, Forced{EvenIfStreaming: true}, `if no other site has written since, use: kubectl --context b -n prod patch pgsc shop --type=merge -p '{"spec":{"topology":{"primary":"south","promotionToken":"'$(kubectl --context b`},
		{"that was demoted, on request", func(o *v1alpha1.PgStorageCluster) {
			report(o, v1alpha1.SiteDemoted, metav1.ConditionFalse, v1alpha1.ReasonDemoted)
		}, Promote, Forced{EvenIfDemoted: true}, ""},
		{"that has a consent, and whose status is older", func(o *v1alpha1.PgStorageCluster) {
			byHand(o)
			report(o, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonTokenRequired)
			o.Annotations = map[string]string{naming.AnnotationPromote: "uid-of-south"}
		}, AwaitPromotion, Forced{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := alone()
			tc.change(o)
			step, refusals := Unplanned{Site: at("b", o), Forced: tc.forced}.Next()
			if got := strings.Join(refusals, "\n"); step != tc.step || (tc.refusal == "") != (got == "") || !strings.Contains(got, tc.refusal) {
				t.Errorf("step %d, want %d; refusals %q, want %q", step, tc.step, refusals, tc.refusal)
			}
		})
	}
}

func TestWhatAPromotionLosesIsShown(t *testing.T) {
	want := `Promote site south (prod/shop in context b) without a token.

receives WAL        no
lag                 at most 16Mi of WAL that was not replayed, last replayed commit at most 8 seconds old
SiteInRole          False, NotStreaming: no connection to site north
FollowersCaughtUp   Unknown, NotReadBack:

Commits that site north acknowledged after the last WAL that site south received are lost.
The lag is of WAL that site south knows of. It does not count what never arrived.

Site north must not write any more. Before you promote site south, make sure that its
instances are off, or that no client reaches them. If it returns, its operator fences it
once its watcher reaches site south. What it wrote until then is lost.
Its data has diverged, so it has to be cloned again. This deletes its volumes. LOST is its
kubectl context, so that no command reaches site south:
  kubectl --context LOST -n NAMESPACE patch pgsc NAME --type=merge -p '{"spec":{"topology":{"primary":"south"}}}'
  kubectl --context LOST -n NAMESPACE delete clusters.postgresql.cnpg.io NAME
  kubectl --context LOST -n NAMESPACE annotate pgsc NAME pgstorage.dev/recreate-cluster=UID
UID is status.database.uid of its PgStorageCluster. Then copy its new Secrets to the other
sites, and set the same primary in every further site.
`
	if got := (Unplanned{Site: at("b", alone())}).Known(); got != want {
		t.Errorf("%s", got)
	}
	unknown := object("south", "south")
	for _, want := range []string{"receives WAL        unknown\n", "lag                 unknown\n", "SiteInRole          not reported\n", "\nThe site that wrote before must not write"} {
		if got := (Unplanned{Site: at("b", unknown)}).Known(); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func (w *world) promoting() *Promoting {
	return &Promoting{Runner: w.runner(), Site: w.target("south", w.south)}
}

func TestAPromotionIsOnePatch(t *testing.T) {
	w := newWorld(object("north", "north"), alone(), nil)
	w.north.object.Status.Topology = &v1alpha1.TopologyStatus{}
	w.south.patchErrors = []error{apierrors.NewConflict(kind, "shop", nil), errLost}
	w.operate = act
	if err := w.promoting().Run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &w.out)
	}
	want := `{"metadata":{"annotations":{"pgstorage.dev/promote-without-token":"uid-of-south"},"resourceVersion":"12"},"spec":{"topology":{"primary":"south","promotionToken":null}}}`
	if got := strings.Join(w.south.patches, "\n"); got != want {
		t.Errorf("patches %s", got)
	}
	lines := `  promote site south (prod/shop in context south): connection refused; trying again
set spec.topology.primary of site south to south, and consented to the loss
waiting until site south writes
  south: the operator has not observed the current spec
  south: Promoting: as Promoting
site south writes
`
	if got := w.lines(t); got != lines {
		t.Errorf("%s", got)
	}
	if err := w.promoting().Run(t.Context()); err != nil || len(w.south.patches) != 1 {
		t.Errorf("the second run: %v, %d patches", err, len(w.south.patches))
	}
}

// The operator removes the consent when it has used it, and can report that later.
func TestAConsentIsGivenOnce(t *testing.T) {
	w := newWorld(object("north", "north"), alone(), nil)
	w.operate = func(w *world) {
		delete(w.south.object.Annotations, naming.AnnotationPromote)
		report(w.south.object, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonTokenRequired)
	}
	err := w.promoting().Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "timeout expired before site south (prod/shop in context south) wrote: PromotionTokenRequired: as Promoting; run the same command again") {
		t.Errorf("%v", err)
	}
	if len(w.south.patches) != 1 {
		t.Errorf("%d patches, want 1", len(w.south.patches))
	}
}

func TestARefusedPromotionChangesNothing(t *testing.T) {
	w := newWorld(object("north", "north"), follower("south", "north"), nil)
	w.south.object.Status.Follower = &v1alpha1.FollowerStatus{Streaming: new(true)}
	if err := w.promoting().Run(t.Context()); !errors.Is(err, ErrRefused) || len(w.south.patches) > 0 || !strings.HasPrefix(w.out.String(), "Refused: site south") {
		t.Errorf("%v\n%s", err, &w.out)
	}
}
