package restorecheck

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// Names of the checks, in the order in which they run.
const (
	CheckSystem    = "SystemIdentifier"
	CheckWAL       = "WAL"
	CheckChecksums = "Checksums"
	CheckTable     = "Table"
	CheckQuery     = "Query"
)

// EnvSpec and EnvOwnerPassword are the variables that the checker reads, beside those of
// libpq, by which it connects as a superuser.
const (
	EnvSpec          = "PGSTORAGE_RESTORE_CHECK"
	EnvOwnerPassword = "PGSTORAGE_OWNER_PASSWORD" //nolint:gosec // the name of a variable
)

// Spec says what is checked.
type Spec struct {
	// Database of the application, and the role that owns it.
	Database string `json:"database"`
	Owner    string `json:"owner"`
	// System is the system identifier of the database that was backed up.
	System string `json:"system"`
	// WAL is the file that was archived last before the restore, without its timeline; empty
	// where it is not known.
	WAL string `json:"wal,omitempty"`
	// Tables must have rows, and Query must return true. An empty Query is none.
	Tables []v1alpha1.VerifiedTable `json:"tables,omitempty"`
	Query  string                   `json:"query,omitempty"`
	// Seconds is how long all checks may take.
	Seconds int64 `json:"seconds"`
}

// Parse a Spec.
func Parse(text string) (Spec, error) {
	var s Spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, fmt.Errorf("%s: %w", EnvSpec, err)
	}
	if s.Database == "" || s.Owner == "" || s.System == "" || s.Seconds <= 0 {
		return s, errors.New(EnvSpec + " needs database, owner, system and seconds")
	}
	return s, nil
}

// Report is the result. Its JSON fits a container's termination message, which has 4096
// bytes.
type Report struct {
	// WAL is the file that the restored database reached, without its timeline.
	WAL string `json:"wal,omitempty"`
	// Size of the database in bytes.
	Size   int64                     `json:"size,omitempty"`
	Checks []v1alpha1.IntegrityCheck `json:"checks"`
}

// Bounds of a Report.
const (
	mostReport  = 4000
	mostMessage = 300
	leastText   = 40
)

// Encode a Report, with shorter messages where it would be too long.
func (r Report) Encode() ([]byte, error) {
	for limit := mostMessage; ; limit /= 2 {
		short := r
		short.Checks = make([]v1alpha1.IntegrityCheck, len(r.Checks))
		for i, c := range r.Checks {
			c.Message = excerpt.Truncate(c.Message, limit)
			short.Checks[i] = c
		}
		text, err := json.Marshal(short)
		if err != nil || len(text) <= mostReport || limit < leastText {
			return text, err
		}
	}
}

// Decode the text of a termination message. Whatever ran in the pod may have written it.
func Decode(text string) (Report, error) {
	var r Report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("report of the checks: %w", err)
	}
	if len(r.Checks) == 0 || len(r.Checks) > mostChecks {
		return r, fmt.Errorf("report of the checks: it has %d checks", len(r.Checks))
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Name, c.Result, c.Message = excerpt.Truncate(c.Name, 64), excerpt.Truncate(c.Result, 64), excerpt.Truncate(c.Message, mostMessage)
	}
	r.WAL, r.Size = excerpt.Truncate(r.WAL, 16), max(r.Size, 0)
	return r, nil
}

// mostChecks is how many checks a report has at most: four, a query and 16 tables are fewer.
const mostChecks = 32
