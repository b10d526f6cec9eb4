package zfs

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Latency class: what an I/O waited for, and which way it went.
type Latency string

// latencies in the order of the columns of `zpool iostat -w`. rebuild is missing on
// releases before 2.1.
var latencies = []Latency{
	"total_wait_read", "total_wait_write", "disk_wait_read", "disk_wait_write",
	"syncq_wait_read", "syncq_wait_write", "asyncq_wait_read", "asyncq_wait_write",
	"scrub", "trim", "rebuild",
}

// leastColumns that any supported release prints.
const leastColumns = 10

// Bucket of a histogram.
type Bucket struct {
	// UpTo is the longest wait that is counted here; buckets do not overlap.
	UpTo time.Duration
	// Count of I/Os since the pool was imported.
	Count uint64
}

// IostatHistograms of an imported pool since it was imported: by class, buckets with
// rising UpTo.
func (c *Client) IostatHistograms(ctx context.Context, name string) (map[Latency][]Bucket, error) {
	if err := ValidPoolName(name); err != nil {
		return nil, err
	}
	out, err := c.read(ctx, "zpool", "iostat", "-wHp", name)
	if err != nil {
		return nil, err
	}
	return parseHistograms(out)
}

// parseHistograms of the pool's name and one line for each bucket.
func parseHistograms(out string) (map[Latency][]Bucket, error) {
	all := map[Latency][]Bucket{}
	last := time.Duration(-1)
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue // the name
		}
		upTo, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil || len(f) < 1+leastColumns || time.Duration(upTo) <= last {
			return nil, fmt.Errorf("%w: zpool iostat: %.80q", ErrFormat, line)
		}
		last = time.Duration(upTo)
		for i, class := range latencies[:min(len(latencies), len(f)-1)] {
			n, err := strconv.ParseUint(f[i+1], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: zpool iostat: %.80q", ErrFormat, line)
			}
			all[class] = append(all[class], Bucket{UpTo: last, Count: n})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: zpool iostat: no buckets", ErrFormat)
	}
	return all, nil
}
