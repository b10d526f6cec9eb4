package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// instances simulates the metrics of every running Postgres. All clusters are of
// one spec, so that one address answers for all of them.
type instances struct {
	ip      string
	server  *http.Server
	text    atomic.Pointer[string]
	scrapes atomic.Int64
}

// startInstances takes the first address of this machine whose port 9187 is free. The
// operator reads no other port, and none of loopback and link-local addresses.
func startInstances() (*instances, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("addresses of this machine: %w", err)
	}
	refused := errors.New("it has no other than loopback and link-local ones")
	for _, address := range addresses {
		network, ok := address.(*net.IPNet)
		if !ok || !network.IP.IsGlobalUnicast() {
			continue
		}
		ip := network.IP.String()
		listener, err := net.Listen("tcp", net.JoinHostPort(ip, "9187"))
		if err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		i := &instances{ip: ip}
		i.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(i.answer)}
		go func() {
			if err := i.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				progress("simulated instances ended: %v", err)
			}
		}()
		return i, nil
	}
	return nil, fmt.Errorf("no address of this machine for simulated instances: %w", refused)
}

func (i *instances) close() { _ = i.server.Close() }

func (i *instances) answer(w http.ResponseWriter, _ *http.Request) {
	i.scrapes.Add(1)
	text := i.text.Load()
	if text == nil {
		http.Error(w, "no parameters yet", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = fmt.Fprint(w, *text)
}

// run with the parameters of a Cluster, as CloudNativePG's default queries show
// them: numbers and booleans.
func (i *instances) run(major int, parameters map[string]string) {
	var b strings.Builder
	b.WriteString("# HELP cnpg_pg_settings_setting Setting value\n# TYPE cnpg_pg_settings_setting gauge\n")
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if value, numeric := postgres.BaseValue(major, name, parameters[name]); numeric {
			_, _ = fmt.Fprintf(&b, "cnpg_pg_settings_setting{name=%q} %g\n", name, value)
		}
	}
	text := b.String()
	i.text.Store(&text)
}

// report is what CloudNativePG would write into the status of a healthy Cluster.
func (i *instances) report(c *cnpgv1.Cluster) {
	c.Status.Phase = cnpgv1.PhaseHealthy
	c.Status.Instances, c.Status.ReadyInstances = c.Spec.Instances, c.Spec.Instances
	c.Status.CurrentPrimary = c.Name + "-1"
	c.Status.InstanceNames = nil
	c.Status.InstancesReportedState = map[cnpgv1.PodName]cnpgv1.InstanceReportedState{}
	for n := range c.Spec.Instances {
		pod := fmt.Sprintf("%s-%d", c.Name, n+1)
		c.Status.InstanceNames = append(c.Status.InstanceNames, pod)
		c.Status.InstancesReportedState[cnpgv1.PodName(pod)] = cnpgv1.InstanceReportedState{IsPrimary: n == 0, TimeLineID: 1, IP: i.ip}
	}
	c.Status.InstancesStatus = map[cnpgv1.PodStatus][]string{cnpgv1.PodHealthy: c.Status.InstanceNames}
}
