package pgstoragecluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// retained is a deleted PgStorageCluster whose instance shop-1 has these fences and devices.
// The client is a fake: only annotations and finalizers matter.
func retained(t *testing.T, fenced, ours string, devices observed.DevicesCondition) (client.WithWatch, *pass) {
	t.Helper()
	now := metav1.NewTime(time.Unix(1000, 0))
	cr := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop", Finalizers: []string{naming.ClusterFinalizer}, DeletionTimestamp: &now}}
	pg := &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop", UID: "first"}}
	pg.Annotations = map[string]string{clusters.AnnotationCNPGFenced: fenced, naming.AnnotationFenced: ours}
	c := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(cr, pg).Build()
	key := client.ObjectKeyFromObject(cr)
	if err := errors.Join(c.Get(t.Context(), key, cr), c.Get(t.Context(), key, pg)); err != nil {
		t.Fatal(err)
	}
	return c, &pass{cr: cr, facts: observed.Cluster{
		Cluster: pg,
		Devices: map[string]observed.Devices{"n1": {Condition: devices}},
		Claims:  []observed.Claim{{Name: "shop-1", Instance: "shop-1", Home: "n1"}},
	}}
}

// fencesLeft returns what the events FenceLeft say so far.
func fencesLeft(recorded *events.FakeRecorder) []string {
	var out []string
	for range len(recorded.Events) {
		if text, found := strings.CutPrefix(<-recorded.Events, "Warning FenceLeft "); found {
			out = append(out, text)
		}
	}
	return out
}

const shopLeft = "these instances stay fenced, because their devices were lost and are not back: shop-1; once they are, run: kubectl cnpg fencing off shop INSTANCE"

// Nothing lifts a fence of the operator once the database is released.
func TestRetainReportsTheFencesThatStay(t *testing.T) {
	const one, two = `["shop-1"]`, `["shop-1","shop-7"]`
	left := []string{shopLeft}
	for name, tc := range map[string]struct {
		fenced, ours string
		devices      observed.DevicesCondition
		left         []string
		kept         string
	}{
		"lost":                       {two, one, observed.DevicesLost, left, two},
		"lost since the last pass":   {"", "", observed.DevicesLost, left, one},
		"not all back":               {one, one, observed.DevicesBetween, left, one},
		"back":                       {one, one, observed.DevicesWhole, nil, ""},
		"fenced by an administrator": {one, "", observed.DevicesWhole, nil, one},
		"never lost":                 {"", "", observed.DevicesWhole, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, p := retained(t, tc.fenced, tc.ours, tc.devices)
			recorded := events.NewFakeRecorder(10)
			r := &Reconciler{Client: c, Events: recorded, ReadBack: &observe.ReadBack{}}
			if err := r.retain(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if got := fencesLeft(recorded); !slices.Equal(got, tc.left) {
				t.Errorf("events %q, want %q", got, tc.left)
			}
			key, pg := client.ObjectKeyFromObject(p.cr), &cnpgv1.Cluster{}
			if err := c.Get(t.Context(), key, pg); err != nil || pg.Annotations[clusters.AnnotationCNPGFenced] != tc.kept || pg.Annotations[naming.AnnotationFenced] != "" {
				t.Errorf("annotations %v, %v; want the fences %q", pg.Annotations, err, tc.kept)
			}
			if err := c.Get(t.Context(), key, &v1alpha1.PgStorageCluster{}); !apierrors.IsNotFound(err) {
				t.Errorf("the PgStorageCluster is not released: %v", err)
			}
		})
	}
}

// Another site may write: a site that is released stays stopped, and an event says so.
func TestRetainReportsTheFenceOfASite(t *testing.T) {
	c, p := retained(t, `["*"]`, "", observed.DevicesWhole)
	p.facts.Cluster.Annotations[naming.AnnotationFencedBySites] = `["shop-7"]`
	if err := c.Update(t.Context(), p.facts.Cluster); err != nil {
		t.Fatal(err)
	}
	recorded := events.NewFakeRecorder(10)
	r := &Reconciler{Client: c, Events: recorded, ReadBack: &observe.ReadBack{}}
	if err := r.retain(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	want := []string{"all instances stay fenced, because another site wrote too; if this site is the one to write, run: kubectl cnpg fencing off shop '*'"}
	if got := fencesLeft(recorded); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	pg := &cnpgv1.Cluster{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(p.cr), pg); err != nil || pg.Annotations[clusters.AnnotationCNPGFenced] != `["*"]` || pg.Annotations[naming.AnnotationFencedBySites] != "" {
		t.Errorf("annotations %v, %v; want the fence around all instances", pg.Annotations, err)
	}
}

// The last write removes the record of our fences, so the event comes before it.
func TestInterruptedRetainHasReportedTheFences(t *testing.T) {
	c, p := retained(t, `["shop-1"]`, `["shop-1"]`, observed.DevicesLost)
	recorded := events.NewFakeRecorder(10)
	r := &Reconciler{Events: recorded, ReadBack: &observe.ReadBack{}, Client: interceptor.NewClient(c, interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return errors.New("the API server does not answer")
		},
	})}
	if err := r.retain(t.Context(), p); err == nil {
		t.Error("the failed write is no error")
	}
	if got := fencesLeft(recorded); len(got) != 1 || got[0] != shopLeft {
		t.Errorf("events %q", got)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(p.cr), p.cr); err != nil || len(p.cr.Finalizers) != 1 {
		t.Errorf("finalizers %q, %v", p.cr.Finalizers, err)
	}
}
