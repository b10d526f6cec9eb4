package observe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/naming"
	"github.com/pgstorage/pgstorage/internal/state"
)

const (
	// metricsPort of an instance, and the metric with its pg_settings
	// (cloudnative-pg config/manager/default-monitoring.yaml).
	metricsPort    = "9187"
	settingsMetric = "cnpg_pg_settings_setting"

	scrapeTimeout = 3 * time.Second
	scrapeLimit   = 8 << 20
	// ReadBackEvery is how long a read-back is believed.
	ReadBackEvery = 5 * time.Minute
	// retryReadBack is how long one that failed or disagreed is.
	retryReadBack = 5 * time.Second
)

// ReadBack reads the parameters of running instances from their metrics, which
// needs no credentials, and remembers them so that a pass at rest reads nothing.
type ReadBack struct {
	Client *http.Client
	Clock  clock.PassiveClock

	mu    sync.Mutex
	known map[types.NamespacedName]remembered
}

var errNoAnswer = errors.New("port " + metricsPort + " did not answer; does a NetworkPolicy keep the operator out?")

type remembered struct {
	key  string
	at   time.Time
	seen state.ReadBack
	// settled is set by the caller when the values were as wanted.
	settled bool
}

// Of returns what the instances of a healthy Cluster report. It is read anew
// when the intent or the set of instances changed, or the memory is too old.
func (r *ReadBack) Of(ctx context.Context, c *cnpgv1.Cluster) state.ReadBack {
	name := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	key := naming.Hash([]any{c.UID, c.Annotations[naming.AnnotationIntent], c.Status.InstancesReportedState, c.Status.CurrentPrimary})
	r.mu.Lock()
	last, found := r.known[name]
	r.mu.Unlock()
	ttl := retryReadBack
	if last.settled {
		ttl = ReadBackEvery
	}
	if found && last.key == key && r.Clock.Since(last.at) < ttl {
		return last.seen
	}
	seen := r.scrape(ctx, c)
	r.remember(name, remembered{key: key, at: r.Clock.Now(), seen: seen})
	return seen
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

func (r *ReadBack) scrape(ctx context.Context, c *cnpgv1.Cluster) state.ReadBack {
	out := state.ReadBack{
		Instances: map[string]map[string]float64{}, Errors: map[string]string{}, Settings: map[string]map[string]string{},
	}
	scheme := "http"
	if c.Spec.Monitoring != nil && c.Spec.Monitoring.TLSConfig != nil && c.Spec.Monitoring.TLSConfig.Enabled {
		scheme = "https"
	}
	for pod, reported := range c.Status.InstancesReportedState {
		if reported.IP == "" {
			out.Errors[string(pod)] = "CloudNativePG reports no address"
			continue
		}
		found, err := r.settings(ctx, scheme+"://"+net.JoinHostPort(reported.IP, metricsPort)+"/metrics")
		if err != nil {
			out.Errors[string(pod)] = err.Error()
			continue
		}
		found.add(&out, string(pod), c.Status.CurrentPrimary)
	}
	return out
}

func (r *ReadBack) settings(ctx context.Context, url string) (scraped, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return scraped{}, fmt.Errorf("metrics: %w", err)
	}
	response, err := r.Client.Do(request)
	if err != nil {
		// The cause names ports that change, and would make a new status each time.
		return scraped{}, errNoAnswer
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return scraped{}, fmt.Errorf("metrics: %s", response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(http.MaxBytesReader(nil, response.Body, scrapeLimit))
	if err != nil {
		return scraped{}, fmt.Errorf("metrics: %w", err)
	}
	return readFamilies(families), nil
}

func values(family *dto.MetricFamily) map[string]float64 {
	out := map[string]float64{}
	for _, m := range family.GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "name" {
				out[l.GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	return out
}
