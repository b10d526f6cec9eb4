package zerofs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// IncarnationFile is the name, in the folder of a server, of what says which life of
// the server this is.
const IncarnationFile = "incarnation.json"

// State of an incarnation.
type State string

// The states.
const (
	// StateRunning: the server was started. If nothing runs, it ended with its node
	// or its container, and nothing was flushed.
	StateRunning State = "Running"
	// StateStopped: the server was told to end, flushed everything and ended.
	StateStopped State = "Stopped"
	// StateFailed: the server ended in any other way. What it acknowledged without
	// having been asked to flush it may be lost.
	StateFailed State = "Failed"
)

// Incarnation is one life of a server, from the start of its process to its end.
//
// A device that was attached to incarnation A still holds all that was written to
// it if the server is incarnation A, or if it is one whose previous is A and clean.
// In every other case it must be taken for lost.
type Incarnation struct {
	// ID is new at each start (RFC 9562, version 4).
	ID string `json:"id"`
	// BootID of the kernel that the server was started on.
	BootID string `json:"bootID"`
	// StartedAt by the node's clock, in UTC.
	StartedAt time.Time `json:"startedAt"`
	State     State     `json:"state"`
	// ExitCode of the server, 128 and the signal's number if one killed it; nil while
	// it runs.
	ExitCode *int `json:"exitCode,omitempty"`
	// Previous incarnation; nil if this is the first of its folder.
	Previous *Previous `json:"previous,omitempty"`
}

// Previous incarnation of a server.
type Previous struct {
	// ID is empty if what was kept about it cannot be read.
	ID string `json:"id"`
	// Clean says that it ended as StateStopped.
	Clean bool `json:"clean"`
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

// WriteIncarnation into the folder of a server, whole or not at all, also where power
// is lost.
func WriteIncarnation(dir string, i Incarnation) error {
	raw, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("incarnation of the server: %w", err)
	}
	if err := renameio.WriteFile(filepath.Join(dir, IncarnationFile), append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("incarnation of the server: %w", err)
	}
	return nil
}
