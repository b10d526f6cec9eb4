package s3nbd

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// amazon is where all buckets share one space of names, whatever the endpoint.
const amazon = "amazonaws.com"

// place in a bucket that a store of a profile has for itself.
type place struct {
	profile                  *v1alpha1.PgStorageProfile
	store                    string
	endpoint, bucket, prefix string
}

func places(p *v1alpha1.PgStorageProfile) []place {
	var out []place
	if p.Spec.S3NBD == nil {
		return nil
	}
	for _, s := range p.Spec.S3NBD.Stores {
		out = append(out, place{p, s.Name, host(s.Endpoint), s.Bucket, naming.StorePrefix(s.Prefix, p.Name) + "/"})
	}
	return out
}

// host by which two endpoints are the same.
func host(endpoint string) string {
	u, err := url.Parse(strings.ToLower(endpoint))
	if err != nil {
		return endpoint
	}
	if u.Host == amazon || strings.HasSuffix(u.Hostname(), "."+amazon) {
		return ""
	}
	return u.Host
}

// meets says that one place is the other or lies within it. Profiles' names differ,
// but a prefix may hold another one's name.
func (a place) meets(b place) bool {
	return a.endpoint == b.endpoint && a.bucket == b.bucket &&
		(strings.HasPrefix(a.prefix, b.prefix) || strings.HasPrefix(b.prefix, a.prefix))
}

// collision of a profile with an older one: a prefix has one writer, and one of two
// servers would end the other. The older one is left in peace.
func collision(p *v1alpha1.PgStorageProfile, facts observed.Profile) (outcome.Outcome, bool) {
	const c = v1alpha1.ConditionServersReady
	own := places(p)
	for i, mine := range own {
		for _, other := range own[:i] {
			if mine.endpoint == other.endpoint && mine.bucket == other.bucket {
				return outcome.InvalidBecause(c, v1alpha1.ReasonPrefixCollision, fmt.Sprintf("spec.s3NBD.stores[%s] and [%s] are the same bucket %s, and a mirror inside one bucket is lost with it. Create the profile again with a bucket for each", other.store, mine.store, mine.bucket)), true
			}
		}
		for _, q := range facts.Others {
			for _, other := range places(q) {
				if older(q, p) && mine.meets(other) {
					return outcome.InvalidBecause(c, v1alpha1.ReasonPrefixCollision, fmt.Sprintf("spec.s3NBD.stores[%s].prefix: %s of bucket %s meets %s of PgStorageProfile %s, which is older, and a prefix has one writer. Create this profile again with another prefix", mine.store, mine.prefix, mine.bucket, other.prefix, q.Name)), true
				}
			}
		}
	}
	return outcome.Outcome{}, false
}

func older(a, b *v1alpha1.PgStorageProfile) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}
