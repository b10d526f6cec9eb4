package sites

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

var errLost = errors.New("connection refused")

func TestASwitchDoesEveryStep(t *testing.T) {
	w := newWorld(writer("north"), follower("south", "north"), follower("west", "north"))
	w.operate = act
	if err := w.switching(w.target("west", w.west)).Run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &w.out)
	}
	want := `set spec.topology.primary of site north to south; writes stop now
waiting until site north has stopped writing
  north: the operator has not observed the current spec
  north: Demoting: as Demoting
site north has stopped writing; gave its token to site south, whose spec.topology.primary is now south
waiting until site south writes
  south: the operator has not observed the current spec
  south: Promoting: as Promoting
site south writes; writes were paused for 4s
waiting until site north follows site south
spec.topology.primary of site west is south
  north: Demoted: as Demoted
site north follows site south; the switch is complete
`
	got := w.lines(t)
	if want != got {
		t.Errorf("%s", got)
	}
	for _, tc := range []struct {
		access *fakeAccess
		want   string
	}{
		{w.north, `{"metadata":{"resourceVersion":"10"},"spec":{"topology":{"primary":"south","promotionToken":null}}}`},
		{w.south, `{"metadata":{"resourceVersion":"12"},"spec":{"topology":{"primary":"south","promotionToken":"token-1"}}}`},
		{w.west, `{"metadata":{"resourceVersion":"10"},"spec":{"topology":{"primary":"south"}}}`},
	} {
		if got := strings.Join(tc.access.patches, "\n"); got != tc.want {
			t.Errorf("patches %s, want %s", got, tc.want)
		}
	}
	if first, _, _ := strings.Cut(w.out.String(), "\n"); !strings.HasPrefix(first, "2026-11-26T12:00:00Z  set ") {
		t.Errorf("the time of the stop: %s", first)
	}
}

func TestASwitchContinuesWhereItWasInterrupted(t *testing.T) {
	for _, tc := range []struct {
		name         string
		north, south *v1alpha1.PgStorageCluster
		// patches of north and south that remain.
		patches [2]int
		want    []string
	}{
		{"after writes were stopped", changed(writer("north"), func(o *v1alpha1.PgStorageCluster) {
			o.Generation++
			o.Spec.Topology.Primary = "south"
		}), follower("south", "north"), [2]int{0, 1}, []string{"continuing a switch that is under way; site north is not to write\nwaiting until site north has stopped", "site south writes\n"}},
		{"after the demotion", demoted(), follower("south", "north"), [2]int{0, 1}, []string{"continuing a switch", "site south writes; writes were paused for 2s\n"}},
		{"after the promotion", demoted(), promoting("token-1"), [2]int{0, 0}, []string{"continuing a switch", "site south writes; writes were paused for 2s\n"}},
		{"while the other one writes", demoted(), writer("south"), [2]int{0, 0}, []string{"site south writes\nwaiting until site north follows"}},
		{"when all is done", follower("north", "south"), writer("south"), [2]int{0, 0}, []string{"site south writes\nsite north follows site south; the switch is complete"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(tc.north, tc.south, nil)
			w.operate = act
			if err := w.switching().Run(t.Context()); err != nil {
				t.Fatalf("%v\n%s", err, &w.out)
			}
			if got := [2]int{len(w.north.patches), len(w.south.patches)}; got != tc.patches {
				t.Errorf("patches %v, want %v", got, tc.patches)
			}
			for _, want := range tc.want {
				if got := w.lines(t); !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}

const goBackOfNorth = `To go back instead, so that site north writes again:
  kubectl --context north -n prod patch pgsc shop --type=merge -p '{"spec":{"topology":{"primary":"north","promotionToken":"'$(kubectl --context north -n prod get pgsc shop -o jsonpath='{.status.topology.demotionToken}')'"}}}'
`

func TestARunThatEndsEarlySaysWhatToDo(t *testing.T) {
	const again = "To continue, run the same command again.\n"
	for _, tc := range []struct {
		name         string
		north, south *v1alpha1.PgStorageCluster
		operate      func(*world)
		err          string
		out          string
	}{
		{"writes do not stop", writer("north"), follower("south", "north"), nil,
			"timeout expired before site north (prod/shop in context north) had stopped writing: the operator has not observed the current spec",
			again + goBackOfNorth + "Site north has that token once it has stopped writing.\n"},
		{"the other site does not write", demoted(), follower("south", "north"), nil,
			"timeout expired before site south (prod/shop in context south) wrote: the operator has not observed the current spec",
			"Site south can begin to write at any time, so do not promote site north. See what it waits for: kubectl pgstorage status shop -n prod --context south\n" + again},
		{"the first site does not follow", demoted(), writer("south"), func(*world) {},
			"timeout expired; site south (prod/shop in context south) writes, and site north (prod/shop in context north) does not follow it yet: Demoted: as Demoted",
			"Site south writes. See what site north waits for: kubectl pgstorage status shop -n prod --context north\n" + again},
		{"the token is refused", demoted(), follower("south", "north"), func(w *world) {
			report(w.south.object, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonTokenRefused)
		}, ErrRefused.Error(), "Refused: site south (prod/shop in context south) does not accept the token of site north: PromotionTokenRefused: as Promoting\n" + again +
			"To go back instead, so that site north writes again:\n" + `  kubectl --context south -n prod patch pgsc shop --type=merge -p '{"spec":{"topology":{"primary":"north","promotionToken":null}}}'` + "\n"},
		{"the command is interrupted", writer("north"), follower("south", "north"), func(w *world) { w.stop() },
			"interrupted before site north (prod/shop in context north) had stopped writing", again + goBackOfNorth},
		{"the switch is refused at first", writer("north"), object("south", "north"), nil,
			ErrRefused.Error(), "Refused: site south (prod/shop in context south) does not follow site north"},
		{"the object is deleted", writer("north"), follower("south", "north"), func(w *world) {
			w.north.getErrors = []error{apierrors.NewNotFound(kind, "shop")}
		}, `read PgStorageCluster prod/shop in context north: pgstorageclusters.pgstorage.dev "shop" not found`, again + goBackOfNorth},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(tc.north, tc.south, nil)
			w.operate = tc.operate
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w.stop = cancel
			err := w.switching().Run(ctx)
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%v, want %s", err, tc.err)
			}
			if got := w.lines(t); !strings.Contains(got, tc.out) {
				t.Errorf("no %q in\n%s", tc.out, got)
			}
		})
	}
}

// broken is a pipe whose reader has ended.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Writes are paused, so the advice has to reach the user.
func TestAdviceIsAnErrorIfTheOutputFails(t *testing.T) {
	w := newWorld(writer("north"), follower("south", "north"), follower("west", "north"))
	s, errs := w.switching(), &bytes.Buffer{}
	s.Out, s.ErrOut = broken{}, errs
	if err := s.Run(t.Context()); err == nil || len(w.north.patches) != 1 {
		t.Fatalf("%v, %d patches", err, len(w.north.patches))
	}
	if got := errs.String(); !strings.HasPrefix(got, "To continue, run the same command again.\nTo go back instead, so that site north writes again:\n") {
		t.Errorf("%q", got)
	}
}

func TestAReversedSwitchHasNoWayBackWithAnOldToken(t *testing.T) {
	w := newWorld(follower("north", "south"), object("south", "north"), nil)
	w.north.object.Status.Topology.DemotionToken = "token-of-an-older-switch"
	report(w.south.object, v1alpha1.SiteDemoted, metav1.ConditionFalse, v1alpha1.ReasonDemoted)
	if err := w.switching().Run(t.Context()); !errors.Is(err, ErrRefused) || strings.Contains(w.out.String(), "To go back") || len(w.south.patches)+len(w.north.patches) > 0 {
		t.Errorf("%v\n%s", err, &w.out)
	}
}

func TestLostConnectionsAndConflictsDoNotEndASwitch(t *testing.T) {
	conflict := apierrors.NewConflict(kind, "shop", errors.New("the object has been modified"))
	w := newWorld(writer("north"), follower("south", "north"), follower("west", "north"))
	w.north.patchErrors = []error{conflict, errLost, errLost}
	w.south.patchErrors = []error{errLost, conflict}
	w.west.getErrors = []error{nil, errLost}
	w.west.patchErrors = []error{conflict}
	w.operate = func(w *world) {
		act(w)
		if role(w.south.object) == v1alpha1.SitePromoting {
			w.south.getErrors = []error{errLost}
		}
	}
	if err := w.switching(w.target("west", w.west)).Run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &w.out)
	}
	if n := len(w.north.patches) + len(w.south.patches) + len(w.west.patches); n != 3 {
		t.Errorf("%d patches, want 3", n)
	}
	if got := w.lines(t); strings.Count(got, "set spec.topology.primary of site north (prod/shop in context north): connection refused; trying again") != 1 || strings.Contains(got, "modified") {
		t.Errorf("a repeated error, or a conflict, is printed:\n%s", got)
	}
}

func TestErrorsThatEndASwitch(t *testing.T) {
	forbidden := apierrors.NewForbidden(kind, "shop", errors.New("no"))
	for _, tc := range []struct {
		name string
		fail func(*world)
		want string
	}{
		{"the first read", func(w *world) { w.south.getErrors = []error{errLost} }, "read PgStorageCluster prod/shop in context south: connection refused"},
		{"the first read of a further site", func(w *world) { w.west.getErrors = []error{errLost} }, "read PgStorageCluster prod/shop in context west: connection refused"},
		{"a patch that is forbidden", func(w *world) { w.north.patchErrors = []error{forbidden} }, "set spec.topology.primary of site north (prod/shop in context north): pgstorageclusters.pgstorage.dev"},
		{"a patch that always fails", func(w *world) { w.north.patchErrors = slices.Repeat([]error{errLost}, 100) }, "timeout expired; run the command without --apply"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(writer("north"), follower("south", "north"), follower("west", "north"))
			tc.fail(w)
			if err := w.switching(w.target("west", w.west)).Run(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
			if len(w.north.patches) > 0 {
				t.Errorf("patches %q", w.north.patches)
			}
		})
	}
}

func TestAFurtherSiteThatFailsDoesNotKeepTheOthers(t *testing.T) {
	for _, tc := range []struct {
		name string
		fail func(*fakeAccess)
		want string
	}{
		{"a patch that is forbidden", func(f *fakeAccess) { f.patchErrors = []error{apierrors.NewForbidden(kind, "shop", nil)} }, "forbidden"},
		{"a lost connection", func(f *fakeAccess) {
			f.getErrors = slices.Concat([]error{nil}, slices.Repeat([]error{errLost}, attempts))
		}, "connection refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(writer("north"), follower("south", "north"), follower("west", "north"))
			w.operate = act
			tc.fail(w.west)
			err := w.switching(w.target("west", w.west)).Run(t.Context())
			if err == nil || err.Error() != "spec.topology.primary is not south yet in: prod/shop in context west; run the same command again" {
				t.Errorf("%v", err)
			}
			got := w.lines(t)
			if !strings.Contains(got, "  set spec.topology.primary of prod/shop in context west: ") || !strings.Contains(got, tc.want) || !strings.Contains(got, "the switch is complete") {
				t.Errorf("%s", got)
			}
			w.out.Reset()
			w.west.getErrors = nil
			if err := w.switching(w.target("west", w.west)).Run(t.Context()); err != nil || len(w.west.patches) != 1 {
				t.Errorf("the second run: %v, %d patches\n%s", err, len(w.west.patches), &w.out)
			}
		})
	}
}

func TestAContextIsQuotedInCommands(t *testing.T) {
	for kubeContext, want := range map[string]string{
		"":                 "kubectl -n prod",
		"arn:aws:eks/shop": "kubectl --context arn:aws:eks/shop -n prod",
		"my cluster's":     `kubectl --context 'my cluster'\''s' -n prod`,
	} {
		if got := (Place{Context: kubeContext, Namespace: "prod"}).kubectl(); got != want {
			t.Errorf("%q: %s", kubeContext, got)
		}
	}
}
