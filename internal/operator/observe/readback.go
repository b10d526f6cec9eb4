package observe

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

const (
	// ReadBackEvery is how long a read-back is believed.
	ReadBackEvery = 5 * time.Minute
	// retryReadBack is how long the first one is that failed or disagreed. Each further
	// one lasts twice as long, up to ReadBackEvery: an instance that answers nothing
	// delays a pass by scrapeTimeout, or by slowTimeout.
	retryReadBack = 5 * time.Second
	// askAgain is when an instance is read again that did not answer in time. CloudNativePG
	// computes the answer nonetheless, and then keeps it for 30 s (cloudnative-pg
	// pkg/management/postgres/metrics/collector.go; spec.monitoring.metricsQueriesTTL).
	askAgain = 10 * time.Second
	// followEvery is how long the read-back of a follower is believed, because its lag
	// changes. CloudNativePG caches the figures for as long.
	followEvery = 30 * time.Second
	// stuckAfter is how long an instance that receives no WAL may have the same position. One
	// that replays what it has on its volume moves.
	stuckAfter = time.Minute
)

// ReadBack reads the parameters of running instances from their metrics, which
// needs no credentials, and remembers them so that a pass at rest reads nothing.
type ReadBack struct {
	// Pods says where instances are; it asks the API server.
	Pods  client.Reader
	Clock clock.PassiveClock
	// Dial connects to instances. Default: by TCP.
	Dial Dial

	once   sync.Once
	direct *http.Client
	slow   chan struct{}
	mu     sync.Mutex
	known  map[types.NamespacedName]remembered
}

type remembered struct {
	key  string
	at   time.Time
	seen observed.ReadBack
	// settled is set by the caller when the values were as wanted.
	settled bool
	// late is when an instance did not answer in time, where it is to be read again soon.
	late time.Time
	// unsettled counts the reads in a row that were not.
	unsettled int
	// follows says that the Cluster replicates another one.
	follows bool
	// still are the instances that receive no WAL.
	still map[string]standstill
}

// standstill is since when the position of an instance is the same.
type standstill struct {
	since    time.Time
	position int64
}

// watch compares the positions of instances that receive no WAL with the last ones. One that
// does not answer has not moved, as far as is known.
func (m *remembered) watch(last remembered) {
	m.still = map[string]standstill{}
	for name := range m.seen.Errors {
		if at, known := last.still[name]; known {
			m.still[name] = at
		}
	}
	for name, now := range m.seen.Receivers {
		if now.Streaming || now.Position == 0 {
			continue
		}
		at, known := last.still[name]
		if !known || at.position != now.Position {
			at = standstill{since: m.at, position: now.Position}
		}
		m.still[name] = at
		now.Stuck = m.at.Sub(at.since) >= stuckAfter
		m.seen.Receivers[name] = now
	}
}

// until is the time until which it is believed.
func (m remembered) until() time.Time {
	longest := ReadBackEvery
	if m.follows {
		longest = followEvery
	}
	switch {
	case !m.late.IsZero():
		return m.late.Add(askAgain)
	case m.settled:
		return m.at.Add(longest)
	}
	return m.at.Add(min(retryReadBack<<min(m.unsettled, 10), longest))
}

// tooSlow says whether an instance did not answer in time.
func tooSlow(seen observed.ReadBack) bool {
	return slices.Contains(slices.Collect(maps.Values(seen.Errors)), errNoAnswer.Error())
}

// then is what is remembered after the next read. An instance that is too slow is read a second
// time soon. Until then, what was as wanted is believed.
func (m remembered) then(next remembered) remembered {
	same := m.key == next.key
	if tooSlow(next.seen) && (!same || m.late.IsZero()) {
		if same && m.settled {
			m.late = next.at
			return m
		}
		next.late = next.at
	}
	if same && !m.settled {
		next.unsettled = m.unsettled
		if next.late.IsZero() {
			next.unsettled++
		}
	}
	next.watch(m)
	return next
}

// Of returns what the instances of a healthy Cluster report of the parameters with
// these names. It is read again when the intent, the names or the set of instances
// changed, or the memory is too old.
func (r *ReadBack) Of(ctx context.Context, c *cnpgv1.Cluster, names []string) observed.ReadBack {
	name := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	key := naming.Hash([]any{c.UID, c.Annotations[naming.AnnotationIntent], c.Status.InstancesReportedState, c.Status.CurrentPrimary, names})
	r.mu.Lock()
	last := r.known[name]
	r.mu.Unlock()
	if last.key == key && r.Clock.Now().Before(last.until()) {
		return last.seen
	}
	next := remembered{key: key, seen: r.scrape(ctx, c, names), follows: c.Spec.ReplicaCluster != nil}
	next.at = r.Clock.Now()
	next.seen.Archive.At = next.at
	next = last.then(next)
	r.remember(name, next)
	return next.seen
}

// Kept is the WAL that the current primary of a Cluster kept when it was last read. For a
// follower that is stuck it is read again where that is long ago. A primary keeps less and less
// of what it kept, so an old answer has no gap that a new one has not.
func (r *ReadBack) Kept(ctx context.Context, c *cnpgv1.Cluster, stuck bool) observed.KeptWAL {
	r.mu.Lock()
	last := r.known[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}]
	r.mu.Unlock()
	kept := last.seen.Kept
	if stuck && r.Clock.Since(last.at) >= followEvery {
		kept = r.scrape(ctx, c, nil).Kept
	}
	if kept.By != c.Status.CurrentPrimary {
		return observed.KeptWAL{}
	}
	return kept
}

// Next is when the parameters of a Cluster are read again, from now: not before, as
// Of reads none until then.
func (r *ReadBack) Next(name types.NamespacedName) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, found := r.known[name]
	if !found {
		return retryReadBack
	}
	return max(m.until().Sub(r.Clock.Now()), time.Second)
}

// Settle notes that the last values were as wanted.
func (r *ReadBack) Settle(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, ok := r.known[name]; ok {
		m.settled = true
		r.known[name] = m
	}
}

// Forget drops what was read from a Cluster that is gone.
func (r *ReadBack) Forget(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, name)
}

func (r *ReadBack) remember(name types.NamespacedName, m remembered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[types.NamespacedName]remembered{}
	}
	r.known[name] = m
}

func (r *ReadBack) client() *http.Client {
	r.once.Do(func() { r.direct, r.slow = metricsClient(r.Dial), make(chan struct{}, slowScrapes) })
	return r.direct
}

// bounded returns a context that ends after scrapeTimeout, or after slowTimeout where fewer
// than slowScrapes others last as long.
func (r *ReadBack) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	r.client() // makes r.slow
	ctx, cancel := context.WithTimeout(ctx, slowTimeout)
	extended := time.AfterFunc(scrapeTimeout, func() {
		select {
		case r.slow <- struct{}{}:
			<-ctx.Done()
			<-r.slow
		default:
			cancel()
		}
	})
	return ctx, func() {
		extended.Stop()
		cancel()
	}
}

// instance returns the pod, which is nil if there is none, and what it reports.
func (r *ReadBack) instance(ctx context.Context, c *cnpgv1.Cluster, name string, wanted map[string]bool) (*corev1.Pod, *scraped, error) {
	pod, err := r.pod(ctx, c, name)
	if err != nil {
		return nil, nil, err
	}
	found, err := r.settings(ctx, c, pod, wanted)
	return pod, found, err
}

// scrape all instances at once, so that those that do not answer delay a pass no
// longer than one.
func (r *ReadBack) scrape(ctx context.Context, c *cnpgv1.Cluster, names []string) observed.ReadBack {
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	wanted := make(map[string]bool, len(names))
	for _, n := range names {
		wanted[n] = true
	}
	out := observed.ReadBack{Instances: map[string]map[string]float64{}, Errors: map[string]string{}, Settings: map[string]map[string]string{}, Probes: map[string]observed.Probes{}, Receivers: map[string]observed.Receiver{}}
	var mu sync.Mutex
	var all sync.WaitGroup
	pods := slices.Sorted(maps.Keys(c.Status.InstancesReportedState))
	for _, name := range pods[:min(len(pods), maxInstances)] {
		all.Go(func() {
			pod, found, err := r.instance(ctx, c, string(name), wanted)
			mu.Lock()
			defer mu.Unlock()
			if pod != nil {
				out.Probes[string(name)] = probesOf(pod)
			}
			if err != nil {
				out.Errors[string(name)] = err.Error()
				return
			}
			found.add(&out, string(name), c.Status.CurrentPrimary)
		})
	}
	all.Wait()
	return out
}
