package preflight

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// maxSkew of the clocks. Stores reject more than 15 minutes (Amazon S3,
// RequestTimeTooSkewed), and a clock that is off by five will get there.
const maxSkew = 5 * time.Minute

// verdict on an answer to what was to be done; nil if it was done. A clock that is
// wrong comes before credentials: with it, no signature is right.
func (s *store) verdict(what string, a *answer) *zerofs.Failure {
	switch {
	case a.code == "RequestTimeTooSkewed", a.skew.Abs() > maxSkew:
		return skewed(a)
	case a.ok():
		return nil
	case a.code == "NoSuchBucket":
		return failed(zerofs.ReasonBucketNotFound, "bucket %s does not exist at %s; create it, or correct its name", s.bucket, s.base)
	case a.code == "AccessDenied":
		return failed(zerofs.ReasonCredentialsRejected, "the access key may not %s in s3://%s/%s (%s); allow it to list, read, write and delete there",
			what, s.bucket, s.prefix, describe(a))
	case zerofs.IsCredentialCode(a.code), a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		return failed(zerofs.ReasonCredentialsRejected, "the store rejects the access key or its secret (%s)", describe(a))
	case a.status/100 == 3, a.code == "AuthorizationHeaderMalformed":
		return s.elsewhere(a)
	case a.status == http.StatusNotFound:
		return failed(zerofs.ReasonBucketNotFound, "there is no bucket %s at %s (%s)", s.bucket, s.base, describe(a))
	}
	return failed(zerofs.ReasonEndpointUnreachable, "%s cannot %s: it answered %s", s.base, what, describe(a))
}

// elsewhere is a bucket that is not in the region that was declared.
func (s *store) elsewhere(a *answer) *zerofs.Failure {
	region := a.header.Get("X-Amz-Bucket-Region")
	if region == "" {
		region = "another region"
	}
	return failed(zerofs.ReasonBucketNotFound, "bucket %s is not in region %s but in %s (%s); correct region or endpoint", s.bucket, s.region, region, describe(a))
}

func skewed(a *answer) *zerofs.Failure {
	by, how := a.skew.Round(time.Second), "behind"
	if by < 0 {
		by, how = -by, "ahead of"
	}
	if by <= maxSkew {
		// The store says so, and its Date header, if there is one, does not.
		return failed(zerofs.ReasonClockSkew, "the store says that this node's clock is wrong (%s); set it by NTP", describe(a))
	}
	return failed(zerofs.ReasonClockSkew, "this node's clock is %s %s the store's; more than %s are not accepted; set it by NTP", by, how, maxSkew)
}

// plainCause of a request that got no answer: without the request, whose URL is in
// the message already.
func plainCause(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return zerofs.Plain(err.Error())
}
