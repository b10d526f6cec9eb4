package integration

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/site/report"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// north is the site of that name, which writes.
func north(ns, profile string) *v1alpha1.PgStorageCluster {
	cr := south(ns, profile)
	cr.Spec.Topology.Self = "north"
	return cr
}

// fakeWatcher answers as a site's watcher does, in the address of its pod.
type fakeWatcher struct {
	server *httptest.Server
	answer atomic.Pointer[report.Member]
}

func newFakeWatcher(t *testing.T) *fakeWatcher {
	t.Helper()
	w := &fakeWatcher{}
	w.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		m := *w.answer.Load()
		m.Asked = time.Now().Unix()
		_ = json.NewEncoder(out).Encode(report.Report{Members: []report.Member{m}})
	}))
	t.Cleanup(w.server.Close)
	return w
}

// into connects a manager with it, and with no instance of Postgres.
func (w *fakeWatcher) into(o *controllers.Options) {
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if _, port, err := net.SplitHostPort(address); err != nil || port != strconv.Itoa(report.Port) {
			return nil, errors.New("only watchers answer")
		}
		return (&net.Dialer{}).DialContext(ctx, network, w.server.Listener.Addr().String())
	}
}

// says what south answers: whether it writes too, promoted after north.
func (w *fakeWatcher) says(cr *v1alpha1.PgStorageCluster, writes bool) {
	m := report.Member{Name: "south", Answered: true, InRecovery: !writes, System: "7000", Timeline: 1, Primary: "north", Epoch: 1, Topology: cnpg.TopologyHash(cr.Spec.Topology)}
	if writes {
		m.Epoch, m.Primary = 2, "south"
	}
	w.answer.Store(&m)
}

// runs the pod of the watcher, which no kubelet does.
func (w *fakeWatcher) runs(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	key := client.ObjectKey{Namespace: cr.Namespace, Name: naming.SiteWatcher(cr.Name)}
	set := get(t, c, key, &appsv1.StatefulSet{})
	pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = key.Namespace, key.Name+"-0"
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	create(t, c, pod)
	pod.Status.PodIP, pod.Status.PodIPs = "10.9.8.7", []corev1.PodIP{{IP: "10.9.8.7"}}
	if err := c.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// siteFlow is something that happens to a site that writes.
type siteFlow struct {
	name string
	// happens while no manager runs.
	happens func(t *testing.T, c client.Client, w *fakeWatcher, cr *v1alpha1.PgStorageCluster)
	// ended is the condition in the end, and done says what else the operator has to write.
	ended condition
	done  func(pg *cnpgv1.Cluster) error
	// ends checks what follows; nil: nothing.
	ends func(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster)
	// least is how many writes it has.
	least int64
}

// A manager is killed after any write of a demotion, of a fence, or of its end. The next one ends
// up in the same place.
func TestSiteThatWritesSurvivesACrashAfterAnyWrite(t *testing.T) {
	c := apiserver.Client(t, config)
	consenting(t, c, "sites-crash")
	for _, f := range []siteFlow{
		{"demotion", demoted, condition{v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, v1alpha1.ReasonDemoting}, isDemoted, demotionEnds, 2},
		{"fence", secondWriter, condition{v1alpha1.ConditionSitesAgree, metav1.ConditionFalse, v1alpha1.ReasonTwoSitesWrite}, fences(`["*"]`, fencedBefore), nil, 2},
		{"fence lifted", secondWriterFollows, condition{v1alpha1.ConditionSitesAgree, metav1.ConditionTrue, v1alpha1.ReasonAgreed}, fences(fencedBefore, ""), nil, 1},
	} {
		t.Run(f.name, func(t *testing.T) { f.cutAfterEachWrite(t, c) })
	}
}

func (f siteFlow) cutAfterEachWrite(t *testing.T, c client.Client) {
	cuts := int64(0)
	for whole := false; !whole && !t.Failed(); cuts++ {
		t.Run(fmt.Sprintf("write %d", cuts+1), func(t *testing.T) { whole = f.cutAfter(t, c, cuts+1) })
	}
	t.Logf("cut after each of %d writes", cuts-1)
}

// reached says whether there is nothing more to write.
func (f siteFlow) reached(ctx context.Context, c client.Client, cr *v1alpha1.PgStorageCluster) error {
	if _, err := f.ended.on(ctx, c, cr); err != nil {
		return err
	}
	pg := &cnpgv1.Cluster{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(cr), pg); err != nil {
		return err
	}
	return f.done(pg)
}

// cutAfter so many writes; whole says that there were no more.
func (f siteFlow) cutAfter(t *testing.T, c client.Client, writesBefore int64) (whole bool) {
	w := newFakeWatcher(t)
	cr := north(namespace(t, c), "sites-crash")
	stop := manager.Start(t, config, w.into)
	create(t, c, cr)
	w.says(cr, false)
	key := client.ObjectKeyFromObject(cr)
	get(t, c, key, &cnpgv1.Cluster{})
	simulatedSite(t, c, key, true)
	w.runs(t, c, cr)
	hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonWriting)
	hasCondition(t, c, cr, v1alpha1.ConditionSitesAgree, metav1.ConditionTrue, v1alpha1.ReasonAgreed)
	stop()
	f.happens(t, c, w, cr)

	cut := &writes{failAfter: writesBefore, within: "/namespaces/" + cr.Namespace + "/"}
	stop = manager.Start(t, cut.into(config), w.into)
	eventually(t, "the cut or the last write", func(ctx context.Context) error {
		if cut.count.Load() > cut.failAfter {
			return nil
		}
		return f.reached(ctx, c, cr)
	})
	whole = cut.count.Load() <= cut.failAfter && settled(t, cut) <= cut.failAfter
	stop()
	if n := cut.count.Load(); n < f.least && whole {
		t.Errorf("it took %d writes, too few to be all of them", n)
	}

	manager.Start(t, config, w.into)
	eventually(t, "the end of the "+f.name, func(ctx context.Context) error { return f.reached(ctx, c, cr) })
	if f.ends != nil {
		f.ends(t, c, cr)
	}
	return whole
}

func demoted(t *testing.T, c client.Client, _ *fakeWatcher, cr *v1alpha1.PgStorageCluster) {
	changed(t, c, cr, func() { cr.Spec.Topology.Primary = "south" })
}

func isDemoted(pg *cnpgv1.Cluster) error {
	if r := pg.Spec.ReplicaCluster; r == nil || r.Primary != "south" || pg.Spec.PostgresConfiguration.Parameters[cnpg.ParameterEpoch] != "1" {
		return fmt.Errorf("%+v, %v", r, pg.Spec.PostgresConfiguration.Parameters)
	}
	return nil
}

// demotionEnds once the instance has stopped writing.
func demotionEnds(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster) {
	key := client.ObjectKeyFromObject(cr)
	token := base64.StdEncoding.EncodeToString([]byte(`{"databaseSystemIdentifier": "7000", "latestCheckpointTimelineID": "1", "latestCheckpointREDOLocation": "0/3000028"}`))
	simulatedSite(t, c, key, false)
	simulatedStatus(t, c, key, func(s *cnpgv1.ClusterStatus) { s.DemotionToken = token })
	hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, v1alpha1.ReasonDemoted)
	if got := cr.Status.Topology; got == nil || got.DemotionToken != token {
		t.Errorf("status.topology is %+v, want the token", got)
	}
}

// fencedBefore is a fence of an administrator.
const fencedBefore = `["shop-7"]`

// secondWriter is promoted while this site has a fence of its own.
func secondWriter(t *testing.T, c client.Client, w *fakeWatcher, cr *v1alpha1.PgStorageCluster) {
	annotations(t, c, cr, map[string]string{clusters.AnnotationCNPGFenced: fencedBefore})
	w.says(cr, true)
}

// secondWriterFollows this site, which was fenced because of it.
func secondWriterFollows(t *testing.T, c client.Client, w *fakeWatcher, cr *v1alpha1.PgStorageCluster) {
	annotations(t, c, cr, map[string]string{clusters.AnnotationCNPGFenced: `["*"]`, naming.AnnotationFencedBySites: fencedBefore})
	w.says(cr, false)
}

// annotations of the Cluster are set.
func annotations(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster, set map[string]string) {
	t.Helper()
	pg := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	changed(t, c, pg, func() { maps.Copy(pg.Annotations, set) })
}

// fences of the Cluster are to be these: those of CloudNativePG, and those that were before.
func fences(all, before string) func(*cnpgv1.Cluster) error {
	return func(pg *cnpgv1.Cluster) error {
		if a := pg.Annotations; a[clusters.AnnotationCNPGFenced] != all || a[naming.AnnotationFencedBySites] != before {
			return fmt.Errorf("annotations %v", a)
		}
		return nil
	}
}
