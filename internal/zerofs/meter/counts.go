package meter

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// kind of a request.
type kind int

const (
	unknown kind = iota
	get
	list
	head
	put
	post
	remove
	kinds
)

// names of the kinds in zerofs.StoreTraffic.
var names = [kinds]string{get: "GET", list: "LIST", head: "HEAD", put: "PUT", post: "POST", remove: "DELETE"}

// kindOf a request: a listing is a get of a bucket. object_store lists by list-type=2.
func kindOf(r *http.Request) kind {
	switch r.Method {
	case http.MethodGet:
		if query := r.URL.Query(); query.Has("list-type") || query.Has("prefix") {
			return list
		}
		return get
	case http.MethodHead:
		return head
	case http.MethodPut:
		return put
	case http.MethodPost:
		return post
	case http.MethodDelete:
		return remove
	}
	return unknown
}

// counts of all requests that ended, and of the bytes of all.
type counts struct {
	requests       [kinds]atomic.Int64
	errors         atomic.Int64
	received, sent atomic.Int64
	nanoseconds    atomic.Int64
}

func (c *counts) traffic() zerofs.StoreTraffic {
	t := zerofs.StoreTraffic{
		Requests: map[string]int64{}, Errors: c.errors.Load(), ReceivedBytes: c.received.Load(), SentBytes: c.sent.Load(),
		Seconds: time.Duration(c.nanoseconds.Load()).Seconds(),
	}
	for k := get; k < kinds; k++ {
		t.Requests[names[k]] = c.requests[k].Load()
	}
	return t
}

// exchange is a request and its answer.
type exchange struct {
	*counts
	kind
	begin  time.Time
	failed bool
}

func (e *exchange) end() {
	e.requests[e.kind].Add(1)
	e.nanoseconds.Add(int64(time.Since(e.begin)))
	if e.failed {
		e.errors.Add(1)
	}
}

// isError of a store, not of its client. A store answers conditions that are not met
// with 4xx, and a missing key is one that ZeroFS looked for.
func isError(status int) bool {
	return status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// metered transport.
type metered struct {
	http.RoundTripper
	*counts
}

// RoundTrip is the http.RoundTripper's.
func (m *metered) RoundTrip(r *http.Request) (*http.Response, error) {
	e := &exchange{counts: m.counts, kind: kindOf(r), begin: time.Now()}
	out := r
	if r.Body != nil && r.Body != http.NoBody {
		out = r.WithContext(r.Context())
		out.Body = &sentBody{r.Body, m.counts}
	}
	answer, err := m.RoundTripper.RoundTrip(out)
	if err != nil {
		e.failed = true
		e.end()
		return nil, err
	}
	e.failed = isError(answer.StatusCode)
	answer.Body = &answerBody{ReadCloser: answer.Body, exchange: e, request: r}
	return answer, nil
}

// sentBody counts what is read of a request. Closing it leaves the rest to be read.
type sentBody struct {
	io.Reader
	*counts
}

// Read is the io.Reader's.
func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.sent.Add(int64(n))
	return n, err
}

// Close is the io.Closer's.
func (b *sentBody) Close() error { return nil }

// answerBody counts what is read of an answer, and ends the exchange when it is closed,
// which the proxy does once.
type answerBody struct {
	io.ReadCloser
	*exchange
	request *http.Request
}

// Read is the io.Reader's.
func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.received.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) && b.request.Context().Err() == nil {
		b.failed = true // it broke off; ZeroFS still wants it
	}
	return n, err
}

// Close is the io.Closer's.
func (b *answerBody) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}
