package observe

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/site/report"
)

// watchers of an API server that answers from memory: at most one StatefulSet and its pod.
type watchers struct {
	set *appsv1.StatefulSet
	pod *corev1.Pod
}

func (w watchers) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *appsv1.StatefulSet:
		if w.set != nil {
			w.set.DeepCopyInto(into)
			return nil
		}
	case *corev1.Pod:
		if w.pod != nil {
			w.pod.DeepCopyInto(into)
			return nil
		}
	}
	return apierrors.NewNotFound(corev1.Resource("any"), key.Name)
}

func (watchers) List(context.Context, client.ObjectList, ...client.ListOption) error {
	panic("nothing is listed")
}

func ownedBy(uid types.UID) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: "db-sites", OwnerReferences: []metav1.OwnerReference{{Kind: "any", Name: "any", UID: uid, Controller: new(true)}}}
}

func TestAnswersOfOtherSitesAreRead(t *testing.T) {
	const honest = `{"members":[{"name":"south","asked":1000,"answered":true,"inRecovery":true,"system":"7000","timeline":2,"primary":"north","epoch":2,"topology":"abc","clockSkewMilliseconds":3}]}`
	ours := func() watchers {
		set := &appsv1.StatefulSet{ObjectMeta: ownedBy("uid-of-cr")}
		set.UID = "uid-of-set"
		pod := &corev1.Pod{ObjectMeta: ownedBy("uid-of-set")}
		pod.Status.PodIP, pod.Status.HostIP = "10.1.2.3", "10.0.0.9"
		return watchers{set, pod}
	}
	for name, tc := range map[string]struct {
		change  func(*watchers)
		answer  string
		status  int
		now     int64
		problem string
		says    report.Problem
	}{
		"an answer":                    {nil, honest, 200, 1001, "", ""},
		"an answer of two minutes ago": {nil, honest, 200, 1120, "", problemOld},
		"no StatefulSet":               {func(w *watchers) { w.set = nil }, honest, 200, 1001, watcherNotRunning, ""},
		"the StatefulSet of another":   {func(w *watchers) { w.set.OwnerReferences[0].UID = "another" }, honest, 200, 1001, watcherNotRunning, ""},
		"no pod":                       {func(w *watchers) { w.pod = nil }, honest, 200, 1001, watcherNotRunning, ""},
		"the pod of another":           {func(w *watchers) { w.pod.OwnerReferences[0].UID = "another" }, honest, 200, 1001, watcherNotOurs, ""},
		"a pod on the host's network":  {func(w *watchers) { w.pod.Spec.HostNetwork = true }, honest, 200, 1001, watcherNotRunning, ""},
		"a pod at a metadata service":  {func(w *watchers) { w.pod.Status.PodIP = "169.254.169.254" }, honest, 200, 1001, watcherNotRunning, ""},
		"a status of its own":          {nil, honest, 503, 1001, watcherNotReadable, ""},
		"a redirect":                   {nil, honest, 302, 1001, watcherNotReadable, ""},
		"no JSON":                      {nil, "secret", 200, 1001, watcherNotReadable, ""},
		"an answer without end":        {nil, strings.Repeat(" ", report.MaxBytes+2), 200, 1001, watcherNotReadable, ""},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(tc.status)
			_, _ = w.Write([]byte(tc.answer))
		}))
		w := ours()
		if tc.change != nil {
			tc.change(&w)
		}
		net := &network{server: server.Listener.Addr().String()}
		s := &Sites{Live: w, Dial: net.dial, Now: func() time.Time { return time.Unix(tc.now, 0) }}
		cr := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", UID: "uid-of-cr"}, Spec: v1alpha1.PgStorageClusterSpec{Topology: &v1alpha1.TopologySpec{}}}
		facts, live := observed.Cluster{}, plan.Live{}
		if err := s.Of(t.Context(), cr, &facts, live); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
		if facts.Sites.Problem != tc.problem {
			t.Errorf("%s: problem %q", name, facts.Sites.Problem)
		}
		if tc.problem == "" && (len(facts.Sites.Members) != 1 || facts.Sites.Members[0].Problem != tc.says || facts.Sites.Members[0].Answered != (tc.says == "") || len(live) != 1) {
			t.Errorf("%s: %+v, %d live", name, facts.Sites.Members, len(live))
		}
		if strings.Contains(name, "network") || strings.Contains(name, "metadata") || strings.Contains(name, "another") {
			if len(net.dialed) > 0 {
				t.Errorf("%s: dialed %v", name, net.dialed)
			}
		}
	}
}

func TestDatabaseWithoutSitesHasNoWatcher(t *testing.T) {
	facts := observed.Cluster{}
	if err := (&Sites{}).Of(t.Context(), &v1alpha1.PgStorageCluster{}, &facts, plan.Live{}); err != nil || facts.Sites.Problem != "" {
		t.Errorf("%v, %+v", err, facts.Sites)
	}
}
