//go:build e2eceph

package e2eceph

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// cephJSON runs a command of Ceph and decodes what it prints.
func cephJSON(t *testing.T, into any, argv ...string) {
	t.Helper()
	out := mustCeph(t, append([]string{"ceph", "--format", "json"}, argv...)...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatalf("%s: %v in %s", strings.Join(argv, " "), err, out)
	}
}

// readFromCeph compares the status with what Ceph's own commands print.
func (j *journey) readFromCeph(t *testing.T) {
	create(t, tools())
	podReady(t, toolsName)
	j.pools(t)
	j.osds(t)
	p, err := current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := p.Status.Ceph
	var health struct {
		Status string `json:"status"`
	}
	cephJSON(t, &health, "health")
	if got.Health != health.Status {
		t.Errorf("the profile says %s, Ceph %s", got.Health, health.Status)
	}
	hosts := []string{control, home, victim}
	slices.Sort(hosts)
	if *got.OSDs != 3 || *got.OSDsUp != 3 || !slices.Equal(got.OSDHosts, hosts) {
		t.Errorf("%d OSDs, %d up, on %v", *got.OSDs, *got.OSDsUp, got.OSDHosts)
	}
	if got.ClusterUID == "" || got.Usable == nil || got.ProbedKey == "" {
		t.Errorf("uid %q, usable %v, probed %q", got.ClusterUID, got.Usable, got.ProbedKey)
	}
}

func podReady(t *testing.T, name string) {
	t.Helper()
	eventually(t, "pod "+name+" to be ready", func(ctx context.Context) error {
		pod := &corev1.Pod{}
		if err := c.Get(ctx, keyOf(rookNamespace, name), pod); err != nil {
			return err
		}
		if !isReady(pod) {
			return fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return nil
	})
}

// pools: no write is acknowledged by one copy alone, in Ceph's own pool neither.
func (j *journey) pools(t *testing.T) {
	t.Helper()
	type pool struct {
		Name    string `json:"pool_name"`
		Size    int    `json:"size"`
		MinSize int    `json:"min_size"`
	}
	var pools []pool
	cephJSON(t, &pools, "osd", "pool", "ls", "detail")
	slices.SortFunc(pools, func(a, b pool) int { return strings.Compare(a.Name, b.Name) })
	if diff := cmp.Diff([]pool{{".mgr", 3, 2}, {profileName, 3, 2}}, pools); diff != "" {
		t.Errorf("pools (-wanted +Ceph's):\n%s", diff)
	}
}

// osds have the settings of the profile, also those that they were created with.
func (j *journey) osds(t *testing.T) {
	t.Helper()
	type osd struct {
		Hostname string `json:"hostname"`
		MinAlloc string `json:"bluestore_min_alloc_size"`
		Class    string `json:"default_device_class"`
	}
	var osds []osd
	cephJSON(t, &osds, "osd", "metadata")
	for _, o := range osds {
		if o.MinAlloc != "4096" {
			t.Errorf("bluestore_min_alloc_size of the OSD on %s is %s", o.Hostname, o.MinAlloc)
		}
	}
	if len(osds) != 3 {
		t.Errorf("%d OSDs", len(osds))
	}
	for id := range osds {
		if got := mustCeph(t, "ceph", "config", "get", fmt.Sprintf("osd.%d", id), "osd_memory_target"); got != fmt.Sprint(2<<30) {
			t.Errorf("osd_memory_target of osd.%d is %s", id, got)
		}
	}
	var tree struct {
		Nodes []struct {
			Type  string `json:"type"`
			Name  string `json:"name"`
			Class string `json:"device_class"`
		} `json:"nodes"`
	}
	cephJSON(t, &tree, "osd", "tree")
	for _, n := range tree.Nodes {
		if n.Type == "osd" && n.Class != "ssd" {
			t.Errorf("%s has the device class %q", n.Name, n.Class)
		}
	}
}

// metrics of the manager, and those of Ceph that the alerts of the chart read.
func (j *journey) metrics(t *testing.T) {
	ours := scraped(t)
	for _, condition := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionCephReady, v1alpha1.ConditionBlockPoolReady, v1alpha1.ConditionPoolVerified} {
		pattern := fmt.Sprintf(`(?m)^pgstorage_profile_condition\{condition="%s",profile="%s",[^}]*status="True"[^}]*\} 1$`, condition, profileName)
		if !regexp.MustCompile(pattern).MatchString(ours) {
			t.Errorf("the manager's metrics have no line %s", pattern)
		}
	}
	eventually(t, "the mgr to serve what the alerts read", func(ctx context.Context) error {
		theirs, err := command(ctx, "kubectl", "get", "--raw", "/api/v1/namespaces/"+rookNamespace+"/services/rook-ceph-mgr:9283/proxy/metrics")
		if err != nil {
			return err
		}
		for _, name := range []string{"ceph_health_status", "ceph_osd_up", "ceph_pg_total", "ceph_pg_active", "ceph_pg_undersized", "ceph_pool_metadata"} {
			if !strings.Contains(theirs, "\n"+name+"{") && !strings.Contains(theirs, "\n"+name+" ") {
				return fmt.Errorf("it has no %s", name)
			}
		}
		return nil
	})
}

// scraped are the manager's metrics, as Prometheus reads them.
func scraped(t *testing.T) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+live.Forwarded(t)+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+live.MetricsToken(t, c, namespace))
	// The manager signs its certificate itself.
	scraper := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	response, err := scraper.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.Status, err)
	}
	return string(body)
}
