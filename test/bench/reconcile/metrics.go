package reconcile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// metricsReader makes an account that may read the metrics and returns its token.
func metricsReader(ctx context.Context, config *rest.Config) (string, error) {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("client: %w", err)
	}
	meta := metav1.ObjectMeta{Name: "metrics-reader"}
	if _, err := c.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("account: %w", err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}}
	if _, err := c.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("role: %w", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: meta.Name}},
	}
	if _, err := c.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("binding: %w", err)
	}
	token, err := c.CoreV1().ServiceAccounts("default").CreateToken(ctx, meta.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return token.Status.Token, nil
}

func (m *manager) scrape(ctx context.Context) (map[string]*dto.MetricFamily, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.metrics, nil)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+m.token)
	response, err := m.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("metrics: %s", strconv.Itoa(response.StatusCode))
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(response.Body)
}

// liveHeap is what the newest garbage collection found alive. Scrapes make the
// garbage that brings two more of them.
func (m *manager) liveHeap(ctx context.Context) (float64, error) {
	first := -1.0
	for range 5000 {
		families, err := m.scrape(ctx)
		if err != nil {
			return 0, err
		}
		cycles, live := value(families["go_gc_cycles_total_gc_cycles_total"]), value(families["go_gc_heap_live_bytes"])
		if live == 0 {
			return 0, errors.New("the manager reports no go_gc_heap_live_bytes")
		}
		if first < 0 {
			first = cycles
		}
		if cycles >= first+2 {
			return live, nil
		}
	}
	return 0, errors.New("no garbage collection in 5000 scrapes")
}

func value(f *dto.MetricFamily) float64 {
	for _, m := range f.GetMetric() {
		return m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	return 0
}

// passes are the times of passes over PgStorageClusters until now.
func passes(families map[string]*dto.MetricFamily) histogram {
	for _, m := range families["controller_runtime_reconcile_time_seconds"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "controller" && l.GetValue() == "pgstoragecluster" {
				return histogramOf(m.GetHistogram())
			}
		}
	}
	return histogram{}
}
