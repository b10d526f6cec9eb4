//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// farService is the name by which a site is reached from a distance.
const farService = "shop-far"

// siteDelay is the time of a packet to another site and back, by PGSTORAGE_SITE_DELAY; 0 for none.
func siteDelay(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("PGSTORAGE_SITE_DELAY")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 2*time.Millisecond {
		t.Fatalf("PGSTORAGE_SITE_DELAY: %q is no time of at least 2ms", text)
	}
	return d
}

// streams of a proxy, each of which has half of the delay.
var streams = []string{"upstream", "downstream"}

// distance is a proxy of TCP that delays what goes to a site and what comes back. The kernels of
// test machines may lack netem, with which tc delays packets.
type distance struct {
	api string
	// gateway is this machine's address in the network of kind, and node that of a node.
	gateway, node string
	delay         time.Duration
}

func newDistance(t *testing.T, delay time.Duration) *distance {
	t.Helper()
	d := &distance{delay: delay}
	nodes := &corev1.NodeList{}
	if err := c.List(t.Context(), nodes); err != nil || len(nodes.Items) == 0 {
		t.Fatalf("%d nodes, %v", len(nodes.Items), err)
	}
	for _, a := range nodes.Items[0].Status.Addresses {
		if a.Type == corev1.NodeInternalIP && net.ParseIP(a.Address).To4() != nil {
			d.node = a.Address
		}
	}
	out, err := command(t.Context(), "docker", "exec", nodes.Items[0].Name, "ip", "-4", "route", "show", "default")
	fields := strings.Fields(out)
	if err != nil || len(fields) < 3 || d.node == "" {
		t.Fatalf("node %q, route %q, %v", d.node, out, err)
	}
	d.gateway = fields[2]
	d.serve(t)
	return d
}

// serve runs toxiproxy until the test ends.
func (d *distance) serve(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.api = listener.Addr().String()
	_, port, _ := net.SplitHostPort(d.api)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(os.Getenv("PGSTORAGE_TOXIPROXY"), "-host", "127.0.0.1", "-port", port)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	eventually(t, "the proxy to answer", func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.api+"/version", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
}

// post to the proxy's API, and read its answer.
func (d *distance) post(t *testing.T, path string, body, answer any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.api+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	out, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode/100 != 2 {
		t.Fatalf("POST %s: %s %s %v", path, response.Status, out, err)
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatalf("POST %s: %s: %v", path, out, err)
	}
}

// to makes the Service farService in a namespace: the primary of the database there, at the distance.
func (d *distance) to(t *testing.T, ns string) {
	t.Helper()
	near := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop-near"},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeNodePort,
			Selector: map[string]string{naming.LabelCNPGCluster: "shop", naming.LabelCNPGInstanceRole: "primary"},
			Ports:    []corev1.ServicePort{{Port: 5432}},
		},
	}
	create(t, near)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(near), near); err != nil {
		t.Fatal(err)
	}
	proxy := struct {
		Name     string `json:"name"`
		Listen   string `json:"listen"`
		Upstream string `json:"upstream"`
		Enabled  bool   `json:"enabled"`
	}{ns, net.JoinHostPort(d.gateway, "0"), net.JoinHostPort(d.node, strconv.Itoa(int(near.Spec.Ports[0].NodePort))), true}
	d.post(t, "/proxies", proxy, &proxy)
	for _, stream := range streams {
		d.post(t, "/proxies/"+ns+"/toxics", map[string]any{"name": stream, "type": "latency", "stream": stream, "attributes": latency(d.delay)}, &struct{}{})
	}
	_, text, err := net.SplitHostPort(proxy.Listen)
	port, portErr := strconv.Atoi(text)
	if err != nil || portErr != nil || port == 0 {
		t.Fatalf("the proxy listens on %q", proxy.Listen)
	}
	create(t,
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: farService},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 5432, TargetPort: intstr.FromInt32(int32(port))}}},
		},
		&discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: ns, Name: farService, Labels: map[string]string{discoveryv1.LabelServiceName: farService}},
			AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{d.gateway}}},
			Ports:       []discoveryv1.EndpointPort{{Port: new(int32(port))}},
		},
	)
	t.Logf("%s.%s is %s away", farService, ns, fmt.Sprint(d.delay))
}

// change the time of a packet to the database of a namespace and back.
func (d *distance) change(t *testing.T, ns string, delay time.Duration) {
	t.Helper()
	for _, stream := range streams {
		d.post(t, "/proxies/"+ns+"/toxics/"+stream, map[string]any{"attributes": latency(delay)}, &struct{}{})
	}
}

// latency that toxiproxy adds to one stream, in milliseconds.
func latency(delay time.Duration) map[string]int64 {
	return map[string]int64{"latency": (delay / 2).Milliseconds()}
}
