//go:build linux

// Package prometheus runs a real Prometheus for tests.
package prometheus

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/internal/testing/process"
)

const (
	patience = 2 * time.Minute
	interval = 200 * time.Millisecond
)

// Server is a Prometheus that ends with the test.
type Server struct{ url string }

// Series is one element of an instant vector.
type Series struct {
	Metric map[string]string `json:"metric"`
}

// Rule is an alert, as Prometheus evaluated it last.
type Rule struct {
	Name      string `json:"name"`
	Query     string `json:"query"`
	Health    string `json:"health"`
	LastError string `json:"lastError"`
}

// Start runs a program with a configuration until the test ends.
func Start(t *testing.T, program, config string) *Server {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	address, err := process.Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(command(program, log, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address, "--log.level=warn"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Logf("prometheus: %v", err)
		}
		_ = log.Close()
	})
	s := &Server{url: "http://" + address}
	err = wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		select {
		case <-p.Done():
			return false, fmt.Errorf("it ended")
		default:
			return s.get(ctx, "/-/ready", nil, nil) == nil, nil
		}
	})
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("prometheus is not ready: %v\n%s", err, text)
	}
	return s
}

func command(program string, log *os.File, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...) //nolint:gosec,noctx // a program of the tests; it ends with the test
	cmd.Stdout, cmd.Stderr = log, log
	return cmd
}

// Query evaluates an expression now.
func (s *Server) Query(ctx context.Context, expr string) ([]Series, error) {
	var answer struct {
		Data struct {
			Result []Series `json:"result"`
		} `json:"data"`
	}
	if err := s.get(ctx, "/api/v1/query", url.Values{"query": {expr}}, &answer); err != nil {
		return nil, err
	}
	return answer.Data.Result, nil
}

// RuleFile writes the alerts of a PrometheusRule in a file as Prometheus reads them.
func RuleFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	if text, err = yaml.Marshal(object.Spec); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Rules are all alerts. It returns an error for one that could not be evaluated.
func (s *Server) Rules(ctx context.Context) ([]Rule, error) {
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []Rule `json:"rules"`
			} `json:"groups"`
		} `json:"data"`
	}
	if err := s.get(ctx, "/api/v1/rules", nil, &answer); err != nil {
		return nil, err
	}
	var all []Rule
	for _, g := range answer.Data.Groups {
		for _, r := range g.Rules {
			if r.Health != "ok" {
				return nil, fmt.Errorf("alert %s is %s: %s", r.Name, r.Health, r.LastError)
			}
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no alert")
	}
	return all, nil
}

// Failing returns what is wrong with the targets: an error for the first one that is not up.
func (s *Server) Failing(ctx context.Context) error {
	var answer struct {
		Data struct {
			ActiveTargets []struct {
				ScrapeURL string `json:"scrapeUrl"`
				Health    string `json:"health"`
				LastError string `json:"lastError"`
			} `json:"activeTargets"`
		} `json:"data"`
	}
	if err := s.get(ctx, "/api/v1/targets", url.Values{"state": {"active"}}, &answer); err != nil {
		return err
	}
	if len(answer.Data.ActiveTargets) == 0 {
		return fmt.Errorf("no target")
	}
	for _, target := range answer.Data.ActiveTargets {
		if target.Health != "up" {
			return fmt.Errorf("%s is %s: %s", target.ScrapeURL, target.Health, target.LastError)
		}
	}
	return nil
}

func (s *Server) get(ctx context.Context, path string, query url.Values, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if into != nil {
		if err := json.NewDecoder(response.Body).Decode(into); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", query.Get("query"), response.StatusCode)
	}
	return nil
}
