package zerofs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// IncarnationFile is the name, in the folder of a server, of what says which life of
// the server this is.
const IncarnationFile = "incarnation.json"

// LockFile is the name of a file in the folder of a server. The server and its children
// lock it (flock) for as long as one of them lives.
const LockFile = "lock"

// MaxInherited lives are remembered.
const MaxInherited = 32

// State of an incarnation.
type State string

// The states.
const (
	// StateRunning: the server was started. If nothing runs, it ended with its node
	// or its container, and nothing was flushed.
	StateRunning State = "Running"
	// StateStopped: the server was stopped, and ended after it had flushed everything
	// that it acknowledged.
	StateStopped State = "Stopped"
	// StateFailed: the server ended in any other way. What it acknowledged without
	// having been asked to flush it may be lost.
	StateFailed State = "Failed"
)

// Incarnation is one life of a server, from the start of its relay to its end, over
// however many lives of ZeroFS.
//
// A device that was attached to incarnation A still has all its writes if the server is
// incarnation A, or one that inherits A. In every other case callers must treat it as
// lost.
type Incarnation struct {
	// ID is new at each start (RFC 9562, version 4).
	ID string `json:"id"`
	// BootID of the kernel that the server was started on.
	BootID string `json:"bootID"`
	// StartedAt by the node's clock, in UTC.
	StartedAt time.Time `json:"startedAt"`
	State     State     `json:"state"`
	// ExitCode of the last ZeroFS, 128 and the signal's number if one killed it; nil
	// while the server runs.
	ExitCode *int `json:"exitCode,omitempty"`
	// Served says that clients may have been let in. Before, nothing can be lost.
	Served bool `json:"served,omitempty"`
	// Inherits lists the lives before this one, newest first, whose writes are all
	// here. Each of them that served ended as StateStopped. At most MaxInherited. It
	// may become empty until Served, and does not change any more then.
	Inherits []string `json:"inherits,omitempty"`
}

// Bequest is what an incarnation inherits that begins after this one has ended.
func (i Incarnation) Bequest() []string {
	switch {
	case i.State == StateStopped:
		all := append([]string{i.ID}, i.Inherits...)
		return all[:min(len(all), MaxInherited)]
	case !i.Served:
		return slices.Clone(i.Inherits)
	}
	return nil
}

// ReadIncarnation in the folder of a server. It fails with fs.ErrNotExist if none was
// started there yet.
func ReadIncarnation(dir string) (Incarnation, error) {
	var i Incarnation
	raw, err := os.ReadFile(filepath.Join(dir, IncarnationFile))
	if err != nil {
		return i, fmt.Errorf("incarnation of the server: %w", err)
	}
	if err := json.Unmarshal(raw, &i); err != nil {
		return Incarnation{}, fmt.Errorf("incarnation of the server in %s: %w", dir, err)
	}
	if i.ID == "" || (i.State != StateRunning && i.State != StateStopped && i.State != StateFailed) {
		return Incarnation{}, fmt.Errorf("incarnation of the server in %s: id %q and state %q are not of one", dir, i.ID, i.State)
	}
	return i, nil
}
