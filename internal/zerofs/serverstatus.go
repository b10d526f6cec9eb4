package zerofs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// StatusFile is the name, in the folder of a server, of what says how it does.
const StatusFile = "server.json"

// Sockets in the folder of a server.
const (
	// NBDSocket is what the kernel connects to: the relay's.
	NBDSocket = "nbd.sock"
	// UpstreamSocket is where ZeroFS itself serves NBD, to the relay alone.
	UpstreamSocket = "zerofs-nbd.sock"
	// NinePSocket is ZeroFS' own, of the file system that has the exports.
	NinePSocket = "9p.sock"
)

// Phase of a server.
type Phase string

// The phases.
const (
	// PhaseStarting: ZeroFS was never up in this life.
	PhaseStarting Phase = "Starting"
	// PhaseServing: requests go to ZeroFS.
	PhaseServing Phase = "Serving"
	// PhaseHolding: ZeroFS is away, and is being started again, or it has not answered a request for
	// 30 s. Requests wait.
	PhaseHolding Phase = "Holding"
	// PhaseFenced: another writer opened the prefix; requests wait indefinitely.
	PhaseFenced Phase = "Fenced"
	// PhaseStopping: the server was stopped and flushes.
	PhaseStopping Phase = "Stopping"
)

// Phases are all there are.
var Phases = []Phase{PhaseStarting, PhaseServing, PhaseHolding, PhaseFenced, PhaseStopping}

// ServerStatus is how a server does, as far as its supervisor knows. Counts are since
// the begin of the life.
type ServerStatus struct {
	// Life is the ID of the incarnation.
	Life  string    `json:"life"`
	Phase Phase     `json:"phase"`
	Since time.Time `json:"since"`
	// Reason and Message of a phase other than PhaseServing: what ZeroFS said last.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Restarts of ZeroFS in this life.
	Restarts int64 `json:"restarts"`
	// UnflushedBytes of writes that the relay would repeat, and requests that wait.
	UnflushedBytes int64 `json:"unflushedBytes"`
	HeldRequests   int64 `json:"heldRequests"`
	// WaitSeconds are, by export, the whole seconds that the oldest request has waited
	// which is not done; none of less than one. Others may have been answered since.
	WaitSeconds map[string]int64 `json:"waitSeconds,omitempty"`
	// Requests that were answered.
	Reads        int64 `json:"reads"`
	ReadBytes    int64 `json:"readBytes"`
	Writes       int64 `json:"writes"`
	WrittenBytes int64 `json:"writtenBytes"`
	Trims        int64 `json:"trims"`
	Flushes      int64 `json:"flushes"`
	// FlushSeconds that all flushes took together.
	FlushSeconds float64 `json:"flushSeconds"`
	// StoreFlushes that ZeroFS did. One answers the flushes of several devices. StoreFlushSeconds
	// is what they took together. Both are 0 with a server from before there were any.
	StoreFlushes      int64   `json:"storeFlushes,omitempty"`
	StoreFlushSeconds float64 `json:"storeFlushSeconds,omitempty"`
	// RepeatedWrites after ZeroFS was started again.
	RepeatedWrites int64 `json:"repeatedWrites"`
	// S3 counts what went to the store; nil without a meter.
	S3 *StoreTraffic `json:"s3,omitempty"`
}

// StoreTraffic between a server and its store.
type StoreTraffic struct {
	// Requests by kind: GET, LIST, HEAD, PUT, POST, DELETE.
	Requests map[string]int64 `json:"requests,omitempty"`
	// Errors are answers of 429 and 5xx, and requests without an answer.
	Errors int64 `json:"errors"`
	// Bodies, in bytes.
	ReceivedBytes int64 `json:"receivedBytes"`
	SentBytes     int64 `json:"sentBytes"`
	// Seconds that all requests took together.
	Seconds float64 `json:"seconds"`
}

// ReadStatus in the folder of a server. It fails with fs.ErrNotExist where none was
// written yet.
func ReadStatus(dir string) (ServerStatus, error) {
	var s ServerStatus
	raw, err := os.ReadFile(filepath.Join(dir, StatusFile))
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return ServerStatus{}, fmt.Errorf("status of the server in %s: %w", dir, err)
	}
	return s, nil
}
