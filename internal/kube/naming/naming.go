// Package naming defines every name, label, annotation, finalizer and field owner of
// pgstorage. No other package contains one.
package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Hash is a SHA-256 in hex over the JSON of v, whose maps JSON sorts.
func Hash(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		// Only types that JSON cannot express reach this: a defect, not input.
		panic(fmt.Sprintf("naming: hash of %T: %v", v, err))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
