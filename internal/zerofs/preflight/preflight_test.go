package preflight

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// fake store with configured answers: a listing, and what an object's first and second
// write say. It does what a real store cannot be made to do.
type fake struct {
	list, code, region    string
	listed, first, second int
	ahead                 time.Duration
	did                   []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.did = append(f.did, r.Method)
	w.Header().Set("Date", time.Now().Add(f.ahead).UTC().Format(http.TimeFormat))
	status := http.StatusNoContent
	switch r.Method {
	case http.MethodGet:
		status = f.listed
	case http.MethodPut:
		status = f.first
		if slices.Equal(f.did, []string{"GET", "PUT", "PUT"}) {
			status = f.second
		}
	}
	if f.region != "" {
		w.Header().Set("X-Amz-Bucket-Region", f.region)
	}
	w.WriteHeader(status)
	if status == http.StatusOK {
		_, _ = fmt.Fprintf(w, "<ListBucketResult>%s</ListBucketResult>", f.list)
	} else if status != http.StatusNoContent {
		_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>because</Message></Error>", f.code)
	}
}

func options(endpoint string) Options {
	return Options{
		URL: "s3://bucket/a/node", Endpoint: endpoint, Region: "us-east-1", PathStyle: true, AccessKeyID: "key",
		SecretAccessKey: "secret", Patience: 2 * time.Second, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

func TestCheck(t *testing.T) {
	object := func(names ...string) string {
		var s string
		for _, n := range names {
			s += "<Contents><Key>a/node/" + n + "</Key></Contents>"
		}
		return s
	}
	const wrote = "GET PUT PUT DELETE"
	for name, c := range map[string]struct {
		fake         fake
		reason, says string
		did          string
	}{
		"empty":        {fake: fake{}, did: wrote},
		"ours":         {fake: fake{list: object(marker) + "<CommonPrefixes><Prefix>a/node/manifest/</Prefix></CommonPrefixes>"}, did: wrote},
		"two at once":  {fake: fake{second: 409}, did: wrote},
		"key unknown":  {fake: fake{listed: 403, code: "InvalidAccessKeyId"}, reason: zerofs.ReasonCredentialsRejected, says: "because", did: "GET"},
		"may not list": {fake: fake{listed: 403, code: "AccessDenied"}, reason: zerofs.ReasonCredentialsRejected, says: "may not list", did: "GET"},
		"no code":      {fake: fake{listed: 403}, reason: zerofs.ReasonCredentialsRejected, did: "GET"},
		"skewed":       {fake: fake{listed: 403, code: "RequestTimeTooSkewed", ahead: 20 * time.Minute}, reason: zerofs.ReasonClockSkew, says: "behind", did: "GET"},
		"date":         {fake: fake{ahead: -6 * time.Minute}, reason: zerofs.ReasonClockSkew, says: "ahead of", did: "GET"},
		"little":       {fake: fake{ahead: -4 * time.Minute}, did: wrote},
		"skewed only":  {fake: fake{listed: 403, code: "RequestTimeTooSkewed"}, reason: zerofs.ReasonClockSkew, says: "because", did: "GET"},
		"no bucket":    {fake: fake{listed: 404, code: "NoSuchBucket"}, reason: zerofs.ReasonBucketNotFound, did: "GET"},
		"moved":        {fake: fake{listed: 301, code: "PermanentRedirect", region: "eu-west-3"}, reason: zerofs.ReasonBucketNotFound, says: "but in eu-west-3", did: "GET"},
		"foreign": {
			fake:   fake{list: object("manifest/", "b", "c", "d", "e", "f")},
			reason: zerofs.ReasonPrefixNotEmpty, says: `["manifest/" "b" "c"`, did: "GET",
		},
		"no XML":           {fake: fake{list: "<"}, reason: zerofs.ReasonEndpointUnreachable, says: "as an S3 store", did: "GET"},
		"busy":             {fake: fake{listed: 503, code: "SlowDown"}, reason: zerofs.ReasonEndpointUnreachable, says: "SlowDown", did: "GET"},
		"may not write":    {fake: fake{first: 403, code: "AccessDenied"}, reason: zerofs.ReasonCredentialsRejected, says: "may not write", did: "GET PUT"},
		"no conditions":    {fake: fake{first: 501, code: "NotImplemented"}, reason: zerofs.ReasonConditionalPutUnsupported, did: "GET PUT"},
		"no condition met": {fake: fake{second: 200}, reason: zerofs.ReasonConditionalPutUnsupported, did: wrote},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.fake
			for _, d := range []struct {
				status *int
				value  int
			}{{&f.listed, 200}, {&f.first, 200}, {&f.second, 412}} {
				if *d.status == 0 {
					*d.status = d.value
				}
			}
			server := httptest.NewServer(&f)
			defer server.Close()
			err := Check(t.Context(), options(server.URL))
			expect(t, err, c.reason, c.says)
			if f.listed == http.StatusServiceUnavailable { // the client may try again before its time ends
				f.did = slices.Compact(f.did)
			}
			if did := strings.Join(f.did, " "); did != c.did {
				t.Errorf("asked %s, wanted %s", did, c.did)
			}
		})
	}
}

// expect a failure for a reason, or none.
func expect(t *testing.T, err error, reason, says string) {
	t.Helper()
	f, failed := errors.AsType[*zerofs.Failure](err)
	switch {
	case reason == "" && err != nil:
		t.Error(err)
	case reason != "" && (!failed || f.Reason != reason || !strings.Contains(f.Message, says)):
		t.Errorf("%v, wanted %s and %q", err, reason, says)
	}
}

func TestWithoutAsking(t *testing.T) {
	f := &fake{}
	server := httptest.NewServer(f)
	defer server.Close()
	for reason, change := range map[string]func(o *Options){
		zerofs.ReasonPasswordInvalid:     func(o *Options) { o.Password = new("short") },
		zerofs.ReasonCredentialsRejected: func(o *Options) { o.SecretAccessKey = "" },
	} {
		o := options(server.URL)
		change(&o)
		expect(t, Check(t.Context(), o), reason, "")
	}
	for _, change := range []func(o *Options){
		func(o *Options) { o.URL = "s3://bucket" },
		func(o *Options) { o.URL = "https://bucket/a" },
		func(o *Options) { o.Endpoint = "minio:9000" },
	} {
		o := options(server.URL)
		change(&o)
		if _, is := errors.AsType[*zerofs.Failure](Check(t.Context(), o)); is || Check(t.Context(), o) == nil {
			t.Errorf("%+v", o)
		}
	}
	if len(f.did) > 0 {
		t.Error(f.did)
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	err := Check(t.Context(), options(server.URL))
	expect(t, err, zerofs.ReasonEndpointUnreachable, "connection refused")
}

func TestBase(t *testing.T) {
	for _, c := range []struct {
		endpoint string
		path     bool
		want     string
	}{
		{"", true, "https://s3.eu-west-1.amazonaws.com/b"},
		{"", false, "https://b.s3.eu-west-1.amazonaws.com"},
		{"https://minio:9000/", true, "https://minio:9000/b"},
		{"https://minio:9000", false, "https://b.minio:9000"},
	} {
		s, err := newStore(Options{URL: "s3://b/p/q", Endpoint: c.endpoint, Region: "eu-west-1", PathStyle: c.path})
		if err != nil || s.base != c.want || s.prefix != "p/q" {
			t.Errorf("%v %+v", err, s)
		}
	}
}

func TestForeign(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{nil, nil},
		{[]string{marker}, nil},
		{[]string{marker, "manifest/", "compacted/", "segments/", "zerofs.key"}, nil},
		{[]string{".zerofs_compatibility_test_1", probePrefix + "1"}, nil},
		{[]string{"manifest/"}, []string{"manifest/"}},
		{[]string{marker, "manifest/", "photos/", "x"}, []string{"photos/", "x"}},
	} {
		if got := foreign(c.names); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%q: %q", c.names, got)
		}
	}
}
