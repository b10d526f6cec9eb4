package reconcile

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/pgstorage/pgstorage/internal/testing/process"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
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
	metrics, err := process.Address(ctx)
	if err != nil {
		return nil, err
	}
	m.metrics = "https://" + metrics + "/metrics"
	limit, err := memoryLimit()
	if err != nil {
		return nil, err
	}
	m.died, m.args = died, []string{binary, "--bench-image=none", "--agent-image=none", "--namespace=default", "--feature-gates=Branches=true", "--metrics-bind-address=" + metrics, "--health-probe-bind-address=0", "--zap-log-level=error"}
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
	build.Dir, build.Stderr = repository.Root(), os.Stderr
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
