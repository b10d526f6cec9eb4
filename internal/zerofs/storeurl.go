package zerofs

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// StoreURL is the scheme and host of the server's requests. The host contains the bucket
// unless PathStyle is set, and a port unless it is the scheme's default. It fails if the
// endpoint is invalid.
func (s Server) StoreURL() (*url.URL, error) {
	if err := s.validateEndpoint(); err != nil {
		return nil, err
	}
	at := cmp.Or(s.Endpoint, AmazonEndpoint(s.Region))
	if !s.PathStyle {
		at = bucketHost(at, s.URL)
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if port := u.Port(); port == "" || port == ports[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u, nil
}

// ports are the default ports by scheme.
var ports = map[string]string{"http": "80", "https": "443"}

// AmazonEndpoint of S3 in a region, without a bucket.
func AmazonEndpoint(region string) string { return "https://s3." + region + "." + amazonDomain(region) }

// amazonDomain is the domain of a region's endpoints: that of its partition
// (partitions.json of aws-sdk-go-v2). Isolated partitions need a declared endpoint.
func amazonDomain(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "amazonaws.com.cn"
	case strings.HasPrefix(region, "eusc-"):
		return "amazonaws.eu"
	}
	return "amazonaws.com"
}

// bucketHost is the endpoint with the bucket in its host. object_store expects that for
// virtual-hosted requests (AmazonS3Builder, with_virtual_hosted_style_request). Without
// an endpoint it adds the bucket itself.
func bucketHost(endpoint, at string) string {
	scheme, host, found := strings.Cut(endpoint, "://")
	if !found {
		return ""
	}
	bucket, _, _ := strings.Cut(strings.TrimPrefix(at, "s3://"), "/")
	return scheme + "://" + bucket + "." + host
}
