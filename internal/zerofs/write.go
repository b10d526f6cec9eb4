//go:build unix

package zerofs

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/google/renameio/v2"
)

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

// WriteStatus into the folder of a server, whole or not at all, its message cut to what
// is kept of a Failure's.
func WriteStatus(dir string, s ServerStatus) error {
	s.Message = cut(s.Message)
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("status of the server: %w", err)
	}
	path := filepath.Join(dir, StatusFile)
	if err := renameio.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("status of the server: %w", err)
	}
	return nil
}
