package observe

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/site/report"
)

// The problems of a watcher. They are constants, because what answers is a tenant's.
const (
	watcherNotRunning  = "the watcher of the other sites does not run yet"
	watcherNotOurs     = "the pod of the watcher is not of this database"
	watcherNoAnswer    = "the watcher of the other sites does not answer; does a NetworkPolicy keep the operator out?"
	watcherNotReadable = "the answer of the watcher of the other sites is not understood"

	// watcherTimeout bounds how long a watcher delays a pass.
	watcherTimeout = 2 * time.Second
	// oldAnswer is how long the answer of a site is believed.
	oldAnswer = time.Minute
	// problemOld is of a site that was not asked for longer.
	problemOld report.Problem = "not asked lately"
)

var statefulSetGVK = appsv1.SchemeGroupVersion.WithKind("StatefulSet")

// Sites reads what the watchers of databases with several sites report.
type Sites struct {
	// Live asks the API server: no cache holds StatefulSets or pods.
	Live client.Reader
	// Dial connects to watchers. Default: by TCP.
	Dial Dial
	// Now is the time. Default: time.Now.
	Now func() time.Time

	once   sync.Once
	direct *http.Client
}

// Of adds the answers of the other sites to the facts about a database, and its watcher to
// what exists. A database that has no other sites any more may still have its watcher.
func (s *Sites) Of(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster, live plan.Live) error {
	if cr.Spec.Topology == nil && cr.Status.Topology == nil {
		return nil
	}
	key := client.ObjectKey{Namespace: cr.Namespace, Name: naming.SiteWatcher(cr.Name)}
	set, err := find(ctx, s.Live, key, &appsv1.StatefulSet{})
	if err != nil {
		return err
	}
	if set == nil || !metav1.IsControlledBy(set, cr) {
		facts.Sites.Problem = watcherNotRunning
		return nil
	}
	live[keyOf(statefulSetGVK, set)] = set
	facts.Sites = s.report(ctx, set)
	return nil
}

func (s *Sites) report(ctx context.Context, set *appsv1.StatefulSet) observed.Sites {
	ctx, cancel := context.WithTimeout(ctx, watcherTimeout)
	defer cancel()
	pod, err := find(ctx, s.Live, client.ObjectKey{Namespace: set.Namespace, Name: set.Name + "-0"}, &corev1.Pod{})
	switch {
	case err != nil || pod == nil:
		return observed.Sites{Problem: watcherNotRunning}
	case !metav1.IsControlledBy(pod, set):
		return observed.Sites{Problem: watcherNotOurs}
	}
	ip, err := podAddress(pod)
	if err != nil {
		return observed.Sites{Problem: watcherNotRunning}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(ip.String(), strconv.Itoa(report.Port))+report.Path, nil)
	if err != nil {
		return observed.Sites{Problem: watcherNoAnswer}
	}
	response, err := s.client().Do(request)
	if err != nil {
		return observed.Sites{Problem: watcherNoAnswer}
	}
	defer func() { _ = response.Body.Close() }()
	found, err := report.Decode(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return observed.Sites{Problem: watcherNotReadable}
	}
	return observed.Sites{Members: s.recent(found.Members)}
}

// recent are the answers that are believed.
func (s *Sites) recent(members []report.Member) []report.Member {
	now := time.Now()
	if s.Now != nil {
		now = s.Now()
	}
	for i, m := range members {
		if m.Answered && now.Sub(time.Unix(m.Asked, 0)) > oldAnswer {
			members[i] = report.Member{Name: m.Name, Asked: m.Asked, Problem: problemOld}
		}
	}
	return members
}

func (s *Sites) client() *http.Client {
	s.once.Do(func() { s.direct = metricsClient(s.Dial) })
	return s.direct
}
