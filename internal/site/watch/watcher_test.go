package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

func portText(port uint16) string { return strconv.Itoa(int(port)) }

// running watcher, until the test ends, with the URL that it serves.
func running(t *testing.T, w *Watcher) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 2)
	go func() { ended <- w.Serve(ctx, listener) }()
	go func() {
		w.Run(ctx)
		ended <- nil
	}()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

func fetched(ctx context.Context, url string) (report.Report, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+report.Path, http.NoBody)
	if err != nil {
		return report.Report{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return report.Report{}, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	return report.Decode(response.Body)
}

func await(t *testing.T, url string, holds func(report.Report) bool) {
	t.Helper()
	var last report.Report
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		got, err := fetched(ctx, url)
		last = got
		return err == nil && holds(got), err
	})
	if err != nil {
		t.Fatalf("%v: last %+v", err, last)
	}
}

// One site that is silent, or gone, does not delay what is known of another.
func TestEverySiteIsAskedAndPublished(t *testing.T) {
	s := started(t)
	client := s.authority.client(t)
	folder := mounted(t, client, s.authority.pem())
	mount(t, folder, "west", client, s.authority.pem())
	members := []Member{s.south(), {Name: "west", Host: "localhost", Port: fakeSilentServer(t)}, {Name: "east", Host: "localhost", Port: 1}}
	w := New(members, folder, clock.RealClock{}, slog.New(slog.NewTextHandler(t.Output(), nil)))
	w.period = 20 * time.Millisecond
	if got, want := fmt.Sprint(w.Report()), fmt.Sprint(report.Report{Members: []report.Member{{Name: "south"}, {Name: "west"}, {Name: "east"}}}); got != want {
		t.Errorf("before the first attempt: got %s, want %s", got, want)
	}
	url := running(t, w)
	await(t, url, func(r report.Report) bool {
		return r.Members[0].Answered && r.Members[1] == report.Member{Name: "west"} && r.Members[2].Problem == report.NoCertificate
	})
	await(t, url, func(r report.Report) bool { return r.Members[1].Problem == report.TimedOut })
	s.execute(t, "ALTER ROLE streaming_replica NOLOGIN", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'streaming_replica'")
	await(t, url, func(r report.Report) bool {
		return r.Members[0] == report.Member{Name: "south", Asked: r.Members[0].Asked, Problem: report.AuthenticationFailed}
	})
	s.execute(t, "ALTER ROLE streaming_replica LOGIN")
	await(t, url, func(r report.Report) bool { return facts(r.Members[0]) == s.writes(t) })
}

func TestTheServerHasTwoPages(t *testing.T) {
	handler := New([]Member{{Name: "south"}}, t.TempDir(), clock.RealClock{}, slog.New(slog.DiscardHandler)).handler()
	for request, want := range map[string]struct {
		status int
		body   string
	}{
		"GET /sites":   {http.StatusOK, `{"members":[{"name":"south","asked":0,"answered":false,"inRecovery":false,"clockSkewMilliseconds":0}]}` + "\n"},
		"HEAD /sites":  {http.StatusOK, ""},
		"GET /healthz": {http.StatusOK, "ok\n"},
		"POST /sites":  {http.StatusMethodNotAllowed, "Method Not Allowed\n"},
		"GET /":        {http.StatusNotFound, "404 page not found\n"},
		"GET /sites/a": {http.StatusNotFound, "404 page not found\n"},
	} {
		method, path, _ := strings.Cut(request, " ")
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		if got.Code != want.status || method != http.MethodHead && got.Body.String() != want.body {
			t.Errorf("%s: got %d %s", request, got.Code, got.Body)
		}
	}
}

// A client that never ends its request does not keep the watcher from ending, nor longer
// than its time.
func TestASlowClientIsLeft(t *testing.T) {
	w := New([]Member{{Name: "south"}}, t.TempDir(), clock.RealClock{}, slog.New(slog.DiscardHandler))
	url := running(t, w)
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the server has closed it
	if _, err := conn.Write([]byte("GET /sites HTTP/1.1\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Error(err)
	}
}

func TestALostListenerIsAnError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	w := New(nil, "", clock.RealClock{}, slog.New(slog.DiscardHandler))
	if err := w.Serve(t.Context(), listener); err == nil {
		t.Error("no error")
	}
}

// Outcomes replace each other. A log has the changes alone, with little of what a server
// wrote.
func TestOnlyTheLastOutcomeIsKept(t *testing.T) {
	var log strings.Builder
	w := New([]Member{{Name: "south"}, {Name: "west"}}, "", clock.RealClock{}, slog.New(slog.NewTextHandler(&log, nil)))
	long := errors.New(strings.Repeat("FATAL\n", 10000))
	for i := range int64(1000) {
		w.keep(0, report.Member{Name: "south", Asked: i + 1, Problem: report.Refused}, long)
	}
	w.keep(0, report.Member{Name: "south", Asked: 2000, Answered: true}, nil)
	w.keep(0, report.Member{Name: "south", Asked: 2001, Answered: true}, nil)
	if got := w.Report().Members; len(got) != 2 || got[0].Asked != 2001 || got[1].Asked != 0 {
		t.Errorf("got %+v", got)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 2 || log.Len() > 2000 {
		t.Errorf("%d lines, %d bytes: %s", lines, log.Len(), log.String())
	}
}

// What a reader got does not change.
func TestAReportIsACopy(t *testing.T) {
	w := New([]Member{{Name: "south"}}, "", clock.RealClock{}, slog.New(slog.DiscardHandler))
	got := w.Report()
	w.keep(0, report.Member{Name: "south", Asked: 1, Answered: true}, nil)
	if got.Members[0].Asked != 0 {
		t.Errorf("got %+v", got)
	}
}
