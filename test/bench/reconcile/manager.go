package reconcile

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// manager is the operator as a process of its own.
type manager struct {
	died     func(error)
	args     []string
	env      []string
	cmd      *exec.Cmd
	log      string
	ended    chan struct{} // closed when the process has ended
	expected atomic.Bool   // that it ends
	dir      string
	metrics  string
	token    string
	client   *http.Client
}

// startManager calls died with the reason, should the manager end before it is stopped.
func startManager(ctx context.Context, config *rest.Config, server string, died func(error)) (_ *manager, err error) {
	dir, err := os.MkdirTemp("", "pgstorage-bench-")
	if err != nil {
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	m := &manager{dir: dir, log: filepath.Join(dir, "log"), client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, // the manager's certificate is its own
	}}}
	defer func() {
		if err != nil {
			m.stop()
		}
	}()
	if m.token, err = metricsReader(ctx, config); err != nil {
		return nil, err
	}
	binary, kubeconfig := filepath.Join(dir, "manager"), filepath.Join(dir, "kubeconfig")
	if err := build(ctx, binary); err != nil {
		return nil, err
	}
	if err := writeKubeconfig(kubeconfig, server); err != nil {
		return nil, err
	}
	metrics, err := freePort()
	if err != nil {
		return nil, err
	}
	m.metrics = "https://" + metrics + "/metrics"
	limit, err := memoryLimit()
	if err != nil {
		return nil, err
	}
	m.died, m.args = died, []string{binary, "--bench-image=none", "--agent-image=none", "--namespace=default", "--metrics-bind-address=" + metrics, "--health-probe-bind-address=0", "--zap-log-level=error"}
	// As the manager sets it from the limit of its container.
	m.env = append(os.Environ(), "KUBECONFIG="+kubeconfig, fmt.Sprintf("GOMEMLIMIT=%.0f", 0.9*limit))
	m.prepare()
	if err := m.launch(died); err != nil {
		return nil, err
	}
	return m, m.answers(ctx)
}

func build(ctx context.Context, binary string) error {
	progress("building the manager")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/manager")
	build.Dir, build.Stderr = apiserver.Root(), os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the manager: %w", err)
	}
	return nil
}

// launch the process and watch for its end.
func (m *manager) launch(died func(error)) error {
	log, err := os.Create(m.log)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own
	m.cmd.Stdout, m.cmd.Stderr = log, log
	if err := m.cmd.Start(); err != nil {
		return fmt.Errorf("start the manager: %w", err)
	}
	m.ended = make(chan struct{})
	go func() {
		defer close(m.ended)
		_ = m.cmd.Wait() // its state says as much
		if !m.expected.Load() {
			died(fmt.Errorf("the manager ended by itself (%s); its last lines:\n%s", m.cmd.ProcessState, m.lastLines(40)))
		}
	}()
	return nil
}

// lastLines of what the manager said.
func (m *manager) lastLines(n int) string {
	said, err := os.ReadFile(m.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(said), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// answers waits until the metrics do.
func (m *manager) answers(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, last = m.scrape(ctx)
		return last == nil, nil
	})
	if err != nil && context.Cause(ctx) == nil {
		return errors.Join(fmt.Errorf("the manager's metrics did not answer; its last lines:\n%s", m.lastLines(40)), err, last)
	}
	return err
}

func (m *manager) prepare() {
	m.cmd = exec.Command(m.args[0], m.args[1:]...)
	m.cmd.Env = m.env
}

// restart ends the process and starts another one.
func (m *manager) restart(ctx context.Context) error {
	m.expected.Store(true)
	m.end()
	m.expected.Store(false)
	m.prepare()
	if err := m.launch(m.died); err != nil {
		return err
	}
	return m.answers(ctx)
}

// peak is the most memory that the process had, in bytes: what a limit counts, and the
// pages of its program.
func (m *manager) peak() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("memory of the manager: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if text, found := strings.CutPrefix(line, "VmHWM:"); found {
			kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 64)
			return kilobytes * 1024, err
		}
	}
	return 0, errors.New("the kernel reports no VmHWM")
}

// stop ends what runs and removes what was written, also after half a start.
func (m *manager) stop() {
	m.expected.Store(true)
	m.end()
	m.client.CloseIdleConnections()
	_ = os.RemoveAll(m.dir)
}

func (m *manager) end() {
	if m.ended != nil {
		_ = m.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-m.ended:
		case <-time.After(30 * time.Second):
			_ = m.cmd.Process.Kill()
			<-m.ended
		}
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

func writeKubeconfig(path, server string) error {
	config := api.NewConfig()
	config.Clusters["bench"] = &api.Cluster{Server: server}
	config.Contexts["bench"] = &api.Context{Cluster: "bench"}
	config.CurrentContext = "bench"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	return nil
}

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
