package plugin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// counting forwards requests to the API server, and counts the watches.
func counting(t *testing.T) (address string, watches *atomic.Int64) {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.FlushInterval = transport, -1
	watches = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			watches.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, watches
}

// The request timeout ends a watch, and bench follow opens another one.
func TestBenchFollowOutlivesTheRequestTimeout(t *testing.T) {
	c := apiserver.Client(t, config)
	measured(t, c, "plugin-watch")
	address, watches := counting(t)
	must(t, "bench", "start", "shop", "-n", "plugin-watch", "--name", "nightly")
	f := follow(t, "bench", "follow", "nightly", "-n", "plugin-watch", "--server", address, "--request-timeout", "1s")
	f.line(t, "0%  Pending")
	eventually(t, "three watches", func(context.Context) error {
		if watches.Load() < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	report(t, c, client.ObjectKey{Namespace: "plugin-watch", Name: "nightly"}, "Succeeded", 100, "812.4 TPS at best, durability Quorum")
	f.line(t, "100%  Succeeded")
	if err := <-f.done; err != nil {
		t.Fatal(err)
	}
	if got := f.rest.String(); strings.Count(got, "  0%  Pending") != 1 {
		t.Errorf("a new watch repeats lines that were shown:\n%s", got)
	}
}
