package s3nbd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

const (
	// walTimeout is the default of Postgres; CloudNativePG's is 5s.
	walTimeout = "60s"
	// delayPart of a flush is waited before it begins. Without a delay N clients fall
	// into two groups that take turns, N/2 commits in each flush. A delay that is long
	// enough for answered clients to come back makes one group of them; a longer one
	// only adds latency. PostgreSQL's advice of a half (WAL configuration) gains a
	// third at most, a sixth gains seven tenths. A shorter one gains next to nothing,
	// as a tenth did where transactions need processor time (docs/benchmarks/s3nbd.md).
	delayPart      = 6
	commitSiblings = "1"
	// mostDelay of commit_delay, in µs (PostgreSQL, runtime-config-wal).
	mostDelay = 100000
)

// Volumes are datasets of the profile's own classes. A flush goes to the bucket, so
// Postgres waits longer for one, and shares it among commits.
func (Type) Volumes(p *v1alpha1.PgStorageProfile) profile.Volumes {
	v := zfsvolumes.Volumes(p, postgres.SAN)
	const slow = "a flush waits for the bucket, which at times takes longer than the 5s of CloudNativePG"
	v.Parameters["wal_sender_timeout"] = postgres.Recommendation{Value: walTimeout, Reason: slow}
	v.Parameters["wal_receiver_timeout"] = postgres.Recommendation{Value: walTimeout, Reason: slow}
	if l := p.Status.FlushLatency; l != nil && l.Duration > 0 {
		delay := min(twoDigits((l.Duration / delayPart).Microseconds()), mostDelay)
		v.Parameters["commit_delay"] = postgres.Recommendation{
			Value:  strconv.FormatInt(delay, 10),
			Reason: fmt.Sprintf("a sixth of the %s that a flush takes, in which those who waited for the last one come along (docs/parameters.md)", l.Duration),
		}
		v.Parameters["commit_siblings"] = postgres.Recommendation{
			Value:  commitSiblings,
			Reason: "one other open transaction is reason enough to wait a sixth of a flush",
		}
	}
	if n := p.Spec.S3NBD; n != nil {
		v.Flush = flush(p)
	}
	return v
}

// twoDigits of n; the rest is 0.
func twoDigits(n int64) int64 {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}

// flushLatency of the profile: the median over its nodes whose devices are attached.
// Without its store a node measures nothing. The last one stays until it moved by more
// than half, because commit_delay follows from it. A delay that is too high or too low
// by half costs little.
func flushLatency(p *v1alpha1.PgStorageProfile, facts observed.Profile) *metav1.Duration {
	var all []time.Duration
	for _, s := range facts.Storages {
		if meta.IsStatusConditionFalse(s.Status.Conditions, v1alpha1.ConditionDevicesAttached) {
			continue
		}
		if l := s.Status.FlushLatency; l != nil && l.Duration > 0 {
			all = append(all, l.Duration)
		}
	}
	before := p.Status.FlushLatency
	if len(all) == 0 {
		return before
	}
	slices.Sort(all)
	median := all[len(all)/2].Round(time.Microsecond)
	if before != nil && (median-before.Duration).Abs() <= before.Duration/2 {
		return before
	}
	return &metav1.Duration{Duration: median}
}

// monthlyStorage of all nodes; nil where no agent knows it.
func monthlyStorage(facts observed.Profile) *resource.Quantity {
	var sum *resource.Quantity
	for _, s := range facts.Storages {
		n := s.Status.EstimatedMonthlyStorage
		if n == nil {
			continue
		}
		if sum == nil {
			sum = resource.NewQuantity(0, resource.BinarySI)
		}
		sum.Add(*n)
	}
	return sum
}

// flush of this storage in words, for the statement of durability.
func flush(p *v1alpha1.PgStorageProfile) durability.Flush {
	n := p.Spec.S3NBD
	stores := strings.Join(storeNames(p), ", ")
	f := durability.Flush{
		To:   "to the store " + stores,
		Node: "kept in the store; a node of the same name imports the pool from there",
		Site: durability.Loss{Event: "SiteLoss", AcknowledgedCommits: "MayBeLost", Detail: "kept where the bucket outlives the site; a node of the same name imports the pool from there"},
		Store: &durability.Loss{
			Event: "StoreLoss", AcknowledgedCommits: "Lost",
			Detail: "every instance's data is in this bucket; keep a WAL archive in another",
		},
	}
	if n.Layout == v1alpha1.S3NBDMirror {
		f.To = "to every store of the mirror that can be reached, of " + stores
		f.Store = &durability.Loss{Event: "StoreLoss", AcknowledgedCommits: "Kept", Detail: "the other stores of the mirror have it; losing all that could be reached at the time loses it"}
	}
	if n.SLOG != nil {
		f.To = "to the log device of the node, and some seconds later " + f.To
		f.Node = "the commits since the last transaction group, some seconds, are on the log device of the node only"
		f.Site.Detail = "the commits since the last transaction group are on the log device of the node only. The others are kept where the bucket outlives the site"
	}
	return f
}
