package commitcost

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"time"
)

// FioArgs are the arguments of fio for a folder. It fills a file of 16 MiB, as a segment of WAL
// has, and then overwrites it by 8 kB, each of which it flushes. It writes the result to a file
// and keeps no other.
func FioArgs(dir, result string, direct bool, d time.Duration) []string {
	o := "0"
	if direct {
		o = "1"
	}
	return []string{
		"--name=flush", "--filename=" + filepath.Join(dir, "fio"), "--size=16Mi", "--overwrite=1", "--unlink=1",
		"--rw=write", "--bs=8k", "--ioengine=sync", "--fdatasync=1", "--direct=" + o,
		"--time_based", "--runtime=" + strconv.Itoa(int(d/time.Second)),
		"--output-format=json", "--output=" + result,
	}
}

// fioResult has the fields of fio's JSON that are used.
type fioResult struct {
	Jobs []struct {
		Error int `json:"error"`
		Write struct {
			Latency fioLatency `json:"lat_ns"`
		} `json:"write"`
		Sync struct {
			Latency fioLatency `json:"lat_ns"`
		} `json:"sync"`
	} `json:"jobs"`
}

type fioLatency struct {
	Mean float64 `json:"mean"`
	N    int64   `json:"N"`
}

// ParseFio reads the time of one write and its flush from fio's JSON: what both took
// on average.
func ParseFio(raw []byte) (time.Duration, error) {
	var r fioResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return 0, fmt.Errorf("result of fio: %w", err)
	}
	if len(r.Jobs) != 1 {
		return 0, fmt.Errorf("result of fio: %d jobs, not 1", len(r.Jobs))
	}
	job := r.Jobs[0]
	switch {
	case job.Error != 0:
		return 0, fmt.Errorf("result of fio: error %d", job.Error)
	case job.Write.Latency.N <= 0:
		return 0, errors.New("result of fio: nothing was written")
	case job.Sync.Latency.N <= 0:
		// fio before 3.0 does not print it.
		return 0, errors.New("result of fio: no flush was timed; fio must be 3.0 or newer")
	}
	took := job.Write.Latency.Mean + job.Sync.Latency.Mean
	if !(took > 0) || took > float64(math.MaxInt64/2) || job.Write.Latency.Mean < 0 || job.Sync.Latency.Mean < 0 {
		return 0, fmt.Errorf("result of fio: a write of %v ns and a flush of %v ns", job.Write.Latency.Mean, job.Sync.Latency.Mean)
	}
	return time.Duration(took), nil
}
