package s3

import (
	"context"
	"encoding/xml"
	"net/http"
	"slices"
	"time"
)

// Fault is what a proxy does to requests. A Fault without any of these does nothing.
type Fault struct {
	// Bucket and Operations, as Call has them, choose requests; all of them, if empty.
	Bucket     string
	Operations []string

	// Latency before a request reaches the store.
	Latency time.Duration
	// Status and Code, such as 503 and SlowDown, or 403 and RequestTimeTooSkewed,
	// answer in the store's stead.
	Status int
	Code   string
	// Reset closes the connection before the request reaches the store.
	Reset bool
	// LoseAnswer closes the connection once the store has done the work.
	LoseAnswer bool
}

// Unavailable is a store that sheds load.
func Unavailable() Fault { return Fault{Status: http.StatusServiceUnavailable, Code: "SlowDown"} }

func (f Fault) concerns(c Call) bool {
	return (f.Bucket == "" || f.Bucket == c.Bucket) &&
		(len(f.Operations) == 0 || slices.Contains(f.Operations, c.Operation))
}

// combined is what several faults do to one request: latencies add up, and the
// first answer counts.
func combined(faults []Fault, c Call) Fault {
	var all Fault
	for _, f := range faults {
		if !f.concerns(c) {
			continue
		}
		all.Latency += f.Latency
		all.Reset = all.Reset || f.Reset
		all.LoseAnswer = all.LoseAnswer || f.LoseAnswer
		if all.Status == 0 {
			all.Status, all.Code = f.Status, f.Code
		}
	}
	return all
}

// delay ends early, and reports so, when the client stops waiting for the answer.
func delay(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func answer(w http.ResponseWriter, f Fault) {
	body, err := xml.Marshal(struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}{Code: f.Code, Message: "as the test wants it"})
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(f.Status)
	_, _ = w.Write(body) // the client may have gone
}
