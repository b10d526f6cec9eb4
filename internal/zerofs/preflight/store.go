package preflight

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

const (
	// requestTimeout of one request, of which none moves more than a listing.
	requestTimeout = 10 * time.Second
	// maxAnswer in bytes that is read: a listing of 1000 keys of 1 KiB and their tags.
	maxAnswer = 4 << 20
)

// store is one prefix of a bucket. Only Amazon's signer is used of its SDK: four
// requests need no more, and the whole of it costs each process memory.
type store struct {
	// base is the URL of the bucket, without a slash at the end.
	base           string
	bucket, prefix string
	region         string
	credentials    aws.Credentials
	client         *http.Client
	signer         *v4.Signer
}

// newStore of Options that were checked.
func newStore(o Options) (*store, error) {
	s := &store{region: o.Region, credentials: aws.Credentials{AccessKeyID: o.AccessKeyID, SecretAccessKey: o.SecretAccessKey}}
	at, found := strings.CutPrefix(o.URL, "s3://")
	s.bucket, s.prefix, _ = strings.Cut(at, "/")
	s.prefix = strings.Trim(s.prefix, "/")
	if !found || s.bucket == "" || s.prefix == "" {
		return nil, fmt.Errorf("--url %q is not s3://bucket/prefix", o.URL)
	}
	endpoint := o.Endpoint
	if endpoint == "" {
		endpoint = zerofs.AmazonEndpoint(o.Region)
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("--endpoint %q is not scheme and host, as https://minio.example:9000", o.Endpoint)
	}
	s.base = u.Scheme + "://" + u.Host + "/" + s.bucket
	if !o.PathStyle {
		s.base = u.Scheme + "://" + s.bucket + "." + u.Host
	}
	s.signer = v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	s.client = &http.Client{
		Timeout: requestTimeout,
		Transport: &http.Transport{
			Proxy:       http.ProxyFromEnvironment,
			DialContext: (&net.Dialer{Timeout: requestTimeout}).DialContext,
		},
		// An answer that points elsewhere is an answer: of a bucket in another region.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// answer of a store.
type answer struct {
	status int
	header http.Header
	body   []byte
	// code and message are of an error's document; empty if there was none.
	code, message string
	// skew is how far the store's clock is ahead of ours; zero if it gave no date.
	skew time.Duration
}

// errNoAnswer is a request that no store answered.
var errNoAnswer = errors.New("no answer")

// ask the store. Any answer is none of the errors, whatever its status.
func (s *store) ask(ctx context.Context, method, key string, query url.Values, body string, header http.Header) (*answer, error) {
	target := s.base + "/" + (&url.URL{Path: key}).EscapedPath()
	if query != nil {
		target += "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
	}
	request, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	maps.Copy(request.Header, header)
	digest := sha256.Sum256([]byte(body))
	hash := hex.EncodeToString(digest[:])
	request.Header.Set("X-Amz-Content-Sha256", hash)
	before := time.Now()
	if err := s.signer.SignHTTP(ctx, s.credentials, request, hash, "s3", s.region, before.UTC()); err != nil {
		return nil, fmt.Errorf("sign a request: %w", err)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer func() { _ = response.Body.Close() }()
	a := &answer{status: response.StatusCode, header: response.Header}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		a.skew = date.Sub(before.Add(time.Since(before) / 2))
	}
	if a.body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer)); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	a.readError()
	return a, nil
}

func (a *answer) ok() bool { return a.status/100 == 2 }

// readError of an answer (Amazon S3 API Reference, REST error responses).
func (a *answer) readError() {
	if a.ok() {
		return
	}
	var document struct {
		Code, Message, Region string
	}
	if xml.Unmarshal(a.body, &document) == nil {
		a.code, a.message = document.Code, document.Message
	}
	if a.header.Get("X-Amz-Bucket-Region") == "" && document.Region != "" {
		a.header.Set("X-Amz-Bucket-Region", document.Region)
	}
}

// listing of what is directly below the prefix.
type listing struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Contents []struct {
		Key string
	}
	CommonPrefixes []struct {
		Prefix string
	}
	NextContinuationToken string
	IsTruncated           bool
}

// list a page of what is directly below the prefix.
func (s *store) list(ctx context.Context, token string) (*answer, error) {
	query := url.Values{"list-type": {"2"}, "delimiter": {"/"}, "prefix": {s.prefix + "/"}}
	if token != "" {
		query.Set("continuation-token", token)
	}
	return s.ask(ctx, http.MethodGet, "", query, "", nil)
}

// names of a page, without the prefix; those of folders end with a slash.
func (s *store) names(a *answer) (names []string, next string, err error) {
	var l listing
	if err := xml.Unmarshal(a.body, &l); err != nil {
		return nil, "", fmt.Errorf("listing of s3://%s/%s: %w", s.bucket, s.prefix, err)
	}
	for _, c := range l.Contents {
		names = append(names, strings.TrimPrefix(c.Key, s.prefix+"/"))
	}
	for _, c := range l.CommonPrefixes {
		names = append(names, strings.TrimPrefix(c.Prefix, s.prefix+"/"))
	}
	if l.IsTruncated {
		next = l.NextContinuationToken
	}
	return names, next, nil
}
