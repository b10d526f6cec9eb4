//go:build zerofs && linux

// Tests with a real ZeroFS 0.19 and a real S3 server: go test -tags zerofs. The
// programs are named by PGSTORAGE_ZEROFS and PGSTORAGE_S3 (versitygw); without one of
// them the tests are skipped. All listen on loopback.
package meter

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/process"
	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

// domain of the store, whose buckets are hosts below it. No resolver knows it.
const domain = "store.example"

// parts of a test, all of them real.
type parts struct {
	testing.TB
	store *s3.Store
	// secure stands before the store, with TLS and a certificate of the issuer.
	secure *httptest.Server
	issuer *issuer
	server zerofs.Server
	dir    string
}

func newReal(t testing.TB) *parts {
	t.Helper()
	if os.Getenv("PGSTORAGE_S3") == "" || os.Getenv("PGSTORAGE_ZEROFS") == "" {
		t.Skip("needed: PGSTORAGE_ZEROFS (hack/zerofs.sh) and PGSTORAGE_S3 (hack/tools.sh versitygw)")
	}
	store, err := s3.Start(t.Context(), s3.Options{Program: os.Getenv("PGSTORAGE_S3"), Dir: t.TempDir(), Buckets: []string{"pool"}, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	dir, err := os.MkdirTemp("", "pgmeter") //nolint:usetesting // a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &parts{TB: t, store: store, issuer: newIssuer(t, domain, "*."+domain), dir: dir}
	at := strings.TrimPrefix(store.Endpoint("127.0.0.1"), "http://")
	r.secure = httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", at, r.In.Host
		},
		Transport:    &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 1 << 10},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	r.secure.TLS = &tls.Config{Certificates: []tls.Certificate{r.issuer.server}, MinVersion: tls.VersionTLS12}
	r.secure.StartTLS()
	t.Cleanup(r.secure.Close)
	r.server = zerofs.Server{
		Family: v1alpha1.ZeroFS019, URL: "s3://pool/prod/node-1", Endpoint: r.secure.URL, Region: s3.Region, PathStyle: true,
		CacheDir: filepath.Join(dir, "cache"), CacheSize: 2 << 30, CacheMemory: 64 << 20, FlushInterval: 10 * time.Minute,
		NBDSocket: filepath.Join(dir, "nbd.sock"), NinePSocket: filepath.Join(dir, "9p.sock"),
	}
	return r
}

// meter that the server is to use, on its way to the store: whatever the store is
// called, it is before us.
func (r *parts) meter() *Meter {
	r.Helper()
	at, err := r.server.StoreURL()
	if err != nil {
		r.Fatal(err)
	}
	m, err := New(Options{Store: at, Roots: r.issuer.pool, Log: slog.New(slog.NewTextHandler(r.Output(), nil))})
	if err != nil {
		r.Fatal(err)
	}
	dial, secure := m.transport.DialContext, r.secure.Listener.Addr().String()
	m.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasSuffix(address, domain+":443") {
			address = secure
		}
		return dial(ctx, network, address)
	}
	r.server.Meter = serve(r.TB, m).Host
	return m
}

// run a server until its end, or the test's.
func (r *parts) run() *process.Process {
	r.Helper()
	text, err := zerofs.Config(r.server)
	if err != nil {
		r.Fatal(err)
	}
	file := filepath.Join(r.dir, "zerofs.toml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		r.Fatal(err)
	}
	cmd := exec.CommandContext(r.Context(), os.Getenv("PGSTORAGE_ZEROFS"), "run", "-c", file)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "SSL_CERT_FILE="+r.issuer.file, zerofs.EnvPassword+"=for-tests-only",
		zerofs.EnvAccessKeyID+"="+r.store.AccessKey, zerofs.EnvSecretAccessKey+"="+r.store.SecretKey)
	cmd.Stdout, cmd.Stderr = r.Output(), r.Output()
	p, err := process.Start(cmd)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = p.Kill() })
	client := &exports.Client{Socket: r.server.NinePSocket}
	if err := p.UntilReady(r.Context(), time.Minute, func(ctx context.Context) error { return client.Create(ctx, exportName, exportSize) }); err != nil {
		r.Fatal(err)
	}
	return p
}

// stop a server in its order.
func (r *parts) stop(p *process.Process) {
	r.Helper()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		r.Fatal(err)
	}
	if err := p.Wait(time.Minute); err != nil {
		r.Fatal(err)
	}
}

// asked is what the store was asked, as it counts that itself.
func (r *parts) asked() zerofs.StoreTraffic {
	t := zerofs.StoreTraffic{Requests: map[string]int64{"GET": 0, "LIST": 0, "HEAD": 0, "PUT": 0, "POST": 0, "DELETE": 0}}
	for o, n := range r.store.Counts() {
		name := o.Method
		if o.Operation == "ListObjects" && r.server.PathStyle { // else it takes keys for buckets
			name = "LIST"
		}
		t.Requests[name] += int64(n.Requests)
		t.SentBytes += n.Up
		t.ReceivedBytes += n.Down
		if o.Status == 0 || isError(o.Status) {
			t.Errors += int64(n.Requests)
		}
	}
	return t
}

// agree waits until the meter has counted what the store has.
func (r *parts) agree(m *Meter) {
	r.Helper()
	tick, limit := time.NewTicker(10*time.Millisecond), time.After(patience)
	defer tick.Stop()
	for {
		got, want := m.Traffic(), r.asked()
		got.Seconds = 0
		if !r.server.PathStyle {
			got.Requests["GET"], got.Requests["LIST"] = got.Requests["GET"]+got.Requests["LIST"], 0
		}
		if diff := cmp.Diff(want, got); diff != "" {
			select {
			case <-tick.C:
				continue
			case <-limit:
				r.Fatal(diff)
			}
		}
		r.Logf("%+v", m.Traffic())
		return
	}
}

// The store has what ZeroFS wrote through the meter, and the meter counted it. Both are
// true with the bucket in the path and in the signed host.
func TestRealStore(t *testing.T) {
	for name, change := range map[string]func(r *parts){
		"by path": func(*parts) {},
		"by host": func(r *parts) { r.server.Endpoint, r.server.PathStyle = "https://"+domain, false },
		"no TLS": func(r *parts) {
			r.server.Endpoint, r.server.AllowHTTP = r.store.Endpoint("127.0.0.1"), true
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "by host" {
				t.Setenv("VGW_VIRTUAL_DOMAIN", domain)
			}
			r := newReal(t)
			change(r)
			m := r.meter()
			want := make([]byte, 8<<20)
			_, _ = rand.Read(want)
			p := r.run()
			d := openDisk(t, r.server.NBDSocket)
			for at := 0; at < len(want); at += 1 << 20 {
				d.write(at, want[at:at+1<<20])
			}
			d.flush()
			if sent := m.Traffic().SentBytes; sent < int64(len(want)) {
				t.Errorf("%d bytes were flushed, and %d sent", len(want), sent)
			}
			r.stop(p)
			r.agree(m)
			if err := os.RemoveAll(r.server.CacheDir); err != nil {
				t.Fatal(err)
			}
			p = r.run()
			if got := openDisk(t, r.server.NBDSocket).read(0, len(want)); !bytes.Equal(got, want) {
				t.Error("what was flushed is not there")
			}
			r.stop(p)
			r.agree(m)
			if got := m.Traffic(); got.ReceivedBytes < int64(len(want)) || got.Requests["LIST"] == 0 || got.Errors != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// BenchmarkRealFlush of 64 KiB, in turn on a server without the meter and on one with
// it. So the machine's other work is the same for both.
func BenchmarkRealFlush(b *testing.B) {
	for _, secure := range []bool{false, true} {
		b.Run(map[bool]string{false: "http", true: "https"}[secure], func(b *testing.B) {
			data := make([]byte, 64<<10)
			_, _ = rand.Read(data)
			disks, took := make([]*disk, 2), make([][]time.Duration, 2)
			for i := range disks {
				r := newReal(b)
				if !secure {
					r.server.Endpoint, r.server.AllowHTTP = r.store.Endpoint("127.0.0.1"), true
				}
				if i == 1 {
					r.meter()
				}
				r.run()
				disks[i] = openDisk(b, r.server.NBDSocket)
			}
			for n := 0; b.Loop(); n++ {
				for i, d := range disks {
					begin := time.Now()
					d.write(n%512*len(data), data)
					d.flush()
					took[i] = append(took[i], time.Since(begin))
				}
			}
			for i, unit := range []string{"direct-ms", "metered-ms"} {
				slices.Sort(took[i])
				b.ReportMetric(float64(took[i][len(took[i])/2])/float64(time.Millisecond), unit)
			}
		})
	}
}
