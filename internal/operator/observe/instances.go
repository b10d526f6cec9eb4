package observe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

const (
	// metricsPort of an instance, and the metric with its pg_settings
	// (cloudnative-pg config/manager/default-monitoring.yaml).
	metricsPort    = "9187"
	settingsMetric = "cnpg_pg_settings_setting"
	// postgresContainer of an instance's pod (cloudnative-pg pkg/specs/pods.go).
	postgresContainer = "postgres"

	// scrapeTimeout bounds the read of all instances of a Cluster, which are read at once.
	scrapeTimeout = 3 * time.Second
	// slowTimeout bounds it for slowScrapes Clusters at a time, such as those on a slow node. It
	// is the default of Prometheus (scrape_timeout), which such an instance needs anyway. All
	// others keep a worker for scrapeTimeout.
	slowTimeout = 10 * time.Second
	slowScrapes = 2
	// maxInstances that are read of a Cluster: as many as spec.instances may be.
	maxInstances = 16
	// maxHeader of an answer.
	maxHeader = 16 << 10
)

// The reasons why no instance was asked. None has text that a tenant wrote.
var (
	errNoAnswer    = errors.New("port " + metricsPort + " did not answer with metrics in time; is the node overloaded, or does a NetworkPolicy keep the operator out?")
	errNoPod       = errors.New("the API server has no such pod")
	errForeignPod  = errors.New("the pod is not controlled by this Cluster")
	errHostNetwork = errors.New("the pod has its node's network, which the operator does not read metrics from")
	errNoAddress   = errors.New("the pod has no address yet")
	errAddress     = errors.New("the pod's address is not one of a pod network")
)

// Dial connects to an address.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// metricsClient reads instances' metrics. What answers is a tenant's: it is not
// followed elsewhere, and what it sends before the body is bounded. No proxy of the
// environment is used. The certificate names Services, not addresses of pods, and
// nothing secret is sent or read.
func metricsClient(dial Dial) *http.Client {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            dial,
			TLSClientConfig:        &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // see the function's comment
			Protocols:              protocols,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
		},
	}
}

// pod of an instance, as the API server has it.
func (r *ReadBack) pod(ctx context.Context, c *cnpgv1.Cluster, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := r.Pods.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, pod)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return nil, errors.New("the API server did not answer for the pod")
	case err != nil:
		return nil, errNoPod
	case !controls(c, pod):
		return nil, errForeignPod
	}
	return pod, nil
}

// probesOf the container of Postgres.
func probesOf(pod *corev1.Pod) observed.Probes {
	var out observed.Probes
	for _, c := range pod.Spec.Containers {
		if c.Name == postgresContainer {
			out = observed.Probes{Startup: probe(c.StartupProbe), Readiness: probe(c.ReadinessProbe), Liveness: probe(c.LivenessProbe)}
		}
	}
	return out
}

func probe(p *corev1.Probe) observed.Probe {
	if p == nil {
		return observed.Probe{}
	}
	return observed.Probe{Timeout: p.TimeoutSeconds, Period: p.PeriodSeconds, Attempts: p.FailureThreshold}
}

// podAddress is the address of a pod of the Cluster, on the pod network alone. A pod
// may have its node's address, and then the port is its node's. The status of a Cluster
// has an address too, which others than kubelet may write.
func podAddress(pod *corev1.Pod) (netip.Addr, error) {
	switch {
	case pod.Spec.HostNetwork || pod.Status.PodIP != "" && pod.Status.PodIP == pod.Status.HostIP:
		return netip.Addr{}, errHostNetwork
	case pod.Status.PodIP == "" || pod.DeletionTimestamp != nil:
		return netip.Addr{}, errNoAddress
	}
	ip, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil || ip.Zone() != "" {
		return netip.Addr{}, errAddress
	}
	// GlobalUnicast excludes loopback, link-local (the metadata services of clouds),
	// multicast, broadcast and unspecified addresses. Those of private networks are in it.
	if ip = ip.Unmap(); !ip.IsGlobalUnicast() {
		return netip.Addr{}, errAddress
	}
	return ip, nil
}

// controls says whether a pod is an instance of a Cluster.
func controls(c *cnpgv1.Cluster, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.UID == c.UID && pod.Labels[naming.LabelCNPGCluster] == c.Name
}

// settings of one instance.
func (r *ReadBack) settings(ctx context.Context, c *cnpgv1.Cluster, pod *corev1.Pod, wanted map[string]bool) (*scraped, error) {
	ip, err := podAddress(pod)
	if err != nil {
		return nil, err
	}
	scheme := "http"
	if m := c.Spec.Monitoring; m != nil && m.TLSConfig != nil && m.TLSConfig.Enabled {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(ip.String(), metricsPort)+"/metrics", nil)
	if err != nil {
		return nil, errAddress
	}
	response, err := r.client().Do(request)
	if err != nil {
		// The cause names ports that change, and would make a new status each time; and it
		// quotes what answered.
		return nil, errNoAnswer
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("port "+metricsPort+" answered with HTTP status %d", response.StatusCode)
	}
	return readAnswer(response.Body, wanted)
}
